/*
 * Measures a declared event that is recorded in binary, against a recorded call. They take turns,
 * with pauses for the recorder; the best time of each is printed in ns.
 */
#include <stdio.h>
#include <time.h>

#include "fstrace.h"

#define NR	 20000
#define NR_TURNS 40

static fstrace_event_t *event;

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

__attribute__((noinline)) void leaf(int i)
{
	__asm__ volatile("" ::"r"(i) : "memory");
}

__attribute__((noinline)) void run_calls(void)
{
	for (int i = 0; i < NR; i++)
		leaf(i);
}

__attribute__((noinline)) void run_events(void)
{
	for (int i = 0; i < NR; i++)
		FSTRACE(event, i, "eleven byte");
}

int main(void)
{
	static void (*const jobs[])(void) = { run_calls, run_events };
	double best[2] = { 1e9, 1e9 };
	fstrace_t *trace = fstrace_open("bench", -1);

	event = fstrace_declare(trace, "BENCH-ON", "A=%d B=%s");
	for (int turn = 0; turn < NR_TURNS; turn++) {
		for (int i = 0; i < 2; i++) {
			const struct timespec pause = { 0, 3000000 };
			double begin = now_ns();

			jobs[i]();

			double took = (now_ns() - begin) / NR;

			if (took < best[i])
				best[i] = took;
			nanosleep(&pause, NULL);
		}
	}
	printf("call %.3f\nevent %.3f\n", best[0], best[1]);
	return 0;
}
