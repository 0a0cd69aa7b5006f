/*
 * Children that run in their parent's memory, as after vfork(2). They have a state and a ring of
 * their own. The state and the ring of the parent do not change.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include "libmcount/system/arena.h"
#include "libmcount/hot/callers.h"
#include "libmcount/hot/frames.h"
#include "libmcount/program/lend.h"
#include "libmcount/hot/planned.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

static struct pair pair;
static uint64_t stack[64];
static struct arch_regs no_regs;

static int setup(void **state)
{
	pair_init(&pair);
	pair_open(&pair);
	return 0;
}

static int teardown(void **state)
{
	pair_stop(&pair);
	pair_close(&pair);
	atomic_store(&probe_threads, NULL);
	return 0;
}

static void call(unsigned place, uint64_t addr)
{
	stack[place] = 0x7000 + place;
	assert_true(probe_entry(&stack[place], addr, &no_regs));
}

TEST_WITH(a_child_has_calls_of_its_own, setup, teardown)
{
	struct thread *t = pair_thread();

	self = t;
	call(40, 0x1000);
	call(30, 0x2000);

	uint64_t at = (uint64_t)t->at;
	struct thread *lent = lend_prepare((uint64_t)&stack[30]);

	assert_non_null(lent);
	assert_ptr_not_equal(lent->ring, t->ring);
	assert_int_equal(lent->ring->state, RING_CLAIMED);
	assert_int_equal(t->busy, 0);

	lend_begin(lent);
	assert_ptr_equal(self, lent);
	assert_int_equal(lent->ring->state, RING_LIVE);
	/* vfork(2) has returned in the child, too, to the address in the parent's frame. */
	assert_int_equal(probe_exit((uint64_t)&stack[30], &no_regs), 0x7000 + 30);
	call(20, 0x3000);
	/* A call whose slot is above those of the open calls does not end these. */
	call(45, 0x4000);
	assert_int_equal(record_depth(lent->top->data), 1);
	assert_ptr_equal(lent->top, lent->frames + 2);
	assert_int_equal((uint64_t)t->at, at);
	assert_ptr_equal(t->top, t->frames + 2);

	struct ring *r = lent->ring;

	lend_end(lent);
	assert_ptr_equal(self, t);
	assert_int_equal(r->state, RING_DONE);
	assert_int_equal(lent->in_use, 0);
	assert_int_equal(t->busy, 0);
	assert_int_equal(probe_exit((uint64_t)&stack[30], &no_regs), 0x7000 + 30);
	assert_int_equal(probe_exit((uint64_t)&stack[40], &no_regs), 0x7000 + 40);
	self = NULL;
}

TEST_WITH(without_a_child_nothing_is_left, setup, teardown)
{
	struct thread *t = pair_thread();

	self = t;

	struct thread *lent = lend_prepare(0);
	struct ring *r = lent->ring;

	lend_end(lent);
	assert_ptr_equal(self, t);
	assert_int_equal(r->state, RING_FREE);
	assert_int_equal(lent->in_use, 0);
	self = NULL;
}

TEST_WITH(nobody_lends_what_is_not_traced, setup, teardown)
{
	struct thread *t = pair_thread();

	self = t;
	probe.tracing = false;
	assert_null(lend_prepare(0));
	probe.tracing = true;
	/* The thread is in a signal handler that has interrupted a hook. */
	t->busy = 1;
	assert_null(lend_prepare(0));
	t->busy = 0;
	self = NULL;
	probe.ready = false;
	assert_null(lend_prepare(0));
	probe.ready = true;
	lend_begin(NULL);
	lend_end(NULL);
	assert_null(self);
}

/* If a child must not be traced any more, its parent takes the state back. */
TEST_WITH(what_is_lent_is_given_back_once, setup, teardown)
{
	struct thread *t = pair_thread();

	self = t;

	struct thread *lent = lend_prepare(0);

	lend_begin(lent);
	thread_leave_alone();
	assert_ptr_equal(self, &probe_idle_thread);
	assert_int_equal(lent->in_use, 1);
	lend_end(lent);
	assert_ptr_equal(self, t);
	assert_int_equal(lent->in_use, 0);
	self = NULL;
}

/*
 * Note whether SIGALRM is blocked at a system call. If it is not, a signal handler can interrupt
 * the call and fork. The ring of the parent would then be given to the child of the handler.
 */
static int note_mask(void *arg)
{
	sigset_t blocked;

	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	*(int *)arg += sigismember(&blocked, SIGALRM) ? 1 : 100;
	return 0;
}

TEST_WITH(no_handler_forks_while_a_ring_is_claimed, setup, teardown)
{
	struct thread *lent;
	int nr = 0;

	self = pair_thread();
	pair_before(SYS_mmap, note_mask, &nr);
	lent = lend_prepare(0);
	pair_before(SYS_mmap, NULL, NULL);
	assert_in_range(nr, 1, 99);
	lend_end(lent);
	self = NULL;
}

/* The handler's child has no ring that it could lend to a child of its own. */
TEST_WITH(a_handler_forks_between_lending_and_the_child, setup, teardown)
{
	struct thread *t = pair_thread();
	struct thread *lent;
	struct ring *r;

	self = t;
	lent = lend_prepare(0);
	r = lent->ring;
	thread_after_fork();
	probe.forked = FORK_NONE;
	assert_int_equal(lent->in_use, 1);
	assert_null(lent->ring);
	lend_begin(lent);
	assert_ptr_equal(self, &probe_idle_thread);
	lend_end(lent);
	assert_ptr_equal(self, t);
	assert_int_equal(lent->in_use, 0);
	assert_int_equal(r->state, RING_CLAIMED);
	self = NULL;
}

int main(void)
{
	callers.bytes = UINT64_MAX; /* the test's return addresses are made up */
	return unit_run();
}
