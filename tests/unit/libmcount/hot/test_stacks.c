/* Stacks that the program has made itself: each one has its own open calls. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "libmcount/hot/callers.h"
#include "libmcount/hot/frames.h"
#include "libmcount/hot/stacks.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

#define PAGE  4096UL
#define STACK (16 * PAGE)

/* Two stacks, with an inaccessible page between them. */
struct scene {
	struct pair pair;
	struct thread *t;
	uint64_t low;  /* end of the lower stack */
	uint64_t high; /* end of the upper stack */
	char *memory;
};

static struct arch_regs no_regs;

static void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	pair_init(&s->pair);
	pair_open(&s->pair);
	s->t = self = pair_thread();
	assert_non_null(s->t);
	s->memory = mmap(NULL, 2 * STACK + PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(s->memory, MAP_FAILED);
	assert_int_equal(mprotect(s->memory + STACK, PAGE, PROT_NONE), 0);
	s->low = (uint64_t)s->memory + STACK;
	s->high = (uint64_t)s->memory + 2 * STACK + PAGE;
}

static void end(struct scene *s)
{
	pair_stop(&s->pair);
	pair_close(&s->pair);
	munmap(s->memory, 2 * STACK + PAGE);
}

static uint64_t enter(struct scene *s, uint64_t slot)
{
	*(uint64_t *)slot = 0x500000 + slot % PAGE;
	assert_int_equal(probe_entry((uint64_t *)slot, 0x400000, &no_regs), 1);
	return slot;
}

static unsigned open_calls(void)
{
	return self->top - self->frames;
}

/* Within one stack the distance does not matter: a call with a large frame is no switch. */
TEST(large_frames)
{
	struct scene s;

	begin(&s);
	enter(&s, s.low - 5 * PAGE);
	enter(&s, s.low - 8 * PAGE);
	/* The program has jumped out of both calls. */
	enter(&s, s.low - PAGE);
	assert_false(probe.follows_stacks);
	assert_ptr_equal(self, s.t);
	assert_int_equal(open_calls(), 1);
	end(&s);
}

TEST(a_switch_is_noticed)
{
	struct scene s;

	begin(&s);
	enter(&s, s.low - 64);
	enter(&s, s.low - 128);
	assert_false(probe.follows_stacks);
	/*
	 * The next call is at a higher address. The memory before that address is not all mapped,
	 * so the call is on another stack.
	 */
	enter(&s, s.high - 64);
	assert_true(probe.follows_stacks);
	/* From here on each stack has its own calls, which stay open while another stack runs. */
	enter(&s, s.low - 192);
	assert_ptr_equal(self, s.t);
	assert_int_equal(open_calls(), 2);
	enter(&s, s.high - 128);
	assert_ptr_not_equal(self, s.t);
	assert_int_equal(open_calls(), 1);
	enter(&s, s.low - 256);
	assert_ptr_equal(self, s.t);
	assert_int_equal(open_calls(), 3);
	enter(&s, s.high - 192);
	assert_int_equal(open_calls(), 2);
	stacks_go_home();
	assert_ptr_equal(self, s.t);
	end(&s);
}

/* --- stacks of a program that is known to switch --- */

#define KB     1024UL
#define REACH  (64 * KB) /* the assumed size of a made stack below its calls */
#define REGION (8192 * KB)

/*
 * A region of memory of which parts are accessible. Places count from its start, and each part lies
 * higher than those before.
 */
struct rooms {
	struct pair pair;
	struct thread *t;
	char *memory;
};

#define HOME   (64 * KB)
#define HOME_2 (256 * KB)
#define LOW    (1024 * KB)
#define HIGH   (2048 * KB)
#define TOP    (4096 * KB)

static void open_room(struct rooms *r, uint64_t from, uint64_t to)
{
	assert_int_equal(mprotect(r->memory + from, to - from, PROT_READ | PROT_WRITE), 0);
}

