/* Work in several threads (see workers.h). */
#include "utils/base/workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>

#include "utils/base/compiler.h"

#define WORKERS_MAX 64

unsigned workers_count(unsigned max)
{
	cpu_set_t cpus;
	unsigned nr = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;

	return MAX(MIN(MIN(nr, max), (unsigned)WORKERS_MAX), 1U);
}

struct worker {
	void (*fn)(void *arg, unsigned index);
	void *arg;
	unsigned index;
	pthread_t thread;
	bool is_running;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	w->fn(w->arg, w->index);
	return NULL;
}

/* A new thread has the signal mask of the one that makes it. */
static void start(struct worker *workers, unsigned nr)
{
	pthread_attr_t attr;
	sigset_t all, before;

	if (pthread_attr_init(&attr) != 0)
		return;
	pthread_attr_setstacksize(&attr, WORKERS_STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (unsigned i = 1; i < nr; i++)
		workers[i].is_running = pthread_create(&workers[i].thread, &attr, work,
						       &workers[i]) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

void workers_run(unsigned nr, void (*fn)(void *arg, unsigned index), void *arg)
{
	struct worker workers[WORKERS_MAX];
	unsigned nr_started = MIN(nr, (unsigned)WORKERS_MAX);

	for (unsigned i = 0; i < nr_started; i++)
		workers[i] = (struct worker){ .fn = fn, .arg = arg, .index = i };
	start(workers, nr_started);
	for (unsigned i = 0; i < nr; i++) {
		if (i >= nr_started || !workers[i].is_running)
			fn(arg, i);
	}
	for (unsigned i = 0; i < nr_started; i++) {
		if (workers[i].is_running)
			pthread_join(workers[i].thread, NULL);
	}
}
