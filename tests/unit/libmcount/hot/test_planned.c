/*
 * Calls with rules. With random rules, and calls in random order, the records must be those of a
 * simple model.
 */
#include "libmcount/hot/planned.h"

#include <unistd.h>

#include "libmcount/plan/plans.h"
#include "libmcount/hot/frames.h"
#include "tests/unit/lib/probe/keeping.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "tests/unit/lib/probe/random_walks.h"

#define TRAMPOLINE  ((uint64_t)arch_return_trampoline)
#define STACK_WORDS 2048
#define MAX_STACK   24

/* The flags of rules that the model supports. */
#define ALL_RULES                                                                                  \
	((uint32_t)(PLAN_FILTER | PLAN_NOTRACE | PLAN_DEPTH | PLAN_TIME | PLAN_SIZE |              \
		    PLAN_CALLER | PLAN_TRACE | PLAN_TRACE_ON | PLAN_TRACE_OFF_AT | PLAN_CALLSITE | \
		    PLAN_LOCATION | PLAN_LOCATION_OUT | PLAN_LEFT_OUT | PLAN_COND))

static uint64_t stack[STACK_WORDS];

struct walk {
	struct pair pair;
	struct thread *t;
	struct keeping k;
	unsigned places[KEEPING_CALLS]; /* indexes of the return slots of open calls */
	bool is_announced;		/* by XRay's sleds, which replace no slot */
	uint64_t next_value;
};

static void begin(struct walk *w, uint64_t seed, uint32_t allowed)
{
	*w = (struct walk){ .next_value = 1000 };
	pair_init(&w->pair);
	w->pair.settings.max_stack = MAX_STACK;
	pair_open(&w->pair);
	keeping_begin(&w->k, seed, allowed);
	assert_int_equal(random_walk_obey(plans_begin, &w->k.plan), 0);
	w->t = self = pair_thread();
	assert_non_null(w->t);
}

static void end(struct walk *w)
{
	random_walk_end(&w->pair, &w->k, w->t);
}

/* Returns a value that it has never returned before, for an argument or a result. */
static uint64_t fresh(struct walk *w)
{
	return w->next_value += 1 + keeping_random(&w->k, 2);
}

static unsigned place_inside(struct walk *w)
{
	unsigned top = w->k.nr ? w->places[w->k.nr - 1] : STACK_WORDS - 8;

	return top - 1 - keeping_random(&w->k, 3);
}

static void check_top(struct walk *w)
{
	const struct keeping_call *c = &w->k.calls[w->k.nr - 1];

	assert_int_equal(w->t->top - w->t->frames, w->k.nr_frames);
	if (c->has_frame && !w->is_announced)
		assert_int_equal(stack[w->places[w->k.nr - 1]], TRAMPOLINE);
}

static void call_at(struct walk *w, unsigned place, unsigned func, uint64_t ret)
{
	uint64_t arg = fresh(w);
	struct arch_regs regs = arch_regs_of(arg, 0, 0);
	uint64_t before = stack[place];
	bool is_behind = w->k.is_behind;
	struct random_walk_step step = random_walk_step(w->t, &w->k, func);
	bool has_frame = keeping_enter(&w->k, func, arg, ret);

	w->places[w->k.nr - 1] = place;
	if (w->is_announced)
		probe_xray_entry(&stack[place], keeping_addr(func), &regs);
	else
		assert_int_equal(probe_entry(&stack[place], keeping_addr(func), &regs), has_frame);
	if (!has_frame || w->is_announced)
		assert_int_equal(stack[place], before);
	check_top(w);
	if (!is_behind)
		random_walk_check(step, w->t, &w->k);
}

static void call(struct walk *w)
{
	unsigned place = place_inside(w);

	stack[place] = 0x500000 + keeping_random(&w->k, 1000);
	call_at(w, place, keeping_random(&w->k, KEEPING_FUNCS), stack[place]);
}

/* Call a function by a jump: it returns to the caller of the jumping function. */
static void tail_call(struct walk *w)
{
	const struct keeping_call *c = &w->k.calls[w->k.nr - 1];

	if (c->has_frame)
		call_at(w, w->places[w->k.nr - 1], keeping_random(&w->k, KEEPING_FUNCS), c->ret);
}

