/* A lock that handlers may take: who waits for it, and for how long. */
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "posix/posix.h"
#include "tests/unit/lib/unit.h"

#define OTHER 1

static struct pxt_turn turn;
static unsigned nr_waits;
/* The number of the wait in which the other thread ends its turn; 0: it never ends its turn. */
static unsigned ends_after;

int __wrap_nanosleep(const struct timespec *step, struct timespec *left);
int __wrap_sched_yield(void);

static int wait_once(void)
{
	if (++nr_waits == ends_after)
		pxt_turn_give(&turn);
	errno = EINTR;
	return -1;
}

int __wrap_nanosleep(const struct timespec *step, struct timespec *left)
{
	return wait_once();
}

int __wrap_sched_yield(void)
{
	return wait_once();
}

static int begin(void **state)
{
	memset(&turn, 0, sizeof(turn));
	nr_waits = ends_after = 0;
	errno = 66;
	return 0;
}

TEST_WITH(one_that_is_free_is_taken_at_once, begin, NULL)
{
	assert_true(pxt_turn_take(&turn, true));
	assert_int_equal(atomic_load(&turn.holder), syscall(SYS_gettid));
	pxt_turn_give(&turn);
	assert_true(pxt_turn_take(&turn, false));
	assert_int_equal(nr_waits, 0);
}

TEST_WITH(a_handler_does_not_wait_for_the_code_it_has_interrupted, begin, NULL)
{
	assert_true(pxt_turn_take(&turn, true));
	assert_false(pxt_turn_take(&turn, true));
	assert_int_equal(nr_waits, 0);
	assert_int_equal(atomic_load(&turn.stuck), 0);
}

TEST_WITH(another_thread_is_waited_for, begin, NULL)
{
	for (ends_after = 1; ends_after < 2000; ends_after += 50) {
		nr_waits = 0;
		atomic_store(&turn.holder, OTHER);
		assert_true(pxt_turn_take(&turn, true));
		assert_int_equal(nr_waits, ends_after);
		assert_int_equal(errno, 66);
		pxt_turn_give(&turn);
	}
}

TEST_WITH(who_must_not_wait_does_not, begin, NULL)
{
	atomic_store(&turn.holder, OTHER);
	assert_false(pxt_turn_take(&turn, false));
	assert_int_equal(nr_waits, 0);
}

/* A handler has jumped out of the other thread's turn. Only one wait is long. */
TEST_WITH(one_that_never_ends_is_waited_for_once, begin, NULL)
{
	atomic_store(&turn.holder, OTHER);
	assert_false(pxt_turn_take(&turn, true));
	assert_in_range(nr_waits, 1000, 3000);
	nr_waits = 0;
	assert_false(pxt_turn_take(&turn, true));
	assert_int_equal(nr_waits, 0);
	/* If the turn ends at last, later ones are waited for again. */
	pxt_turn_give(&turn);
	atomic_store(&turn.holder, OTHER);
	ends_after = 3;
	assert_true(pxt_turn_take(&turn, true));
	assert_int_equal(nr_waits, 3);
}
