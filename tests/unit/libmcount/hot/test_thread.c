/*
 * Traced threads: their states and rings, which thread gets which, the state after a fork, and the
 * end of tracing.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/tasks/process.h"
#include "libmcount/hot/callers.h"
#include "libmcount/system/arena.h"
#include "libmcount/hot/frames.h"
#include "libmcount/hot/guard.h"
#include "libmcount/hot/planned.h"
#include "libmcount/plan/plan_update.h"
#include "libmcount/system/own_syscall.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

static struct pair pair;
static struct arena *arena;
static uint64_t stack[64];
static struct arch_regs no_regs;

static int setup(void **state)
{
	pair_init(&pair);
	pair.settings.depth = 7;
	pair_open(&pair);
	arena = pair.proc->arena;
	return 0;
}

static int teardown(void **state)
{
	pair_stop(&pair);
	pair_close(&pair);
	atomic_store(&probe_threads, NULL);
	return 0;
}

TEST_WITH(a_state_is_empty, setup, teardown)
{
	struct thread *t;

	probe.plan.threshold_ns = 12345;
	t = thread_take_state();
	assert_ptr_equal(atomic_load(&probe_threads), t);
	assert_null(t->next);
	assert_int_equal(t->in_use, 1);
	assert_ptr_equal(t->top, t->frames);
	assert_ptr_equal(t->written, t->frames);
	assert_int_equal(t->frames[0].slot, INT64_MAX);
	assert_int_equal(t->threshold_ns, 12345);
	assert_ptr_equal(t->limit, t->frames + 7);
	assert_null(t->ring);
	assert_null(t->planned);
	assert_int_equal(t->low, 0);
	/* The smaller limit counts. @low states that the stack is unknown until the first call. */
	probe.plan.max_stack = 5;
	probe.follows_stacks = true;
	t = thread_take_state();
	assert_ptr_equal(t->limit, t->frames + 5);
	assert_int_equal(t->low, INT64_MAX);
	/* Without a recorder a thread gets no state. */
	probe.ready = false;
	assert_null(thread_take_state());
	probe.ready = true;
}

TEST_WITH(a_state_that_is_given_back_is_the_next_ones, setup, teardown)
{
	struct thread *first = pair_thread();
	struct thread *second = pair_thread();
	struct ring *r = first->ring;
	struct thread *again;

	assert_ptr_not_equal(first, second);
	first->top++;
	first->cyg_skipped = first->cyg_again = first->cyg_deep = 3;
	first->end_rounds = 2;
	first->busy = first->has_aside_records = 1;
	first->base_counter = first->refit_ticks = first->last_ns = first->fit_ns = 9;
	first->is_made = 1;
	first->high = 9;
	thread_give_back(first);
	assert_int_equal(r->state, RING_DONE);
	assert_int_equal(first->in_use, 0);
	assert_null(first->ring);
	again = thread_take_state();
	assert_ptr_equal(again, first);
	assert_int_equal(again->in_use, 1);
	assert_ptr_equal(again->top, again->frames);
	assert_int_equal(again->cyg_skipped + again->cyg_again + again->cyg_deep, 0);
	assert_int_equal(again->end_rounds, 0);
	assert_int_equal(again->busy + again->has_aside_records, 0);
	assert_int_equal(again->base_counter + again->refit_ticks + again->last_ns + again->fit_ns,
			 0);
	assert_int_equal(again->is_made, 0);
	assert_int_equal(again->high, 0);
	/* A state can be given back without a ring. */
	thread_give_back(again);
	assert_ptr_equal(thread_take_state(), first);
}

TEST_WITH(the_writer_hears_of_a_ring_that_is_done, setup, teardown)
{
	struct thread *t = pair_thread();
	unsigned before = pair_wakes();

	pair.rec.control->writers[0].sleeping = 1;
	thread_give_back(t);
	assert_int_equal(pair_wakes(), before + 1);
}

