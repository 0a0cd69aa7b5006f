/* The thread that flushes a stream, in a process whose first thread has ended. */
#include <fcntl.h>
#include <linux/futex.h>

#include "posix/posix.h"
#include "tests/unit/lib/trace_place.h"

/* A thread must do a step within this number of milliseconds, also on a busy machine. */
#define STEPS_MAX 20000

static _Atomic bool is_about_to_sleep, may_sleep, sleeps_with_limit;

long __real_pxt_futex(_Atomic uint32_t *word, int op, uint32_t value,
		      const struct timespec *timeout);
long __wrap_pxt_futex(_Atomic uint32_t *word, int op, uint32_t value,
		      const struct timespec *timeout);

static bool wait_for(const _Atomic bool *is)
{
	for (int nr = 0; !atomic_load(is); nr++) {
		if (nr == STEPS_MAX)
			return false;
		usleep(1000);
	}
	return true;
}

/* The flusher loses the CPU before it sleeps. */
long __wrap_pxt_futex(_Atomic uint32_t *word, int op, uint32_t value,
		      const struct timespec *timeout)
{
	if (op == FUTEX_WAIT_BITSET) {
		atomic_store(timeout ? &sleeps_with_limit : &is_about_to_sleep, true);
		wait_for(&may_sleep);
	}
	return __real_pxt_futex(word, op, value, timeout);
}

static void *stay(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* The process has a further thread, so the flusher stays. */
static int end_the_first_thread(void *unused)
{
	char path[64];
	pthread_t thread;
	trace_id_t trid;
	int fd;

	CHILD_CHECK(pthread_create(&thread, NULL, stay, NULL) == 0);
	snprintf(path, sizeof(path), "%s/log", trace_place_above);
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	CHILD_CHECK(posix_trace_create_withlog(0, NULL, fd, &trid) == 0);
	CHILD_CHECK(wait_for(&is_about_to_sleep));
	pxt_flushers_first_ended();
	atomic_store(&may_sleep, true);
	CHILD_CHECK(wait_for(&sleeps_with_limit));
	CHILD_CHECK(posix_trace_shutdown(trid) == 0);
	return 0;
}

TEST(a_flusher_that_is_about_to_sleep_hears_that_the_first_thread_has_ended)
{
	uint64_t nr_threads = 0;

	/* A flusher that reads 0 takes itself for the last thread, and ends without sleeping. */
	if (pxt_process_field(getpid(), 20, &nr_threads) < 0 || !nr_threads)
		skip_because("the emulator does not tell the number of threads");
	assert_int_equal(trace_place_in_child(end_the_first_thread, NULL), 0);
}

TEST_GROUP(trace_place_make, NULL)
