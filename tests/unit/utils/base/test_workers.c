/* Work in several threads: each piece is done once, whatever the number of threads. */
#include "tests/unit/lib/sanitized.h"
#include "tests/unit/lib/unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "utils/base/workers.h"

#define WORK_MAX 100

struct seen {
	atomic_int times[WORK_MAX];
	atomic_int nr_here;
	atomic_int nr_open; /* threads that do not block signals */
	pthread_t caller;
};

static void see(void *arg, unsigned index)
{
	struct seen *seen = arg;
	sigset_t blocked;

	atomic_fetch_add(&seen->times[index], 1);
	if (pthread_equal(pthread_self(), seen->caller)) {
		atomic_fetch_add(&seen->nr_here, 1);
		return;
	}
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	atomic_fetch_add(&seen->nr_open, !sigismember(&blocked, SIGINT));
}

static void run(unsigned nr, struct seen *seen)
{
	const struct workers_job job = { .fn = see, .arg = seen };

	workers_run(nr, &job);
}

TEST(each_once)
{
	for (unsigned nr = 0; nr <= WORK_MAX; nr++) {
		struct seen seen = { .caller = pthread_self() };

		run(nr, &seen);
		for (unsigned i = 0; i < WORK_MAX; i++)
			assert_int_equal(seen.times[i], i < nr);
		assert_true(nr == 0 || seen.nr_here >= 1);
		assert_int_equal(seen.nr_open, 0);
	}
}

/* Each thread but the calling one waits for three ticks. */
static void wait_for_ticks(void *arg, unsigned index)
{
	atomic_int *nr_ticks = arg;

	while (index && atomic_load(nr_ticks) < 3)
		usleep(1000);
}

static void count_tick(void *arg)
{
	atomic_fetch_add((atomic_int *)arg, 1);
}

TEST(ticks_while_it_waits)
{
	atomic_int nr_ticks = 0;
	const struct workers_job job = { wait_for_ticks, &nr_ticks, count_tick, &nr_ticks };

	workers_run(3, &job);
	assert_true(nr_ticks >= 3);
}

/* The calling thread receives the same signals as before. */
TEST(signals_stay)
{
	struct seen seen = { .caller = pthread_self() };
	sigset_t before, after;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	run(4, &seen);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int sig = 1; sig < 32; sig++)
		assert_int_equal(sigismember(&before, sig), sigismember(&after, sig));
}

/* If no memory is left for stacks, the calling thread does all the work. */
TEST(without_threads)
{
	struct seen seen = { .caller = pthread_self() };
	struct rlimit before, none;

	if (IS_SANITIZED)
		skip_because("sanitizers need memory, too");
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	none = (struct rlimit){ 1, before.rlim_max };
	if (setrlimit(RLIMIT_AS, &none) < 0)
		skip_because("it may not be limited");
	run(8, &seen);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(seen.times[i], 1);
}

TEST(counts)
{
	assert_int_equal(workers_count(1), 1);
	assert_int_equal(workers_count(0), 1);
	assert_true(workers_count(8) >= 1 && workers_count(8) <= 8);
}