static int begin_rooms(void **state)
{
	struct rooms *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	pair_init(&r->pair);
	pair_open(&r->pair);
	probe.follows_stacks = true;
	r->memory = mmap(NULL, REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			 0);
	assert_ptr_not_equal(r->memory, MAP_FAILED);
	open_room(r, 0, HOME + PAGE);
	open_room(r, HOME_2 - 64 * KB, HOME_2 + PAGE);
	open_room(r, LOW - 512 * KB, LOW + 512 * KB);
	open_room(r, HIGH - 256 * KB, HIGH + PAGE);
	open_room(r, TOP - 64 * KB, TOP + PAGE);
	r->t = self = pair_thread();
	assert_int_equal(r->t->low, INT64_MAX);
	*state = r;
	return 0;
}

static int end_rooms(void **state)
{
	struct rooms *r = *state;

	for (struct thread *t = atomic_load(&probe_threads); t; t = t->next)
		assert_int_equal(t->busy, 0);
	/* The next test must begin without counted stacks. */
	self = NULL;
	stacks_after_fork();
	pair_stop(&r->pair);
	pair_close(&r->pair);
	atomic_store(&probe_threads, NULL);
	munmap(r->memory, REGION);
	free(r);
	return 0;
}

static uint64_t *at(struct rooms *r, uint64_t place)
{
	return (uint64_t *)(r->memory + place);
}

/*
 * Make a call whose return slot is at @place. It must belong to a thread state that has @open calls
 * then. Returns this state.
 */
static struct thread *go(struct rooms *r, uint64_t place, unsigned open)
{
	*at(r, place) = 0x500000 + place;
	assert_int_equal(probe_entry(at(r, place), 0x400000, &no_regs), 1);
	assert_int_equal(open_calls(), open);
	return self;
}

static void back(struct rooms *r, uint64_t place, unsigned open)
{
	assert_int_equal(probe_exit((uint64_t)at(r, place), &no_regs), 0x500000 + place);
	assert_int_equal(open_calls(), open);
}

TEST_WITH(a_made_stack_has_a_state_of_its_own, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	struct thread *made;

	assert_ptr_equal(go(r, HOME, 1), r->t);
	assert_int_equal(r->t->high, (uint64_t)at(r, HOME));
	assert_int_equal(r->t->low, (uint64_t)at(r, HOME) - (1UL << 20));
	made = go(r, LOW, 1);
	assert_ptr_not_equal(made, r->t);
	assert_int_equal(made->is_made, 1);
	assert_int_equal(made->is_parked, 0);
	assert_ptr_equal(made->home, r->t);
	assert_int_equal(made->ring->tid, RING_TID_STACK);
	assert_int_equal(made->high, (uint64_t)at(r, LOW));
	assert_int_equal(made->low, (uint64_t)at(r, LOW) - REACH);
	/* The calls on each stack go on when the stack does, and each returns to its own stack. */
	go(r, LOW - 64, 2);
	assert_ptr_equal(go(r, HOME - 64, 2), r->t);
	assert_int_equal(made->is_parked, 1);
	assert_ptr_equal(go(r, LOW - 128, 3), made);
	assert_int_equal(made->is_parked, 0);
	assert_ptr_not_equal(go(r, HIGH, 1), made);
	assert_ptr_equal(self->home, r->t);
	assert_int_equal(made->is_parked, 1);
	back(r, LOW - 128, 2);
	assert_ptr_equal(self, made);
	back(r, HOME - 64, 1);
	assert_ptr_equal(self, r->t);
	back(r, LOW - 64, 1);
	back(r, HIGH, 0);
	back(r, LOW, 0);
	back(r, HOME, 0);
	assert_ptr_equal(self, r->t);
}

/*
 * Checks the mask of signals before a system call. If a signal handler forked here, the child would
 * get the parent's ring.
 */
