/*
 * Measures the time that an event of POSIX Trace takes. If there is no stream, or it is suspended,
 * the time is compared with that of an empty function. If an event of 16 bytes goes into a running
 * stream, the time is compared with that of reading the clock. The stream has room, or the event
 * overwrites the oldest ones, also while a second thread writes. The variants take turns; the best
 * time of each is printed in ns.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <trace.h>

#define NR_QUICK 5000000
#define NR	 500000
#define NR_SHORT 2000
#define NR_FILL	 20000 /* more events than a stream has room for */
#define NR_TURNS 9

static trace_event_id_t id;
static atomic_int is_over;

/*
 * Both functions are called by volatile pointers, so that the compiler does not inline the empty
 * one.
 */
void empty_call(trace_event_id_t event, const void *data, size_t len);
static void (*volatile empty)(trace_event_id_t, const void *, size_t) = empty_call;
static void (*volatile event)(trace_event_id_t, const void *, size_t) = posix_trace_event;

__attribute__((noinline)) void empty_call(trace_event_id_t nr, const void *data, size_t len)
{
	__asm__ volatile("" ::"r"(nr), "r"(data), "r"(len) : "memory");
}

static double now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static double run(void (*function)(trace_event_id_t, const void *, size_t), int nr)
{
	static const char data[16] = "sixteen bytes...";
	double begin = now_ns(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < nr; i++)
		function(id, data, sizeof(data));
	return (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / nr;
}

static void read_clock(trace_event_id_t nr, const void *data, size_t len)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
}

static void *write_on(void *argument)
{
	while (!atomic_load(&is_over))
		run(event, 1000);
	return argument;
}

static void keep_best(double *best, double ns)
{
	if (ns < *best)
		*best = ns;
}

/*
 * Runs are short, so that other programs leave some of them undisturbed. With @trid, each run
 * begins with a stream that has room for all its events.
 */
static void keep_best_run(double *best, void (*function)(trace_event_id_t, const void *, size_t), trace_id_t trid)
{
	for (int i = 0; i < NR / NR_SHORT; i++) {
		if (trid)
			posix_trace_clear(trid);
		keep_best(best, run(function, NR_SHORT));
	}
}

int main(void)
{
	static const char *const names[] = { "empty", "none", "suspended", "clock", "room", "running", "two" };
	double best[7] = { 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9 };
	pthread_t thread;
	trace_id_t trid;

	if (posix_trace_eventid_open("event", &id))
		return 1;
	for (int turn = 0; turn < NR_TURNS; turn++) {
		keep_best(&best[0], run(empty, NR_QUICK));
		keep_best(&best[1], run(event, NR_QUICK));
		if (posix_trace_create(0, NULL, &trid))
			return 1;
		keep_best_run(&best[2], event, 0);
		posix_trace_start(trid);
		keep_best_run(&best[3], read_clock, 0);
		keep_best_run(&best[4], event, trid);
		run(event, NR_FILL);
		keep_best_run(&best[5], event, 0);
		atomic_store(&is_over, 0);
		pthread_create(&thread, NULL, write_on, NULL);
		keep_best(&best[6], run(event, NR));
		atomic_store(&is_over, 1);
		pthread_join(thread, NULL);
		posix_trace_shutdown(trid);
	}
	for (int i = 0; i < 7; i++)
		printf("%s %f\n", names[i], best[i]);
	return 0;
}
