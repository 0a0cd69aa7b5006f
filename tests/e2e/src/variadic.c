/*
 * Variadic functions with integers and floating point, also when all registers are used up.
 * status: 76
 * tree: main{sum{}mixed{leaf{}}format{}}
 */
#include <stdarg.h>

#include "program.h"

LEAF(leaf)

FN int sum(int n, ...)
{
	va_list list;
	int total = 0;

	va_start(list, n);
	while (n--)
		total += va_arg(list, int);
	va_end(list);
	return total;
}

FN double mixed(int n, ...)
{
	va_list list;
	double total = 0;

	va_start(list, n);
	leaf();
	while (n--) {
		total += va_arg(list, int);
		total += va_arg(list, double);
		total += va_arg(list, long double);
	}
	va_end(list);
	return total;
}

FN int format(char *text, size_t size, const char *fmt, ...)
{
	va_list list;

	va_start(list, fmt);

	int n = vsnprintf(text, size, fmt, list);

	va_end(list);
	return n;
}

int main(void)
{
	char text[100];
	int n = sum(8, 1, 2, 3, 4, 5, 6, 7, 8);
	double d = mixed(4, 1, 0.5, 0.5L, 2, 0.5, 0.5L, 3, 0.5, 0.5L, 4, 0.5, 0.5L);

	format(text, sizeof(text), "%d %.1f %s %c %.2f %d %d %d %d", 1, 2.5, "three", '4', 5.25, 6,
	       7, 8, 9);
	puts(text);
	return n + (int)d + (int)strlen(text);
}
