/*
 * A loop with an event in each round: alone, with an argument, or in a function. Prints the time of
 * a round in ns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <time.h>

static volatile int sink;

__attribute__((noinline)) static void step(int n)
{
	DTRACE_PROBE(bench, call);
	sink = n;
}

__attribute__((noinline, no_instrument_function)) static void loop(int n)
{
	for (int i = 0; i < n; i++) {
		DTRACE_PROBE(bench, round);
		sink = i;
	}
}

__attribute__((noinline, no_instrument_function)) static void loop_with_value(int n)
{
	for (int i = 0; i < n; i++) {
		DTRACE_PROBE1(bench, value, i);
		sink = i;
	}
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000;
	double begin;

	begin = now_ns();
	if (argc > 2 && strcmp(argv[2], "value") == 0) {
		loop_with_value(n);
	} else if (argc > 2) {
		for (int i = 0; i < n; i++)
			step(i);
	} else {
		loop(n);
	}
	printf("%.3f\n", (now_ns() - begin) / n);
	return 0;
}
