/*
 * Measures LTTng-UST as posix.c measures POSIX Trace: 16 bytes into a running session, alone and
 * with a second writer; and without a session ("none" as the argument). Prints the best time of
 * each in ns.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define NR	 500000
#define NR_SHORT 2000
#define NR_TURNS 9

static atomic_int is_over;

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static double run(int nr)
{
	static const char data[16] = "sixteen bytes...";
	double begin = now_ns();

	for (int i = 0; i < nr; i++)
		lttng_ust_tracepoint(bench, event, data);
	return (now_ns() - begin) / nr;
}

static void *write_on(void *argument)
{
	while (!atomic_load(&is_over))
		run(1000);
	return argument;
}

static void keep_best(double *best, double ns)
{
	if (ns < *best)
		*best = ns;
}

int main(int argc, char *argv[])
{
	double one = 1e9, two = 1e9;
	pthread_t thread;

	for (int turn = 0; turn < NR_TURNS; turn++) {
		for (int i = 0; i < NR / NR_SHORT; i++)
			keep_best(&one, run(NR_SHORT));
		atomic_store(&is_over, 0);
		pthread_create(&thread, NULL, write_on, NULL);
		keep_best(&two, run(NR));
		atomic_store(&is_over, 1);
		pthread_join(thread, NULL);
	}
	printf(argc > 1 ? "none %f\n" : "running %f\ntwo %f\n", one, two);
	return 0;
}