static int note_mask(void *arg)
{
	sigset_t blocked;

	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	*(int *)arg += sigismember(&blocked, SIGALRM) ? 1 : 100;
	return 0;
}

TEST_WITH(no_handler_forks_while_a_stack_is_made, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	int nr = 0;

	go(r, HOME, 1);
	pair_before(SYS_mmap, note_mask, &nr);
	go(r, LOW, 1);
	pair_before(SYS_mmap, NULL, NULL);
	assert_in_range(nr, 1, 99);
}

/* A handler forks when the hook has found the stack, but has not switched to it. */
TEST_WITH(a_stack_that_a_fork_has_freed_is_taken_again, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	struct thread *made;

	go(r, HOME, 1);
	made = go(r, LOW, 1);
	go(r, HOME - 64, 2);
	assert_int_equal(made->is_parked, 1);
	made->in_use = 0;
	assert_ptr_equal(go(r, LOW - 64, 2), made);
	assert_int_equal(made->in_use, 1);
}

/* An address a little above its first call still belongs to the same stack. */
TEST_WITH(a_stack_begins_above_its_first_call, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	struct thread *made;

	go(r, HOME, 1);
	made = go(r, LOW, 1);
	back(r, LOW, 0);
	go(r, HOME - 8, 2);
	assert_ptr_equal(go(r, LOW + 2048, 1), made);
	back(r, LOW + 2048, 0);
	go(r, HOME - 16, 3);
	assert_ptr_not_equal(go(r, LOW + 2048 + 8, 1), made);
	assert_ptr_equal(go(r, HOME - 24, 4), r->t);
}

TEST_WITH(what_nobody_runs_another_thread_may_take, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	struct thread *made;
	struct thread *other;
	struct thread *second;

	go(r, HOME, 1);
	made = go(r, LOW, 1);
	/* The stack at LOW counts as another one when another thread runs it. */
	other = self = pair_thread();
	assert_ptr_equal(go(r, HOME_2, 1), other);
	second = go(r, LOW - 64, 1);
	assert_ptr_not_equal(second, made);
	assert_ptr_equal(second->home, other);
	assert_ptr_equal(go(r, HOME_2 - 64, 2), other);
	self = made;
	go(r, HOME - 64, 2);
	self = other;
	/* A return finds the frame of its call, and with it the thread state. */
	back(r, LOW, 0);
	assert_ptr_equal(self, made);
	assert_ptr_equal(made->home, other);
	go(r, HOME_2 - 128, 3);
	self = r->t;
	back(r, LOW - 64, 0);
	assert_ptr_equal(self, second);
	assert_ptr_equal(second->home, r->t);
}

TEST_WITH(a_made_stack_goes_on_below_its_calls, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	struct thread *made;

	go(r, HOME, 1);
	made = go(r, LOW, 1);
	assert_ptr_equal(go(r, LOW - REACH, 2), made);
	assert_ptr_equal(go(r, LOW - REACH - 8, 3), made);
	assert_int_equal(made->low, (uint64_t)at(r, LOW - REACH - 8) - REACH);
	assert_ptr_equal(go(r, LOW - 2 * REACH - 8, 4), made);
	/* The second call is too far away to be on the same stack. */
	assert_ptr_equal(go(r, LOW - 3 * REACH, 5), made);
	assert_ptr_not_equal(go(r, LOW - 4 * REACH - 8, 1), made);
}

