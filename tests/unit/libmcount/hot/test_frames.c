/*
 * Calls and returns as the stubs announce them, on a stack that the test owns: in order and out of
 * order. The records must be those of a simple model, and each return address must come back.
 */
#include "libmcount/hot/frames.h"

#include <errno.h>

#include "libmcount/system/own_syscall.h"
#include "libmcount/hot/callers.h"
#include "libmcount/program/caller.h"
#include "libmcount/hot/guard.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

#define TRAMPOLINE  ((uint64_t)arch_return_trampoline)
#define STACK_WORDS 4096
#define SECOND	    1000000000ULL

static uint64_t stack[STACK_WORDS];
static struct arch_regs no_regs;

/* An open call of the model. @ret: the content of its return slot when it begins */
struct call {
	unsigned place; /* index of its return slot in @stack */
	uint64_t ret;
	uint64_t addr;
};

struct scene {
	struct pair pair;
	struct thread *t;
	struct call calls[128];
	unsigned nr;
	struct strbuf expected; /* the data words of records */
	uint64_t random;
};

static void begin(struct scene *s)
{
	*s = (struct scene){ .random = 1 };
	pair_init(&s->pair);
	s->pair.settings.depth = s->pair.settings.max_stack = 100;
	pair_open(&s->pair);
	probe.has_counter = false; /* so that the test makes time pass */
	s->t = self = pair_thread();
	assert_non_null(s->t);
	s->calls[0] = (struct call){ .place = STACK_WORDS };
}

static void expect(struct scene *s, enum record_type type, unsigned depth, uint64_t addr)
{
	uint64_t data = record_data(type, depth, addr);

	strbuf_add(&s->expected, &data, sizeof(data));
}

/* Compare all records so far with the expected ones, in order. Their times must not decrease. */
static void check(struct scene *s)
{
	pair_check_data(&s->pair, s->t->ring->tid, &s->expected);
	assert_int_equal(s->t->busy, 0);
}

static void end(struct scene *s)
{
	check(s);
	strbuf_deinit(&s->expected);
	pair_stop(&s->pair);
	pair_close(&s->pair);
}

static uint64_t random_next(struct scene *s)
{
	return unit_random(&s->random);
}

static struct call *top(struct scene *s)
{
	return &s->calls[s->nr];
}

/* End the calls from number @nr + 1 on: the program has left them without returning. */
static void leave_until(struct scene *s, unsigned nr)
{
	for (; s->nr > nr; s->nr--)
		expect(s, RECORD_EXIT, s->nr - 1, top(s)->addr);
}

static void push(struct scene *s, unsigned place, uint64_t ret)
{
	uint64_t addr = 0x400000 + random_next(s) % 1000 * 16;

	stack[place] = ret;
	expect(s, RECORD_ENTRY, s->nr, addr);
	s->calls[++s->nr] = (struct call){ place, ret, addr };
	assert_int_equal(probe_entry(&stack[place], addr, &no_regs), 1);
	assert_int_equal(stack[place], TRAMPOLINE);
}

static uint64_t fresh_return(struct scene *s)
{
	return 0x500000 + random_next(s) % 100000;
}

static void call(struct scene *s)
{
	push(s, top(s)->place - 1 - random_next(s) % 3, fresh_return(s));
}

/* Call a function by a jump: it returns to the caller of the jumping function. */
static void tail_call(struct scene *s)
{
	push(s, top(s)->place, TRAMPOLINE);
}

static void leave(struct scene *s)
{
	struct call c = *top(s);

	leave_until(s, s->nr - 1);
	assert_int_equal(probe_exit((uint64_t)&stack[c.place], &no_regs), c.ret);
}

/* Call @nr catches an exception, and then returns. */
static void leave_outer(struct scene *s, unsigned nr)
{
	struct call c = s->calls[nr];

	/* After tail calls several calls have the same slot. The innermost one of them returns. */
	while (nr < s->nr && s->calls[nr + 1].place == c.place)
		c = s->calls[++nr];
	leave_until(s, nr - 1);
	assert_int_equal(probe_exit((uint64_t)&stack[c.place], &no_regs), c.ret);
}