/* Return from call number @nr. The calls inside of it end without returning. */
static void leave_to(struct walk *w, unsigned nr)
{
	const struct keeping_call *c = &w->k.calls[nr];
	uint64_t *slot = &stack[w->places[nr]];
	uint64_t result = fresh(w);
	struct arch_regs regs = arch_regs_of(0, 0, result);
	bool is_jump = nr && w->k.calls[nr - 1].has_frame && w->places[nr - 1] == w->places[nr];

	bool is_one = w->k.nr == nr + 1 && c->has_frame;
	struct random_walk_step step = random_walk_step(w->t, NULL, 0);

	while (w->k.nr > nr + 1)
		keeping_leave(&w->k, NULL);
	if (w->is_announced)
		probe_xray_exit((uint64_t)slot, &regs);
	else if (c->has_frame)
		assert_int_equal(probe_exit((uint64_t)slot, &regs), is_jump ? TRAMPOLINE : c->ret);
	keeping_leave(&w->k, &result);
	assert_int_equal(w->t->top - w->t->frames, w->k.nr_frames);
	if (is_one && !w->k.is_behind)
		random_walk_check(step, w->t, &w->k);
}

/* A call catches an exception, and then returns. */
static void leave_outer(struct walk *w)
{
	unsigned nr = keeping_random(&w->k, w->k.nr);

	/* After tail calls several calls have the same slot. The innermost one of them returns. */
	while (nr + 1 < w->k.nr && w->places[nr + 1] == w->places[nr])
		nr++;
	if (w->k.calls[nr].has_frame)
		leave_to(w, nr);
}

/* Make a library call whose return is not seen. */
static void instant(struct walk *w)
{
	unsigned func = keeping_random(&w->k, KEEPING_FUNCS);
	struct call_site site = {
		.target = 0x700000,
		.addr = keeping_addr(func),
		.flags = PLAN_CALL_NO_RETURN_HOOK,
	};
	uint64_t arg = fresh(w);
	struct arch_regs regs = arch_regs_of(arg, 0, 0);
	unsigned place = place_inside(w);

	stack[place] = 0x600000;
	probe.calls = &site;
	keeping_instant(&w->k, func, arg);
	assert_int_equal(probe_libcall(&stack[place], 0, &regs).replaced, 0);
	assert_int_equal(stack[place], 0x600000);
}

static void step(struct walk *w)
{
	unsigned what = keeping_random(&w->k, 100);

	if (w->k.nr > 40)
		leave_outer(w);
	else if (w->k.nr == 0 || what < 46)
		call(w);
	else if (what < 86)
		leave_to(w, w->k.nr - 1);
	else if (what < 90)
		leave_outer(w);
	else if (what < 93 && !w->is_announced)
		tail_call(w);
	else if (what < 96)
		instant(w);
	else
		keeping_pass(&w->k, w->t, 1 + keeping_random(&w->k, 2));
}

static void go(uint64_t seed, uint32_t allowed, unsigned turns, bool is_announced)
{
	struct walk w;

	begin(&w, seed, allowed);
	w.is_announced = is_announced;
	for (unsigned turn = 0; turn < turns; turn++) {
		for (unsigned i = 0; i < 300; i++) {
			step(&w);
			if (i % 50 == 0)
				pair_look(&w.pair, true);
		}
		if (turn + 1 < turns) {
			keeping_replace(&w.k);
			assert_int_equal(random_walk_obey(plans_replace, &w.k.next), 0);
		}
	}
	while (w.k.nr)
		leave_to(&w, w.k.nr - 1);
	end(&w);
}

TEST(calls_are_kept_as_the_rules_say)
{
	for (uint64_t seed = 1; seed <= 60; seed++)
		go(seed, ALL_RULES, 1, false);
}

/* These rules have fast paths. */
TEST(calls_of_simple_rules_are_kept_alike)
{
	for (uint64_t seed = 1; seed <= 60; seed++)
		go(seed, PLAN_FILTER | (seed & 1 ? PLAN_NOTRACE : PLAN_LEFT_OUT), 1, false);
}

TEST(calls_that_announce_their_returns_are_kept_alike)
{
	for (uint64_t seed = 101; seed <= 140; seed++)
		go(seed, ALL_RULES, 1, true);
	for (uint64_t seed = 141; seed <= 160; seed++)
		go(seed, PLAN_FILTER | PLAN_NOTRACE | PLAN_LEFT_OUT, 1, true);
}

TEST(another_plan_counts_from_the_next_call_on)
{
	for (uint64_t seed = 201; seed <= 230; seed++)
		go(seed, ALL_RULES, 4, false);
}