/* Two stacks in one piece of memory do not overlap, whichever was made first. */
TEST_WITH(a_stack_ends_where_the_next_one_begins, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	struct thread *below;
	struct thread *above;
	struct thread *between;

	go(r, HOME, 1);
	below = go(r, LOW, 1);
	above = go(r, LOW + 80 * KB, 1);
	assert_int_equal(above->low, (uint64_t)at(r, LOW + 16 * KB));
	assert_ptr_equal(go(r, LOW + 30 * KB, 2), above);
	assert_ptr_equal(go(r, LOW + 15 * KB, 3), above);
	assert_int_equal(above->low, below->high + 1);
	assert_int_equal(below->low, (uint64_t)at(r, LOW) - REACH);
	/* Another thread makes a stack in the memory between them. */
	self = pair_thread();
	go(r, HOME_2, 1);
	between = go(r, LOW + 10 * KB, 1);
	assert_int_equal(above->low, between->high + 1);
	assert_int_equal(between->low, below->high + 1);
	assert_int_equal(below->low, (uint64_t)at(r, LOW) - REACH);
}

/* Handlers on an alternate stack belong to the calls that they interrupt. */
TEST_WITH(an_alternate_signal_stack_is_no_stack_of_its_own, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	stack_t ss = { .ss_sp = at(r, LOW - 64 * KB), .ss_size = 64 * KB };
	stack_t before;
	stack_t bad = { .ss_sp = at(r, LOW), .ss_size = 1 };
	struct thread *made;

	assert_int_equal(sigaltstack(&ss, &before), 0);
	assert_int_equal(sigaltstack(&bad, NULL), -1);
	assert_int_equal(sigaltstack(NULL, &bad), 0);
	assert_ptr_equal(bad.ss_sp, ss.ss_sp);
	go(r, TOP, 1);
	assert_ptr_equal(go(r, LOW - 8, 2), r->t);
	assert_ptr_equal(go(r, LOW - 64 * KB, 3), r->t);
	back(r, LOW - 64 * KB, 2);
	back(r, LOW - 8, 1);
	/* The made stack begins right above the signal stack. */
	made = go(r, LOW, 1);
	assert_ptr_not_equal(made, r->t);
	assert_ptr_equal(go(r, TOP - 8, 2), r->t);
	ss.ss_flags = SS_DISABLE;
	assert_int_equal(sigaltstack(&ss, NULL), 0);
	assert_ptr_equal(go(r, LOW - 8, 2), made);
	go(r, TOP - 16, 3);
	sigaltstack(&before, NULL);
}

/* A handler on an alternate stack is no sign that the program has made stacks. */
TEST_WITH(a_signal_stack_turns_nothing_on, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	stack_t ss = { .ss_sp = at(r, LOW - 64 * KB), .ss_size = 64 * KB };
	stack_t before;

	assert_int_equal(sigaltstack(&ss, &before), 0);
	probe.follows_stacks = false;
	r->t->low = 0;
	/* The handler jumps out to a call on the thread's own stack, which is higher. */
	go(r, LOW - 8, 1);
	go(r, TOP, 1);
	assert_false(probe.follows_stacks);
	back(r, TOP, 0);
	/* The thread's own stack is the lower one. */
	ss.ss_sp = at(r, TOP - 64 * KB);
	assert_int_equal(sigaltstack(&ss, NULL), 0);
	go(r, LOW - 64, 1);
	go(r, TOP - 8, 1);
	assert_false(probe.follows_stacks);
	back(r, TOP - 8, 0);
	/* Without the alternate stack, the same calls are on two stacks. */
	ss.ss_flags = SS_DISABLE;
	assert_int_equal(sigaltstack(&ss, NULL), 0);
	go(r, LOW - 64, 1);
	*at(r, TOP - 8) = 4711;
	assert_int_equal(probe_entry(at(r, TOP - 8), 0x400000, &no_regs), 1);
	assert_true(probe.follows_stacks);
	sigaltstack(&before, NULL);
}

