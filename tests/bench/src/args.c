/*
 * Calls functions with arguments in a loop and prints the time of a round in nanoseconds: the price
 * of recording arguments.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define FN __attribute__((noinline))
#else
#define FN __attribute__((noipa))
#endif

FN int number(int n)
{
	return n;
}

FN const char *text(const char *name, long n)
{
	return name;
}

__attribute__((no_instrument_function)) static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* args CALLS [text]: makes CALLS calls of number(), or of text(). */
__attribute__((no_instrument_function)) int main(int argc, char *argv[])
{
	static const char *const names[] = { "short", "a file name of some length",
					     "/usr/share/doc/package/copyright" };
	long calls = argc > 1 ? atol(argv[1]) : 1000000;
	int has_text = argc > 2 && strcmp(argv[2], "text") == 0;

	for (int i = 0; i < 1000; i++) {
		number(i);
		text(names[i % 3], i);
	}

	double begin = now_ns();

	for (long i = 0; i < calls; i++) {
		if (has_text)
			text(names[i % 3], i);
		else
			number(i);
	}
	printf("%.4f\n", (now_ns() - begin) / calls);
	return 0;
}