/*
 * longjmp() to call @nr, which calls another function: the slots of the calls that were left are
 * overwritten or given back.
 */
static void jump_and_call(struct scene *s, unsigned nr)
{
	unsigned place = s->calls[nr + 1].place;
	unsigned last = s->nr;

	while (nr && s->calls[nr].place == place)
		nr--;
	leave_until(s, nr);
	push(s, place, fresh_return(s));
	for (unsigned i = nr + 2; i <= last; i++) {
		const struct call *c = &s->calls[i];

		if (c->place < place && c->ret != TRAMPOLINE)
			assert_int_equal(stack[c->place], c->ret);
	}
}

TEST(test_random_walk)
{
	struct scene s;

	begin(&s);
	for (unsigned step = 0; step < 20000; step++) {
		unsigned what = random_next(&s) % 100;

		if (s.nr > 90)
			leave_outer(&s, 1 + random_next(&s) % 10);
		else if (s.nr == 0 || what < 45)
			call(&s);
		else if (what < 85)
			leave(&s);
		else if (what < 92)
			tail_call(&s);
		else if (what < 96)
			leave_outer(&s, 1 + random_next(&s) % s.nr);
		else if (s.nr > 2)
			jump_and_call(&s, 1 + random_next(&s) % (s.nr - 1));
		assert_int_equal(s.t->top - s.t->frames, s.nr);
		if (step % 100 == 0)
			check(&s);
	}
	end(&s);
}

/* Calls beyond the limit get no frame, and their slots do not change. */
TEST(test_limit)
{
	struct scene s;

	begin(&s);
	s.t->limit = s.t->frames + 3;
	for (int round = 0; round < 3; round++) {
		call(&s);
		call(&s);
		call(&s);
		for (unsigned place = top(&s)->place - 5; place < top(&s)->place; place++) {
			stack[place] = 4711;
			assert_int_equal(probe_entry(&stack[place], 0x400000, &no_regs), 0);
			assert_int_equal(stack[place], 4711);
		}
		leave(&s);
		leave(&s);
		leave(&s);
	}
	end(&s);
}

/*
 * -t records a call that takes longer than the threshold, and the calls around it. The same holds
 * for a call that was left by a jump.
 */
TEST(test_threshold)
{
	struct scene s;

	begin(&s);
	s.t->threshold_ns = 1000 * SECOND;
	for (int round = 0; round < 3; round++) {
		size_t before = s.expected.len;

		call(&s);
		call(&s);
		call(&s);
		leave(&s);
		s.expected.len = before;
		/* The two outer calls are long; the call inside of them is not. */
		leave_until(&s, 0);
		s.expected.len = before;
		s.nr = 2;
		expect(&s, RECORD_ENTRY, 0, s.calls[1].addr);
		expect(&s, RECORD_ENTRY, 1, s.calls[2].addr);
		pair_pass(1001 * SECOND);
		leave(&s);
		/*
		 * The next call is short again. The ENTRY record of the call around it is written
		 * already.
		 */
		before = s.expected.len;
		call(&s);
		leave(&s);
		s.expected.len = before;
		leave(&s);
	}
	/* All calls are short. */
	size_t before = s.expected.len;

	call(&s);
	call(&s);
	leave_outer(&s, 1);
	s.expected.len = before;
	end(&s);
}

/* A call that takes exactly the threshold is not recorded. */
TEST(test_threshold_is_exclusive)
{
	struct scene s;

	begin(&s);
	s.t->threshold_ns = 1000 * SECOND;
	call(&s);
	s.t->last_ns = s.t->top->time_ns +
		       1000 * SECOND; /* the clock gives no earlier time than this */
	leave(&s);
	s.expected.len = 0;
	call(&s);
	s.t->last_ns = s.t->top->time_ns + 1000 * SECOND + 1;
	leave(&s);
	end(&s);
}

/*
 * While a hook runs, calls of signal handlers go to the aside. They come to the ring with the depth
 * of the interrupted hook.
 */
