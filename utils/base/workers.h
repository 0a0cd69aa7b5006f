/* Work that is done in several threads at a time, and is over when the call returns. */
#ifndef UTRAIL_BASE_WORKERS_H
#define UTRAIL_BASE_WORKERS_H

/* The number of CPUs that this process may use; at most @max, at least 1. */
unsigned workers_count(unsigned max);

/*
 * The work, and a function that the calling thread runs some times a second while it waits for the
 * others.
 *
 * @tick: NULL: nothing
 */
struct workers_job {
	void (*fn)(void *arg, unsigned index);
	void *arg;
	void (*tick)(void *arg);
	void *tick_arg;
};

/*
 * Call @job->fn with each @index below @nr, each in a thread of its own, the first in the calling
 * one; returns when all have returned. For a call that gets no thread, for want of memory or by a
 * limit, the calling one is used as well, one after the other. No signal comes to the others; their
 * stacks have WORKERS_STACK bytes.
 */
#define WORKERS_STACK (1U << 20)
void workers_run(unsigned nr, const struct workers_job *job);

#endif
