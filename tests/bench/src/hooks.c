/*
 * Calls a function in slices, with a pause after each. Prints the time of a call in the fastest
 * slice of the second half, in nanoseconds.
 *
 * usage: hooks SLICES CALLS PAUSE_US
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define FN __attribute__((noinline))
#else
#define FN __attribute__((noipa))
#endif

/* Large enough to be patched in a program that was not compiled for tracing. */
FN int work(int n)
{
	__asm__ volatile("leal 1(%0), %0\n\tleal 2(%0), %0\n\tleal 3(%0), %0\n\tleal 4(%0), %0\n\t"
			 "leal 5(%0), %0\n\tleal 6(%0), %0"
			 : "+r"(n));
	return n;
}

FN int other(int n)
{
	__asm__ volatile("leal 1(%0), %0\n\tleal 2(%0), %0\n\tleal 3(%0), %0" : "+r"(n));
	return n;
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

int main(int argc, char *argv[])
{
	int slices = argc > 1 ? atoi(argv[1]) : 20;
	int calls = argc > 2 ? atoi(argv[2]) : 20000;
	int pause_us = argc > 3 ? atoi(argv[3]) : 0;
	double best = 1e12;
	int sum = other(1);

	for (int i = 0; i < slices; i++) {
		double begin = now_ns();

		for (int k = 0; k < calls; k++)
			sum += work(k);

		double ns = (now_ns() - begin) / calls;

		if (i >= slices / 2 && ns < best)
			best = ns;
		if (pause_us)
			usleep(pause_us);
	}
	printf("%.4f\n", best);
	return sum == 1;
}