TEST(test_aside)
{
	struct scene s;
	unsigned handler = 100; /* its stack is below the interrupted one */
	uint64_t data;

	begin(&s);
	for (int round = 0; round < 3; round++) {
		call(&s);
		call(&s);
		check(&s);

		size_t before = s.expected.len;

		s.t->busy = 1;
		for (unsigned i = 0; i < 2; i++) {
			stack[handler] = 21;
			stack[handler - 1] = 22;
			assert_int_equal(probe_entry(&stack[handler], 0x600000, &no_regs), 1);
			assert_int_equal(probe_entry(&stack[handler - 1], 0x600010, &no_regs), 1);
			assert_int_equal(stack[handler - 1], TRAMPOLINE);
			assert_int_equal(probe_exit((uint64_t)&stack[handler - 1], &no_regs), 22);
			assert_int_equal(probe_exit((uint64_t)&stack[handler], &no_regs), 21);
			expect(&s, RECORD_ENTRY, 2, 0x600000);
			expect(&s, RECORD_ENTRY, 3, 0x600010);
			expect(&s, RECORD_EXIT, 3, 0x600010);
			expect(&s, RECORD_EXIT, 2, 0x600000);
		}
		assert_int_equal(s.t->has_aside_records, 1);
		pair_look(&s.pair, true);
		assert_int_equal(s.t->ring->head % RING_PAGE,
				 before / sizeof(data) * sizeof(struct record) % RING_PAGE);
		guard_leave(s.t);
		assert_int_equal(s.t->has_aside_records, 0);
		assert_int_equal(s.t->aside->busy, 0);
		check(&s);
		leave(&s);
		leave(&s);
	}
	end(&s);
}

/*
 * A handler interrupts the hook of a return. The program goes on at the right address, and the
 * handler's calls are recorded.
 */
TEST(test_interrupted_return)
{
	struct scene s;

	begin(&s);
	call(&s);
	s.t->busy = 1;
	stack[100] = 21;
	assert_int_equal(probe_entry(&stack[100], 0x600000, &no_regs), 1);
	assert_int_equal(probe_exit((uint64_t)&stack[100], &no_regs), 21);
	s.t->busy = 0;
	leave(&s);
	assert_int_equal(s.t->has_aside_records, 0);
	expect(&s, RECORD_ENTRY, 0, 0x600000);
	expect(&s, RECORD_EXIT, 0, 0x600000);
	end(&s);
}

/* A handler that has interrupted a hook jumps out of all calls, and never returns to the hook. */
TEST(test_jump_out_of_hook)
{
	unsigned handler = 100;
	jmp_buf place;
	struct scene s;

	begin(&s);
	for (volatile int round = 0; round < 3; round++) {
		call(&s);
		call(&s);
		if (setjmp(place) == 0) {
			s.t->busy = 1;
			/* In the first round the thread has no aside yet. */
			if (round) {
				stack[handler] = 21;
				assert_int_equal(probe_entry(&stack[handler], 0x600000, &no_regs),
						 1);
				expect(&s, RECORD_ENTRY, 2, 0x600000);
				expect(&s, RECORD_EXIT, 2, 0x600000);
			}
			longjmp(place, 1);
		}
		assert_int_equal(s.t->busy, 0);
		assert_true(!s.t->aside || !s.t->aside->busy);
		assert_int_equal(s.t->has_aside_records, 0);
		leave_until(&s, 0);
		check(&s);
	}
	end(&s);
}

/*
 * A handler interrupts a hook of another handler: its calls are counted as lost. So are the calls
 * for which the aside has no room.
 */
