/* Runs work in several threads; the call returns when all is done. */
#ifndef UTRAIL_BASE_WORKERS_H
#define UTRAIL_BASE_WORKERS_H

/* Returns the number of CPUs available to this process; at most @max, at least 1. */
unsigned workers_count(unsigned max);

/*
 * The work: @fn. @tick is a function that the calling thread runs a few times a second while it
 * waits for the others.
 *
 * @tick: NULL: none
 */
struct workers_job {
	void (*fn)(void *arg, unsigned index);
	void *arg;
	void (*tick)(void *arg);
	void *tick_arg;
};

/*
 * Call @job->fn with each @index below @nr, each in a thread of its own, the first in the calling
 * thread; returns when all calls have returned. If a thread cannot be created, for lack of memory
 * or by a limit, the calling thread makes the remaining calls, one after the other. The new threads
 * block all signals; their stacks have WORKERS_STACK bytes.
 */
#define WORKERS_STACK (1U << 20)
void workers_run(unsigned nr, const struct workers_job *job);

#endif
