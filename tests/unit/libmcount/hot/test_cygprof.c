/*
 * -finstrument-functions with rules. Functions call the hooks as compilers make them do: with other
 * functions inlined, and with calls that are not recorded around and inside of recorded ones. The
 * records must be those of a simple model.
 */
#include <unistd.h>

#include "libmcount/hot/frames.h"
#include "libmcount/plan/plans.h"
#include "libmcount/hot/planned_pass.h"
#include "tests/unit/lib/probe/keeping.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "tests/unit/lib/probe/random_walks.h"
#include "utils/base/compiler.h"

#define MAX_LEVEL 12

#define ALL_RULES                                                                                  \
	((uint32_t)(PLAN_FILTER | PLAN_NOTRACE | PLAN_DEPTH | PLAN_TIME | PLAN_SIZE |              \
		    PLAN_CALLER | PLAN_TRACE | PLAN_TRACE_ON | PLAN_TRACE_OFF_AT | PLAN_LOCATION | \
		    PLAN_LOCATION_OUT | PLAN_LEFT_OUT))

void __cyg_profile_func_enter(void *fn, void *caller);
void __cyg_profile_func_exit(void *fn, void *caller);

struct walk {
	struct pair pair;
	struct thread *t;
	struct keeping k;
	unsigned nr_calls;
	unsigned replaced_at; /* the number of calls after which another plan comes; 0: never */
	unsigned funcs;	      /* the number of functions that are called */
	bool is_behind;	      /* the table does not describe the next step */
};

static void begin(struct walk *w, uint64_t seed, uint32_t allowed)
{
	*w = (struct walk){ .funcs = KEEPING_FUNCS };
	pair_init(&w->pair);
	pair_open(&w->pair);
	keeping_begin(&w->k, seed, allowed);
	w->k.has_no_regs = true;
	assert_int_equal(random_walk_obey(plans_begin, &w->k.plan), 0);
	w->t = self = pair_thread();
	assert_non_null(w->t);
}

static void end(struct walk *w)
{
	assert_ptr_equal(w->t->top, w->t->frames);
	random_walk_end(&w->pair, &w->k, w->t);
}

/* Before some calls, records are taken from the ring, time passes, or a new plan comes. */
static void go_on(struct walk *w)
{
	if (++w->nr_calls % 32 == 0)
		pair_look(&w->pair, true);
	if (keeping_random(&w->k, 16) == 0)
		keeping_pass(&w->k, w->t, 1 + keeping_random(&w->k, 2));
	if (w->replaced_at && w->nr_calls % w->replaced_at == 0) {
		keeping_replace(&w->k);
		assert_int_equal(random_walk_obey(plans_replace, &w->k.next), 0);
	}
}

static struct random_walk_step before_enter(struct walk *w, unsigned func)
{
	struct random_walk_step step;

	go_on(w);
	step = random_walk_step(w->t, &w->k, func);
	w->is_behind = w->k.is_behind;
	keeping_enter(&w->k, func, 1, 0);
	return step;
}

static struct random_walk_step before_leave(struct walk *w)
{
	/* If a call has no frame, no hook sees its end. */
	w->is_behind = w->k.is_behind || !w->k.calls[w->k.nr - 1].has_frame;
	keeping_leave(&w->k, NULL);
	return random_walk_step(w->t, NULL, 0);
}

static void after(struct walk *w, struct random_walk_step step)
{
	if (!w->is_behind)
		random_walk_check(step, w->t, &w->k);
}

/*
 * Calls the hook with a function's own arguments. They must be computed in the function itself,
 * whose stack pointer counts.
 */
#define ENTER(w, func)                                                                             \
	do {                                                                                       \
		struct random_walk_step step = before_enter(w, func);                              \
		__cyg_profile_func_enter((void *)keeping_addr(func), __builtin_return_address(0)); \
		after(w, step);                                                                    \
	} while (0)
#define LEAVE(w, func)                                                                            \
	do {                                                                                      \
		struct random_walk_step step = before_leave(w);                                   \
		__cyg_profile_func_exit((void *)keeping_addr(func), __builtin_return_address(0)); \
		after(w, step);                                                                   \
	} while (0)

NOINLINE static void function(struct walk *w, unsigned level)
{
	unsigned func = keeping_random(&w->k, w->funcs);

	ENTER(w, func);
	for (unsigned i = keeping_random(&w->k, 4); i > 0; i--) {
		unsigned inlined = keeping_random(&w->k, w->funcs);
		bool has_inlined = keeping_random(&w->k, 4) == 0;

		if (has_inlined)
			ENTER(w, inlined);
		if (level < MAX_LEVEL)
			function(w, level + 1);
		if (has_inlined)
			LEAVE(w, inlined);
	}
	LEAVE(w, func);
}

static void go(uint64_t seed, uint32_t allowed, unsigned funcs, unsigned replaced_at)
{
	struct walk w;

	begin(&w, seed, allowed);
	w.funcs = funcs;
	w.replaced_at = replaced_at;
	while (w.nr_calls < 300)
		function(&w, 0);
	end(&w);
}

TEST(calls_are_kept_as_the_rules_say)
{
	for (uint64_t seed = 1; seed <= 50; seed++)
		go(seed, ALL_RULES, KEEPING_FUNCS, 0);
}

TEST(calls_of_simple_rules_are_kept_alike)
{
	for (uint64_t seed = 51; seed <= 100; seed++)
		go(seed, PLAN_FILTER | (seed & 1 ? PLAN_NOTRACE : PLAN_LEFT_OUT), KEEPING_FUNCS, 0);
}

/* An exit may belong to any of several open calls, which are of the same function. */
TEST(functions_that_call_themselves_are_told_apart)
{
	for (uint64_t seed = 101; seed <= 150; seed++)
		go(seed, seed & 1 ? ALL_RULES : PLAN_FILTER | PLAN_NOTRACE, 3, 0);
}

/*
 * The function ends with the call of the exit hook, which compilers turn into a jump. In the hook
 * the stack pointer is the caller's.
 */
NOINLINE static void recurse_past(struct thread *t, unsigned limit, unsigned depth)
{
	uint64_t addr = 0x800000 + depth % 2 * (depth < 8) * 16;

	__cyg_profile_func_enter((void *)addr, __builtin_return_address(0));
	if (depth < 12)
		recurse_past(t, limit, depth + 1);
	assert_int_equal(t->top - t->frames, MIN(depth + 1, limit));
	assert_int_equal(t->cyg_skipped, depth < limit ? 0 : depth - limit + 1);
	__cyg_profile_func_exit((void *)addr, __builtin_return_address(0));
}

TEST(calls_without_room_end_no_others)
{
	struct pair pair;
	struct thread *t;

	pair_init(&pair);
	pair_open(&pair);
	t = self = pair_thread();
	assert_non_null(t);
	for (unsigned limit = 1; limit < 13; limit++) {
		t->limit = t->fast_limit = t->frames + limit;
		recurse_past(t, limit, 0);
		assert_ptr_equal(t->top, t->frames);
		assert_int_equal(t->cyg_skipped + t->cyg_deep, 0);
		pair_look(&pair, true);
	}
	pair_stop(&pair);
	pair_close(&pair);
}