TEST(test_aside_losses)
{
	struct scene s;
	uint64_t nr = 0;

	begin(&s);
	call(&s);
	s.t->busy = 1;
	stack[100] = 21;
	assert_int_equal(probe_entry(&stack[100], 0x600000, &no_regs), 1);
	expect(&s, RECORD_ENTRY, 1, 0x600000);
	s.t->aside->busy = 1;
	stack[90] = 22;
	assert_int_equal(probe_entry(&stack[90], 0x600000, &no_regs), 0);
	assert_int_equal(stack[90], 22);
	assert_int_equal(s.t->ring->lost, 2);
	assert_int_equal(s.t->ring->lost_inside, 2);
	s.t->aside->busy = 0;
	assert_int_equal(probe_exit((uint64_t)&stack[100], &no_regs), 21);
	expect(&s, RECORD_EXIT, 1, 0x600000);
	/* Fill the aside. */
	do {
		stack[100] = 21;
		if (!probe_entry(&stack[100], 0x600010, &no_regs))
			break;
		nr++;
	} while (probe_exit((uint64_t)&stack[100], &no_regs) == 21 && nr < 100000);
	assert_in_range(nr, 30000, 40000);
	assert_int_equal(stack[100], 21);
	probe.plan.flags |= PLAN_DROP; /* the ring drops records from now on */
	pair_look(&s.pair, true);
	guard_leave(s.t);
	/*
	 * The ring has no room for all records of the aside. These are counted apart from the
	 * records that the aside lost itself.
	 */
	assert_true(s.t->ring->lost > 4);
	assert_int_equal(s.t->ring->lost_inside, 4);
	s.t->ring->lost = s.t->ring->lost_told = s.t->ring->lost_inside = 0;
	strbuf_deinit(&s.expected);
	pair_stop(&s.pair);
	pair_close(&s.pair);
}

/*
 * Library calls are recorded like others. A call whose return cannot be seen takes no time. Some
 * library calls end the calls inside of them.
 */
TEST(test_library_calls)
{
	struct call_site sites[] = {
		{ .target = 0x700000, .addr = 0x400010 },
		{ .target = 0x700010, .addr = 0x400020, .flags = PLAN_CALL_NO_RETURN_HOOK },
		{ .target = 0x700020, .addr = 0x400030, .flags = PLAN_CALL_LANDING },
	};
	struct libcall c;
	struct scene s;

	begin(&s);
	probe.calls = sites;
	call(&s);
	stack[1000] = 33;
	c = probe_libcall(&stack[1000], 0, &no_regs);
	assert_int_equal(c.target, 0x700000);
	assert_int_equal(c.replaced, 1);
	expect(&s, RECORD_ENTRY, 1, 0x400010);
	stack[900] = 44;
	c = probe_libcall(&stack[900], 1, &no_regs);
	assert_int_equal(c.target, 0x700010);
	assert_int_equal(c.replaced, 0);
	assert_int_equal(stack[900], 44);
	expect(&s, RECORD_ENTRY, 2, 0x400020);
	expect(&s, RECORD_EXIT, 2, 0x400020);
	/* An outer function makes a library call, so the library call that was open has ended. */
	stack[1100] = 55;
	c = probe_libcall(&stack[1100], 2, &no_regs);
	assert_int_equal(c.target, 0x700020);
	assert_int_equal(c.replaced, 0);
	assert_int_equal(stack[1100], 55);
	assert_int_equal(stack[1000], 33);
	expect(&s, RECORD_EXIT, 1, 0x400010);
	check(&s);

	/*
	 * A function whose slot was replaced jumps to the library. The slot gets the function's own
	 * return address back.
	 */
	unsigned place = top(&s)->place;
	uint64_t ret = top(&s)->ret;

	c = probe_libcall(&stack[place], 1, &no_regs);
	assert_int_equal(c.replaced, 0);
	assert_int_equal(stack[place], ret);
	leave_until(&s, 0);
	expect(&s, RECORD_ENTRY, 0, 0x400020);
	expect(&s, RECORD_EXIT, 0, 0x400020);

	/* The call is too short for the threshold. */
	s.t->threshold_ns = SECOND;
	probe_libcall(&stack[900], 1, &no_regs);
	s.t->threshold_ns = 0;
	s.t->limit = s.t->top;
	probe_libcall(&stack[900], 1, &no_regs);
	end(&s);
}

/*
 * Some library functions look at their return address. Calls of these functions are led to
 * caller_call() if the return address would be the trampoline.
 */