TEST_WITH(a_ring_says_whose_it_is, setup, teardown)
{
	struct thread *t = thread_take_state();
	uint64_t before = clock_kernel_ns();
	struct thread *made;

	t->at = t->end = (char *)1;
	t->position = t->stalled_tail = 5;
	t->has_no_payloads = 1;
	thread_take_ring(t);
	assert_non_null(t->ring);
	assert_int_equal(t->ring->state, RING_LIVE);
	assert_int_equal(t->ring->tid, syscall(SYS_gettid));
	assert_true(t->ring->start_ns >= before && t->ring->start_ns <= clock_kernel_ns());
	assert_null(t->at);
	assert_null(t->end);
	assert_int_equal(t->position + t->stalled_tail + t->has_no_payloads, 0);
	assert_int_equal(arena->high_water, t->ring->index + 1);
	made = thread_take_state();
	made->is_made = 1;
	thread_take_ring(made);
	assert_int_equal(made->ring->tid, RING_TID_STACK);
	assert_int_equal(arena->high_water, 2);
	/* The mark of used rings never falls. */
	arena->high_water = 9;
	thread_take_ring(thread_take_state());
	assert_int_equal(arena->high_water, 9);
}

TEST_WITH(a_thread_without_a_ring_is_counted_and_left_alone, setup, teardown)
{
	struct thread *t;

	while (arena_claim_ring())
		;
	assert_int_equal(arena->threads_untraced, 0);
	self = NULL;
	assert_ptr_equal(thread_begin(), &probe_idle_thread);
	assert_ptr_equal(self, &probe_idle_thread);
	assert_int_equal(arena->threads_untraced, 1);
	/* The state is free for another thread. */
	t = atomic_load(&probe_threads);
	assert_int_equal(t->in_use, 0);
	assert_int_equal(probe_entry(&stack[10], 0x400000, &no_regs), 0);
	/* In a forked child such a state may have a ring of the parent's. */
	t->ring = (struct ring *)stack;
	self = NULL;
	assert_ptr_equal(thread_begin(), &probe_idle_thread);
	assert_null(t->ring);
	assert_int_equal(t->in_use, 0);
	self = NULL;
}

TEST_WITH(a_thread_begins_with_its_first_call, setup, teardown)
{
	struct thread *t;
	uint64_t mask[2];

	syscall(SYS_rt_sigprocmask, 0, NULL, &mask[0], 8);
	self = NULL;
	errno = 77;
	t = thread_begin();
	assert_int_equal(errno, 77);
	assert_ptr_equal(self, t);
	assert_int_equal(t->ring->tid, syscall(SYS_gettid));
	syscall(SYS_rt_sigprocmask, 0, NULL, &mask[1], 8);
	assert_int_equal(mask[0], mask[1]);
}

/* --- threads that are not traced any more --- */

static struct thread *with_a_call(void)
{
	struct thread *t = self = pair_thread();

	stack[10] = 4711;
	assert_int_equal(probe_entry(&stack[10], 0x400000, &no_regs), 1);
	return t;
}

TEST_WITH(a_thread_that_is_left_alone_returns_by_itself, setup, teardown)
{
	struct thread *t = with_a_call();
	struct ring *r = t->ring;

	thread_leave_alone();
	assert_int_equal(stack[10], 4711);
	assert_ptr_equal(self, &probe_idle_thread);
	assert_int_equal(t->in_use, 0);
	assert_int_equal(r->state, RING_DONE);
	assert_int_equal(probe_entry(&stack[10], 0x400000, &no_regs), 0);
	/* A second call changes nothing. Neither does a call in a thread that has no state. */
	thread_leave_alone();
	self = NULL;
	thread_leave_alone();
	assert_null(self);
}

TEST_WITH(what_is_cut_off_is_counted, setup, teardown)
{
	struct thread *t = with_a_call();

	thread_cut_off(&arena->threads_caged);
	assert_int_equal(arena->threads_caged, 1);
	assert_ptr_equal(self, &probe_idle_thread);
	assert_int_equal(t->in_use, 0);
	thread_cut_off(&arena->threads_caged);
	assert_int_equal(arena->threads_caged, 1);
	self = NULL;
	probe.tracing = false;
	thread_cut_off(&arena->threads_caged);
	assert_int_equal(arena->threads_caged, 1);
	assert_null(self);
	probe.tracing = true;
	thread_cut_off(&arena->threads_caged);
	assert_int_equal(arena->threads_caged, 2);
	assert_ptr_equal(self, &probe_idle_thread);
	self = NULL;
	probe.ready = false;
	thread_before_cage();
	probe.ready = true;
	assert_int_equal(arena->threads_caged, 2);
	thread_before_cage();
	assert_int_equal(arena->threads_caged, 3);
	self = NULL;
}

