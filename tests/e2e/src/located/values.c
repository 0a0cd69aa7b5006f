/* Functions with arguments and return values of all kinds that conditions support. */
#include <string.h>

__attribute__((noinline)) double half(double number)
{
	__asm__ volatile("" ::: "memory");
	return number / 2;
}

__attribute__((noinline)) int length(const char *text)
{
	__asm__ volatile("" ::: "memory");
	return strlen(text);
}

__attribute__((noinline)) int difference(int a, int b)
{
	__asm__ volatile("" ::: "memory");
	return a - b;
}

__attribute__((noinline)) int around(int a, int b)
{
	int result = difference(a, b);

	__asm__ volatile("" ::: "memory");
	return result;
}

int main(void)
{
	half(3.0);
	half(1.0);
	length("alpha");
	length("beta");
	length("alphabet");
	around(1, 5);
	around(9, 2);
	around(3, 3);
	return 0;
}