TEST(test_library_calls_by_caller)
{
	struct call_site sites[] = {
		{ .target = 0x700000, .addr = 0x400010, .flags = PLAN_CALL_BY_CALLER },
	};
	struct arch_regs regs = { .r11 = 7, .rdx = 1, .rcx = 2 };
	struct libcall c;
	struct scene s;

	begin(&s);
	probe.calls = sites;
	call(&s);
	stack[1000] = 33;
	c = probe_libcall(&stack[1000], 0, &regs);
	assert_int_equal(c.replaced, 1);
	assert_int_equal(c.target, caller_call);
	assert_int_equal(arch_int_arg(&regs, NULL, 3), sites);
	assert_int_equal(arch_int_arg(&regs, NULL, 4), 7);
	assert_int_equal(stack[1000], TRAMPOLINE);
	expect(&s, RECORD_ENTRY, 1, 0x400010);
	assert_int_equal(probe_exit((uint64_t)&stack[1000], &no_regs), 33);
	expect(&s, RECORD_EXIT, 1, 0x400010);

	/* The call is not recorded, but a function whose slot was replaced makes it by a jump. */
	unsigned place = top(&s)->place;

	regs.rdx = 1;
	s.t->limit = s.t->top;
	c = probe_libcall(&stack[place], 0, &regs);
	assert_int_equal(c.replaced, 0);
	assert_int_equal(c.target, caller_call);
	assert_int_equal(regs.rdx, sites);
	/* The call is not recorded, and goes on as it does without the probe. */
	regs.rdx = 1;
	stack[900] = 44;
	c = probe_libcall(&stack[900], 0, &regs);
	assert_int_equal(c.replaced, 0);
	assert_int_equal(c.target, 0x700000);
	assert_int_equal(regs.rdx, 1);
	assert_int_equal(stack[900], 44);
	end(&s);
}

/*
 * A stub that finds the return slot by the frame pointer may find a copy of the slot: a function
 * that aligns its stack makes one.
 */
TEST(test_realigned_stack)
{
	static const struct {
		int apart; /* in words */
		uint64_t other;
		bool is_other;
	} cases[] = { { 1, 77, true },	 { 1, 78, false },   { 0, 77, false },
		      { 512, 77, true }, { 513, 77, false }, { -1, 77, false } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct scene s;
		uint64_t *other = &stack[2000 + cases[i].apart];

		begin(&s);
		*other = cases[i].other;
		stack[2000] = 77;
		assert_int_equal(probe_entry_framed(&stack[2000], 0x400000, &no_regs, other), 1);
		assert_int_equal(stack[2000], cases[i].is_other ? 77 : TRAMPOLINE);
		if (cases[i].apart)
			assert_int_equal(*other, cases[i].is_other ? TRAMPOLINE : cases[i].other);
		expect(&s, RECORD_ENTRY, 0, 0x400000);
		end(&s);
	}
}