/* A thread that shares its thread-local storage with another one is not recorded, but counted. */
TEST_WITH(only_who_shares_its_storage_is_cut_off, setup, teardown)
{
	static const struct {
		uint64_t flags;
		bool shares;
	} cases[] = {
		{ 0, false },
		{ CLONE_VM, true },
		{ CLONE_VM | CLONE_FILES, true },
		{ CLONE_VM | CLONE_VFORK, false },
		{ CLONE_VM | CLONE_SETTLS, false },
		{ CLONE_FILES, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint32_t before = arena->threads_shared;

		self = NULL;
		thread_before_sharing(cases[i].flags);
		assert_int_equal(arena->threads_shared - before, cases[i].shares);
	}
	self = NULL;
	probe.ready = false;
	thread_before_sharing(CLONE_VM);
	probe.ready = true;
	assert_null(self);
}

static void *call_once(void *arg)
{
	uint64_t mine[32];

	mine[10] = 4712;
	assert_int_equal(probe_entry(&mine[10], 0x400000, &no_regs), 1);
	*(struct thread **)arg = self;
	/* The thread ends in the middle of the call. */
	return NULL;
}

/*
 * A thread's end is seen after its last round of destructors, since these may call traced
 * functions.
 */
TEST_WITH(the_end_of_a_thread_is_seen, setup, teardown)
{
	struct thread *t = NULL;
	pthread_t thread;

	thread_setup();
	assert_true(probe.has_thread_key);
	assert_int_equal(pthread_create(&thread, NULL, call_once, &t), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_non_null(t);
	assert_int_equal(t->end_rounds, PTHREAD_DESTRUCTOR_ITERATIONS);
	assert_int_equal(t->in_use, 0);
	assert_null(t->ring);
	thread_unregister();
	assert_false(probe.has_thread_key);
	thread_unregister();
}

/* --- fork --- */

TEST_WITH(a_fork_is_noted_before_and_after, setup, teardown)
{
	struct thread *t = with_a_call();
	struct thread *other = pair_thread();
	struct thread *gone = pair_thread();
	pid_t pid = getpid();
	uint64_t before_ns = clock_kernel_ns();

	other->top++;
	thread_give_back(gone);
	probe.pid = 4711;
	thread_before_fork();
	assert_int_equal(arena->forks.begun, 1);
	t->payloads = NULL;
	t->has_no_payloads = 1;
	thread_after_fork();
	assert_int_equal(probe.pid, pid);
	assert_int_equal(probe.parent_pid, 4711);
	assert_true(probe.fork_ns >= before_ns);
	assert_int_equal(probe.forked, FORK_PENDING);
	assert_int_equal(arena->forks.nr, 1);
	assert_int_equal(arena->forks.noted, 1);
	assert_int_equal(arena->forks.pids[0], getppid() ? pid : -pid);
	/* The child has the calls that its parent has open, and no others. */
	assert_int_equal(t->in_use, 1);
	assert_ptr_equal(t->top, t->frames + 1);
	assert_ptr_equal(t->written, t->top);
	assert_null(t->ring);
	assert_null(t->at);
	assert_null(t->end);
	assert_int_equal(t->has_no_payloads, 0);
	assert_int_equal(other->in_use, 0);
	assert_ptr_equal(other->top, other->frames);
	assert_null(other->ring);
	assert_null(other->at);
	/* The child forks in turn. The number of its child means nothing outside of a namespace. */
	probe.is_elsewhere = true;
	thread_after_fork();
	assert_int_equal(arena->forks.pids[1], -pid);
	assert_int_equal(arena->forks.noted, 2);
	probe.forked = FORK_NONE;
	t->top = t->frames;
}

/*
 * A signal handler interrupts a hook and forks. In the child the hook ends like in the parent, but
 * the parent's ring does not change.
 */
TEST_WITH(a_hook_that_a_fork_interrupts_goes_on, setup, teardown)
{
	struct thread *t = with_a_call();
	struct ring *r = t->ring;
	const struct ring *parents = process_ring(pair.proc, r->index);
	uint64_t head = r->head;
	char *at;

	guard_take(t);
	at = hot_reserve(t, sizeof(struct record));
	assert_non_null(at);
	thread_after_fork();
	assert_ptr_equal(t->ring, r);
	assert_ptr_equal(t->at, at);
	assert_int_equal(r->head, head);
	assert_int_equal(r->tail, head);
	/* A fork in the child changes nothing. */
	thread_after_fork();
	hot_commit(t, put_record(at, 1, record_data(RECORD_ENTRY, 1, 0x4711)));
	assert_int_equal(r->head, head + sizeof(struct record));
	assert_int_equal(parents->head, head);
	assert_int_equal(parents->tail, 0);
	guard_leave(t);
	assert_int_equal(t->busy + t->has_aside_records + t->leaves_ring, 0);
	assert_null(t->ring);
	assert_null(t->at);
	assert_null(t->end);
	probe.forked = FORK_NONE;
	t->top = t->frames;
}

#define HANDLER 0x600000

/* A signal handler makes a call at @place, which is below the interrupted one. */
static void handler_calls(unsigned place, uint64_t addr)
{
	stack[place] = 4000 + place;
	assert_int_equal(probe_entry(&stack[place], addr, &no_regs), 1);
}

static void handler_returns(unsigned place)
{
	assert_int_equal(probe_exit((uint64_t)&stack[place], &no_regs), 4000 + place);
}

/* Check that the ring of @t has exactly @nr records, of the types and addresses in @expected. */
static void check_ring(struct thread *t, const uint64_t (*expected)[2], size_t nr)
{
	const struct record *r = (const struct record *)ring_data(t->ring);

	assert_int_equal(t->ring->head, nr * sizeof(*r));
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(record_type(r[i].data), expected[i][0]);
		assert_int_equal(record_addr(r[i].data), expected[i][1]);
	}
}

/* Map a free ring for the child, which has no arena of its own here. */
static void map_free_ring(void)
{
	thread_give_back(pair_thread());
	pair_look(&pair, true);
}

/*
 * A signal handler has made calls in the middle of a hook, and then forks. The parent writes these
 * calls. The child writes only the later ones.
 */
TEST_WITH(calls_of_a_handler_before_a_fork_are_the_parents, setup, teardown)
{
	static const uint64_t childs[][2] = {
		{ RECORD_ENTRY, HANDLER + 2 },
		{ RECORD_EXIT, HANDLER + 2 },
		{ RECORD_EXIT, HANDLER + 1 },
	};
	struct thread *t = with_a_call();

	map_free_ring();
	guard_take(t);
	handler_calls(8, HANDLER);
	handler_returns(8);
	handler_calls(8, HANDLER + 1);
	note_lost(t->aside, 5);
	note_too_deep(t->aside);
	t->aside->ring->too_deep = 7;
	thread_after_fork();
	probe.forked = FORK_NONE;
	handler_calls(6, HANDLER + 2);
	handler_returns(6);
	handler_returns(8);
	guard_leave(t);
	assert_non_null(t->ring);
	check_ring(t, childs, ARRAY_SIZE(childs));
	assert_int_equal(t->ring->lost, 0);
	assert_int_equal(t->ring->too_deep, 0);
	assert_int_equal(t->busy + t->has_aside_records + t->leaves_ring, 0);
	t->top = t->frames;
}

/*
 * A handler has interrupted a hook so late that the hook did not write the handler's calls. They
 * wait for the next hook. A child that is forked before that hook does not write them.
 */
TEST_WITH(calls_that_wait_for_the_next_hook_are_the_parents, setup, teardown)
{
	static const uint64_t childs[][2] = { { RECORD_EXIT, 0x400000 } };
	struct thread *t = with_a_call();

	guard_take(t);
	handler_calls(8, HANDLER);
	handler_returns(8);
	t->busy = 0;
	thread_after_fork();
	probe.forked = FORK_NONE;
	assert_int_equal(probe_exit((uint64_t)&stack[10], &no_regs), 4711);
	check_ring(t, childs, ARRAY_SIZE(childs));
	assert_int_equal(t->has_aside_records, 0);
}

/* A call of a handler belongs to the parent alone, even if -t has held it back until the fork. */
TEST_WITH(calls_of_a_handler_that_are_held_back_are_the_parents, setup, teardown)
{
	static const uint64_t childs[][2] = { { RECORD_EXIT, HANDLER } };
	struct thread *t;

	probe.plan.threshold_ns = UINT64_MAX;
	t = with_a_call();
	map_free_ring();
	guard_take(t);
	handler_calls(8, HANDLER);
	thread_after_fork();
	probe.forked = FORK_NONE;
	handler_returns(8);
	guard_leave(t);
	check_ring(t, childs, ARRAY_SIZE(childs));
	t->top = t->frames;
}

static int fork_and_call(void *arg)
{
	pair_before(SYS_rt_sigprocmask, NULL, NULL);
	thread_after_fork();
	probe.forked = FORK_NONE;
	handler_calls(8, HANDLER + 1);
	handler_returns(8);
	return 0;
}

/* A handler interrupts the move of the records of an earlier handler, and forks. */
TEST_WITH(a_fork_while_records_are_moved, setup, teardown)
{
	static const uint64_t childs[][2] = {
		{ RECORD_ENTRY, HANDLER + 1 },
		{ RECORD_EXIT, HANDLER + 1 },
	};
	struct thread *t = with_a_call();

	map_free_ring();
	guard_take(t);
	handler_calls(8, HANDLER);
	handler_returns(8);
	pair_before(SYS_rt_sigprocmask, fork_and_call, NULL);
	guard_leave(t);
	assert_non_null(t->ring);
	check_ring(t, childs, ARRAY_SIZE(childs));
	assert_int_equal(t->busy + t->has_aside_records + t->leaves_ring, 0);
	t->top = t->frames;
}

/* In a child, a new thread gets the state of one that was in a handler at the time of the fork. */
TEST_WITH(a_new_thread_has_no_calls_of_a_former_handler, setup, teardown)
{
	struct thread *t = with_a_call();
	struct thread *again;

	guard_take(t);
	handler_calls(8, HANDLER);
	handler_returns(8);
	note_lost(t->aside, 5);
	t->aside->busy = 1;
	self = pair_thread();
	thread_after_fork();
	probe.forked = FORK_NONE;
	assert_int_equal(t->in_use, 0);
	again = self = pair_thread();
	assert_ptr_equal(again, t);
	assert_int_equal(t->aside->busy, 0);
	guard_take(t);
	handler_calls(8, HANDLER + 1);
	handler_returns(8);
	guard_leave(t);
	check_ring(t,
		   (const uint64_t[][2]){ { RECORD_ENTRY, HANDLER + 1 },
					  { RECORD_EXIT, HANDLER + 1 } },
		   2);
	assert_int_equal(t->ring->lost, 0);
}

/* The child writes no ends of calls on stacks that it does not run on. */
TEST_WITH(kept_calls_of_other_stacks_are_the_parents, setup, teardown)
{
	struct thread *t = with_a_call();
	struct thread *other = pair_thread();
	struct ring *r = other->ring;

	other->is_made = 1;
	other->top++;
	*other->top = (struct frame){
		.slot = (uint64_t)&stack[20],
		.ret = 4711 | FRAME_KEPT,
		.data = record_data(RECORD_ENTRY, 0, 0x400000),
	};
	other->written = other->top;
	thread_after_fork();
	assert_int_equal(probe.forked, FORK_PENDING);
	assert_int_equal(r->head, 0);
	assert_ptr_equal(other->top, other->frames);
	probe.forked = FORK_NONE;
	t->top = t->frames;
}

/* A child that cannot report itself writes nothing to its parent's ring. */
TEST_WITH(a_child_that_is_cut_off_leaves_the_ring, setup, teardown)
{
	struct thread *t = with_a_call();
	struct ring *r = t->ring;
	uint64_t head = r->head;

	seal.is_on = true;
	thread_after_fork();
	assert_false(probe.ready);
	assert_null(t->ring);
	assert_int_equal(probe_exit((uint64_t)&stack[10], &no_regs), 4711);
	assert_int_equal(r->head, head);
	assert_null(t->ring);
	seal.is_on = false;
}

/*
 * A new thread of a forked child may write a record, and report the child, before the child's first
 * thread does.
 */
TEST_WITH(a_child_that_another_thread_has_reported_gets_a_ring, setup, teardown)
{
	struct thread *t = with_a_call();
	struct ring *r = t->ring;

	thread_after_fork();
	probe.forked = FORK_NONE;
	t->refit_ticks = 0; /* the next time is that of the kernel's clock */
	assert_int_equal(probe_exit((uint64_t)&stack[10], &no_regs), 4711);
	assert_non_null(t->ring);
	assert_ptr_not_equal(t->ring, r);
	assert_int_equal(t->ring->head, sizeof(struct record));
	assert_int_equal(t->ring->lost, 0);
	/* The start of the thread is not later than its first record. */
	assert_in_range(t->ring->start_ns, 1, t->last_ns);
}

TEST_WITH(what_was_held_back_before_a_fork_is_the_parents, setup, teardown)
{
	struct thread *t;

	probe.plan.threshold_ns = UINT64_MAX;
	t = with_a_call();
	assert_ptr_equal(t->written, t->frames);
	thread_after_fork();
	assert_ptr_equal(t->written, t->frames + 1);
	probe.forked = FORK_NONE;
}

TEST_WITH(nobody_notes_forks_of_what_is_not_recorded, setup, teardown)
{
	self = NULL;
	probe.ready = false;
	thread_before_fork();
	thread_after_fork();
	assert_int_equal(arena->forks.begun, 0);
	assert_int_equal(arena->forks.nr, 0);
	assert_int_equal(probe.forked, FORK_NONE);
	probe.ready = true;
	/* A thread that has no calls forks. */
	thread_after_fork();
	self = &probe_idle_thread;
	thread_after_fork();
	assert_int_equal(arena->forks.nr, 2);
	assert_ptr_equal(self, &probe_idle_thread);
	self = NULL;
	probe.forked = FORK_NONE;
}

/*
 * A signal handler would interrupt the system call here, and its fork would give the parent's ring
 * to the child.
 */
static int note_mask(void *arg)
{
	sigset_t blocked;

	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	*(int *)arg += sigismember(&blocked, SIGALRM) ? 1 : 100;
	return 0;
}

TEST_WITH(no_handler_forks_while_a_child_is_reported, setup, teardown)
{
	struct thread *t = with_a_call();
	int nr = 0;

	thread_after_fork();
	probe.forked = FORK_NONE;
	pair_before(SYS_gettid, note_mask, &nr);
	session_report_fork(t);
	pair_before(SYS_gettid, NULL, NULL);
	assert_int_equal(nr, 1);
	assert_non_null(t->ring);
	t->top = t->frames;
}

/*
 * A handler has forked when a hook was about to use a new state for its thread. The fork has freed
 * that state in the child, and the hook takes it again.
 */
TEST_WITH(a_state_that_a_fork_has_freed_is_taken_again, setup, teardown)
{
	struct thread *t = with_a_call();
	struct thread *next = pair_thread();

	thread_after_fork();
	probe.forked = FORK_NONE;
	assert_int_equal(next->in_use, 0);
	thread_begin_again(next);
	assert_int_equal(next->in_use, 1);
	thread_begin_again(next);
	assert_int_equal(next->in_use, 1);
	/* The state @next is not given to another thread. */
	assert_ptr_not_equal(thread_take_state(), next);
	t->top = t->frames;
}

/* --- slow calls --- */

static void spoil_errno(void *arg)
{
	*(int *)arg = 5;
	errno = 99;
}

TEST_WITH(a_slow_call_keeps_errno, setup, teardown)
{
	int seen = 0;

	errno = 11;
	slow_call(spoil_errno, &seen);
	assert_int_equal(seen, 5);
	assert_int_equal(errno, 11);
}

int main(void)
{
	callers.bytes = UINT64_MAX; /* the test's return addresses are made up */
	return unit_run();
}
