/*
 * Calls a leaf in a loop, and prints the time of one call in nanoseconds. Tracing a call costs the
 * least in such a loop.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __clang__
#define FN __attribute__((noinline))
#else
#define FN __attribute__((noipa))
#endif

FN void leaf(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((no_instrument_function)) static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

__attribute__((no_instrument_function)) int main(int argc, char *argv[])
{
	long calls = argc > 1 ? atol(argv[1]) : 1000000;

	for (int i = 0; i < 1000; i++)
		leaf();

	double begin = now_ns();

	for (long i = 0; i < calls; i++)
		leaf();
	printf("%.4f\n", (now_ns() - begin) / calls);
	return 0;
}