/* A function pops its arguments: it moves its return address up to their place, and returns there. */
TEST(test_moved_return)
{
	static const struct {
		unsigned inner; /* the place of an inner call, which longjmp() has left */
		int up;		/* in words */
	} cases[] = {
		{ 2990, 3 }, { 2990, 127 }, { 2990, -2 },      { 2000, 3 },
		{ 100, 3 },  { 100, -2 },   { 3000 - 127, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct scene s;
		uint64_t ret;

		begin(&s);
		push(&s, 3500, fresh_return(&s));
		push(&s, 3000, ret = fresh_return(&s));
		if (cases[i].inner < 2990) {
			push(&s, cases[i].inner, fresh_return(&s));
			leave_until(&s, 2);
		}
		leave_until(&s, 1);
		assert_int_equal(probe_exit((uint64_t)&stack[3000 + cases[i].up], &no_regs), ret);
		leave(&s);
		end(&s);
	}
}

/*
 * A thread ends with open calls. Their slots get the program's addresses back, and the return
 * address of each of these calls is still found.
 */
TEST(test_end_of_thread)
{
	struct scene s;

	begin(&s);
	call(&s);
	call(&s);
	tail_call(&s);
	call(&s);
	stack[s.calls[4].place] = 99; /* the program has changed this slot */
	frames_unhook(s.t);
	assert_int_equal(stack[s.calls[1].place], s.calls[1].ret);
	assert_int_equal(stack[s.calls[2].place], s.calls[2].ret);
	assert_int_equal(stack[s.calls[4].place], 99);
	for (unsigned i = 1; i <= 4; i++) {
		if (s.calls[i].ret != TRAMPOLINE)
			assert_int_equal(frames_find_return((uint64_t)&stack[s.calls[i].place]),
					 s.calls[i].ret);
	}
	check(&s);

	/*
	 * The thread has no frames any more, but its return addresses are found in the frames of
	 * ended threads.
	 */
	frames_reset(s.t);
	assert_int_equal(frames_find_return((uint64_t)&stack[s.calls[2].place]), s.calls[2].ret);
	end(&s);
}

TEST(test_readable)
{
	assert_true(own_is_readable((uint64_t)stack));
	assert_false(own_is_readable(8));
	assert_false(own_is_readable(UINT64_MAX - 7));
}

/*
 * A call for which there is no room is not recorded, and its slot does not change. Its entry and
 * its exit are counted as lost.
 */
TEST(test_no_room)
{
	struct scene s;

	begin(&s);
	probe.plan.flags |= PLAN_DROP;
	call(&s);
	while (s.t->ring->lost == 0) {
		stack[1000] = 33;
		if (!probe_entry(&stack[1000], 0x400000, &no_regs))
			break;
		expect(&s, RECORD_ENTRY, 1, 0x400000);
		assert_int_equal(probe_exit((uint64_t)&stack[1000], &no_regs), 33);
		if (s.t->ring->lost == 0)
			expect(&s, RECORD_EXIT, 1, 0x400000);
	}
	assert_in_range(s.t->ring->lost, 1, 2);
	assert_int_equal(s.t->ring->lost_inside, 0);
	assert_int_equal(stack[1000], 33 + (s.t->ring->lost == 1) * (TRAMPOLINE - 33));
	end(&s);
}

/* --- -finstrument-functions --- */

void __cyg_profile_func_enter(void *fn, void *caller);
void __cyg_profile_func_exit(void *fn, void *caller);

__attribute__((noinline)) static void recurse(struct scene *s, unsigned depth, unsigned nr)
{
	uint64_t addr = 0x800000 + depth * 16;

	__cyg_profile_func_enter((void *)addr, (void *)0x1234);
	expect(s, RECORD_ENTRY, depth, addr);
	for (unsigned i = 0; depth < 5 && i < nr; i++)
		recurse(s, depth + 1, nr);
	expect(s, RECORD_EXIT, depth, addr);
	__cyg_profile_func_exit((void *)addr, (void *)0x1234);
}

TEST(test_explicit_calls)
{
	struct scene s;

	begin(&s);
	recurse(&s, 0, 3);
	check(&s);
	assert_ptr_equal(s.t->top, s.t->frames);
	end(&s);
}

/*
 * Recurse beyond the limit: exits of calls without a frame are told apart from those of recorded
 * calls.
 */
__attribute__((noinline)) static void recurse_past(struct scene *s, unsigned depth)
{
	uint64_t addr = 0x800000; /* all calls are of the same function */

	__cyg_profile_func_enter((void *)addr, (void *)0x1234);
	if (depth < 3)
		expect(s, RECORD_ENTRY, depth, addr);
	if (depth < 10)
		recurse_past(s, depth + 1);
	if (depth < 3)
		expect(s, RECORD_EXIT, depth, addr);
	__cyg_profile_func_exit((void *)addr, (void *)0x1234);
}

TEST(test_explicit_calls_past_the_limit)
{
	struct scene s;

	begin(&s);
	s.t->limit = s.t->frames + 3;
	recurse_past(&s, 0);
	check(&s);
	assert_int_equal(s.t->cyg_skipped, 0);
	recurse_past(&s, 0);
	end(&s);
}

int main(void)
{
	callers.bytes = UINT64_MAX; /* the test's return addresses are made up */
	return unit_run();
}