/* The exit hook makes no stack: an unknown address belongs to the current one. */
TEST_WITH(a_stack_is_found_by_an_exit_but_not_made, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	struct thread *made;

	go(r, HOME, 1);
	assert_ptr_equal(stacks_find(r->t, (uint64_t)at(r, LOW)), r->t);
	made = go(r, LOW, 1);
	made->busy = 1;
	assert_ptr_equal(stacks_find(made, (uint64_t)at(r, LOW - 8)), made);
	assert_ptr_equal(stacks_find(made, (uint64_t)at(r, HIGH)), made);
	assert_ptr_equal(stacks_find(made, (uint64_t)at(r, HOME - 8)), r->t);
	assert_int_equal(made->busy, 0);
	assert_ptr_equal(self, r->t);
	assert_ptr_equal(stacks_find(r->t, (uint64_t)at(r, LOW - 8)), made);
	assert_ptr_equal(self, made);
	probe.follows_stacks = false;
	assert_ptr_equal(stacks_find(made, (uint64_t)at(r, HOME - 8)), made);
	made->busy = 0;
}

TEST_WITH(nobody_is_asked_where_only_estimates_are, begin_rooms, end_rooms)
{
	struct rooms *r = *state;

	go(r, HOME, 1);
	probe.plan.flags |= PLAN_ESTIMATE;
	assert_ptr_equal(stacks_enter(r->t, (uint64_t)at(r, LOW)), r->t);
	probe.plan.flags &= ~(uint32_t)PLAN_ESTIMATE;
	r->t->is_aside = 1;
	assert_ptr_equal(stacks_enter(r->t, (uint64_t)at(r, LOW)), r->t);
	assert_ptr_equal(stacks_find(r->t, (uint64_t)at(r, LOW)), r->t);
	assert_ptr_equal(stacks_return(r->t, (uint64_t)at(r, LOW)), r->t);
	r->t->is_aside = 0;
}

TEST_WITH(a_thread_that_ends_leaves_the_stack_to_others, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	struct thread *made;

	stacks_go_home(); /* the thread is on its own stack already */
	assert_ptr_equal(self, r->t);
	go(r, HOME, 1);
	made = go(r, LOW, 1);
	stacks_go_home();
	assert_ptr_equal(self, r->t);
	assert_int_equal(made->is_parked, 1);
	back(r, LOW, 0);
	assert_ptr_equal(self, made);
}

/*
 * The probe is not told when a coroutine ends. The next call lies above the coroutine's stack,
 * which has no open calls any more.
 */
TEST_WITH(a_call_after_the_end_of_a_made_stack, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	struct thread *made;

	go(r, TOP, 1);
	made = go(r, LOW, 1);
	assert_ptr_not_equal(made, r->t);
	back(r, LOW, 0);
	assert_ptr_equal(go(r, TOP - 64, 2), r->t);
	back(r, TOP - 64, 1);
	/* The stack begins anew. Calls that were open on it get no end. */
	assert_ptr_equal(go(r, LOW, 1), made);
	go(r, LOW - 64, 2);
	frames_leave_inside(self, (uint64_t)at(r, TOP));
	assert_int_equal(open_calls(), 0);
	assert_ptr_equal(go(r, TOP - 128, 2), r->t);
}

/*
 * A stack lies in a local variable of a call. By addresses alone, its calls could belong to the
 * surrounding stack.
 */
