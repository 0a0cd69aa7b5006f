/* Work in several threads (see workers.h). */
#include "utils/base/workers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "utils/base/compiler.h"
#include "utils/base/units.h"

#define WORKERS_MAX 64
#define TICK_NS	    (100L * NSEC_PER_MSEC)

unsigned workers_count(unsigned max)
{
	cpu_set_t cpus;
	unsigned nr = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;

	return MAX(MIN(MIN(nr, max), (unsigned)WORKERS_MAX), 1U);
}

struct worker {
	const struct workers_job *job;
	unsigned index;
	pthread_t thread;
	bool is_running;
};

static void *run_job(void *arg)
{
	struct worker *w = arg;

	w->job->fn(w->job->arg, w->index);
	return NULL;
}

/*
 * A new thread inherits the signal mask of the thread that creates it. All signals are blocked
 * during the creation, so the new thread handles no signals.
 */
int workers_start_thread(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
			 void *arg)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(thread, attr, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -ret;
}

static void start_threads(struct worker *workers, unsigned nr)
{
	pthread_attr_t attr;

	if (pthread_attr_init(&attr) != 0)
		return;
	pthread_attr_setstacksize(&attr, WORKERS_STACK);
	for (unsigned i = 1; i < nr; i++)
		workers[i].is_running = workers_start_thread(&workers[i].thread, &attr, run_job,
							     &workers[i]) == 0;
	pthread_attr_destroy(&attr);
}

static void wait_for(const struct worker *w)
{
	const struct workers_job *job = w->job;
	struct timespec until;

	if (!job->tick) {
		pthread_join(w->thread, NULL);
		return;
	}
	do {
		job->tick(job->tick_arg);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += TICK_NS;
		until.tv_sec += until.tv_nsec / NSEC_PER_SEC;
		until.tv_nsec %= NSEC_PER_SEC;
	} while (pthread_timedjoin_np(w->thread, NULL, &until) == ETIMEDOUT);
}

void workers_run(unsigned nr, const struct workers_job *job)
{
	struct worker workers[WORKERS_MAX];
	unsigned nr_started = MIN(nr, (unsigned)WORKERS_MAX);

	for (unsigned i = 0; i < nr_started; i++)
		workers[i] = (struct worker){ .job = job, .index = i };
	start_threads(workers, nr_started);
	for (unsigned i = 0; i < nr; i++) {
		if (i >= nr_started || !workers[i].is_running)
			job->fn(job->arg, i);
	}
	for (unsigned i = 0; i < nr_started; i++) {
		if (workers[i].is_running)
			wait_for(&workers[i]);
	}
}
