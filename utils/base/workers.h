/* Runs a function in several threads, and waits for them. */
#ifndef UTRAIL_BASE_WORKERS_H
#define UTRAIL_BASE_WORKERS_H

#include <pthread.h>

/*
 * Start a thread that blocks all signals: they go to other threads. @attr may be NULL. Returns 0 or
 * a negative errno.
 */
int workers_start_thread(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
			 void *arg);

#define WORKERS_STACK (1U << 20) /* bytes of the stack of a new thread */

/* Returns the number of CPUs that this thread may use; at least 1, at most @max, and at most 64. */
unsigned workers_count(unsigned max);

/*
 * @tick: workers_run() calls this function about ten times a second while workers_run() waits for
 *        the new threads; NULL: none
 */
struct workers_job {
	void (*fn)(void *arg, unsigned index);
	void *arg;
	void (*tick)(void *arg);
	void *tick_arg;
};

/*
 * Call @job->fn with each index below @nr. Returns after all calls.
 *
 * The calling thread makes the call with index 0, and all calls with index 64 or more. Each other
 * call has a new thread, which blocks all signals. If the thread for a call cannot be created, the
 * calling thread makes the call.
 */
void workers_run(unsigned nr, const struct workers_job *job);

#endif