TEST_WITH(a_stack_within_a_call_is_taken_up, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	uint64_t low = (uint64_t)at(r, LOW - 300 * KB);
	struct thread *made;
	struct thread *within;

	go(r, LOW, 1);
	go(r, LOW - 400 * KB, 2);
	stacks_take_up(low + 100 * KB, low, 100 * KB + 8);
	made = go(r, LOW - 200 * KB, 1);
	assert_ptr_not_equal(made, r->t);
	assert_int_equal(made->is_exact, 1);
	/* A third stack lies in the memory of a call on the second stack. */
	go(r, LOW - 270 * KB, 2);
	stacks_take_up(low + 50 * KB, low + 40 * KB, 10 * KB + 8);
	within = go(r, LOW - 250 * KB, 1);
	assert_ptr_not_equal(within, made);
	/* The thread goes back to a surrounding stack: an announcement or a call shows that. */
	stacks_take_up(low + 20 * KB, 0, 0);
	assert_ptr_equal(self, made);
	stacks_take_up(low + 49 * KB, low + 40 * KB, 10 * KB + 8);
	assert_ptr_equal(self, within);
	assert_ptr_equal(go(r, LOW - 275 * KB, 3), made);
	assert_ptr_equal(go(r, LOW - 410 * KB, 3), r->t);
	/*
	 * Another stack begins in the same place. The calls that were open in that place are over.
	 */
	stacks_take_up(low + 100 * KB, low, 100 * KB + 8);
	assert_ptr_equal(go(r, LOW - 200 * KB, 1), made);
	stacks_take_up((uint64_t)at(r, LOW - 420 * KB), 0, 0);
	assert_ptr_equal(self, r->t);
	back(r, LOW - 410 * KB, 2);
	/* A new call in the former place of an ended stack belongs to the surrounding stack. */
	go(r, LOW - 250 * KB, 2);
	assert_ptr_equal(self, r->t);
}

/*
 * A context states where its stack is. The probe believes this if the stack pointer lies in that
 * place, and no surrounding call does.
 */
TEST_WITH(a_context_that_says_nothing_of_its_stack, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	uint64_t low = (uint64_t)at(r, LOW - 300 * KB);

	go(r, LOW, 1);
	go(r, LOW - 400 * KB, 2);
	stacks_take_up(low - 8, low, 64 * KB);
	stacks_take_up(low + 64 * KB, low, 64 * KB);
	stacks_take_up(low + 1, low, 2);
	stacks_take_up(low + 1, low - 200 * KB, 500 * KB);
	/* A stack that is no local variable of a call is taken up only at its next call. */
	stacks_take_up((uint64_t)at(r, TOP - KB), (uint64_t)at(r, TOP - 32 * KB), 32 * KB);
	assert_ptr_equal(self, r->t);
	assert_int_equal(open_calls(), 2);
	r->t->busy = 1;
	stacks_take_up(low + KB, low, 64 * KB);
	assert_ptr_equal(self, r->t);
	r->t->busy = 0;
}

/*
 * A forked child has only the running stack, as its own. Open calls on other stacks return to the
 * program directly.
 */
TEST_WITH(a_forked_child_has_one_stack, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	struct thread *made;
	struct thread *second;

	go(r, HOME, 1);
	second = go(r, HIGH, 1);
	made = go(r, LOW, 1);
	stacks_after_fork();
	assert_ptr_equal(self, made);
	assert_int_equal(made->is_made, 0);
	assert_null(made->home);
	assert_int_equal(second->is_made, 0);
	assert_int_equal(second->high, 0);
	assert_int_equal(r->t->high, 0);
	assert_int_equal(*at(r, HIGH), 0x500000 + HIGH);
	assert_int_equal(*at(r, HOME), 0x500000 + HOME);
	assert_ptr_equal((void *)*at(r, LOW), (void *)arch_return_trampoline);
	back(r, LOW, 0);
}

/* There are more stacks than allowed: those without open calls are given up. */
TEST_WITH(stacks_that_are_not_used_make_room, begin_rooms, end_rooms)
{
	struct rooms *r = *state;
	struct thread *made;
	int32_t state_before;

	go(r, HOME, 1);
	made = go(r, LOW, 1);
	back(r, LOW, 0);
	go(r, HOME - 8, 2);
	assert_int_equal(made->is_parked, 1);
	/*
	 * All rings are taken: the stack gets no state of its own, and counts as a part of the
	 * current one.
	 */
	while (pair_thread())
		;
	self = r->t;
	state_before = made->is_made;
	assert_ptr_equal(go(r, HIGH, 1), r->t);
	assert_int_equal(made->is_made, state_before);
}

int main(void)
{
	callers.bytes = UINT64_MAX; /* the test's return addresses are made up */
	return unit_run();
}
