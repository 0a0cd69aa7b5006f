/*
 * The states of a thread. The table is consistent. It also holds for functions that call the stubs
 * like compiled code, with any rules. Their records must be those of a simple model.
 */
#include "libmcount/hot/state.h"

#include <sys/mman.h>

#include "libmcount/plan/plans.h"
#include "tests/unit/lib/probe/keeping.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "tests/unit/lib/probe/random_walks.h"

TEST(each_call_has_a_way_in_each_state)
{
	for (enum thread_state s = THREAD_JUDGED; s < THREAD_SETTLED; s++) {
		for (enum thread_event what = CALL_OPT_IN; what <= CALL_RULED; what++) {
			const struct thread_transition *to = &thread_transitions[s][what];

			assert_int_not_equal(random_walk_next(s, what), 0);
			/* Settling leads from a state that is not settled to one that is. */
			if (to->action == DO_SETTLE)
				assert_true(!state_is_settled(s) && state_is_settled(to->next));
			if (to->action == DO_ALONE)
				assert_int_equal(to->next, s);
		}
	}
}

TEST(what_opens_closes_again)
{
	const struct {
		enum thread_state outer;
		enum thread_event begin, end;
		enum thread_state inner;
	} pairs[] = { { THREAD_READY, CALL_OPT_IN, RETURN_OPT_IN, THREAD_OPEN },
		      { THREAD_OPEN, CALL_OPT_OUT, RETURN_OPT_OUT, THREAD_BARRED } };

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		assert_int_equal(thread_transitions[pairs[i].outer][pairs[i].begin].next,
				 pairs[i].inner);
		assert_int_equal(thread_transitions[pairs[i].inner][pairs[i].end].next,
				 pairs[i].outer);
	}
}

#ifdef __x86_64__

void __fentry__(void);

#define MAX_LEVEL 10

static struct walk {
	struct pair pair;
	struct thread *t;
	struct keeping k;
	unsigned nr_calls;
	unsigned seen[THREAD_SETTLED];
} walk;

static void check(struct random_walk_step step, bool is_behind)
{
	if (!is_behind)
		random_walk_check(step, walk.t, &walk.k);
	walk.seen[state_of(walk.t)]++;
}

static uint64_t call(unsigned func, unsigned level);

/* The body of a function that a hook has announced. Returns the result for its caller. */
static uint64_t body(uint64_t arg, unsigned level)
{
	struct keeping *k = &walk.k;
	uint64_t result;

	for (unsigned i = keeping_random(k, 4); i > 0 && level < MAX_LEVEL; i--)
		call(keeping_random(k, KEEPING_FUNCS), level + 1);
	if (++walk.nr_calls % 32 == 0)
		pair_look(&walk.pair, true);
	if (keeping_random(k, 16) == 0)
		keeping_pass(k, walk.t, 1 + keeping_random(k, 2));
	result = arg + 1;
	return result;
}

/* The hook of the function has returned, and the function begins. */
static struct random_walk_step step_in;
static bool is_behind_in;

static uint64_t begun(uint64_t arg, unsigned level)
{
	check(step_in, is_behind_in);
	return body(arg, level);
}

/*
 * Write a function that calls the hook by `call *%r11`. This call ends at @addr, the address that
 * the stub announces. An address is loaded into %r11 before the call, and again after it.
 */
static void put_function(uint64_t addr)
{
	const uint8_t load[] = { 0x49, 0xbb };
	const uint8_t call_it[] = { 0x41, 0xff, 0xd3 };
	const uint8_t jump[] = { 0x41, 0xff, 0xe3 };
	uint64_t hook = (uint64_t)__fentry__;
	uint64_t go_on = (uint64_t)begun;
	uint8_t *at = (uint8_t *)addr;

	memcpy(at - 13, load, sizeof(load));
	memcpy(at - 11, &hook, sizeof(hook));
	memcpy(at - 3, call_it, sizeof(call_it));
	memcpy(at, load, sizeof(load));
	memcpy(at + 2, &go_on, sizeof(go_on));
	memcpy(at + 10, jump, sizeof(jump));
}

static uint64_t call(unsigned func, unsigned level)
{
	uint64_t (*fn)(uint64_t arg, unsigned level);
	struct keeping *k = &walk.k;
	/* The argument lacks the bit that conditions test. */
	uint64_t arg = 2 * (1 + keeping_random(k, 1000));
	uint64_t result;
	bool has_frame;

	step_in = random_walk_step(walk.t, k, func);
	is_behind_in = k->is_behind;
	has_frame = keeping_enter(k, func, arg, 0);
	fn = (void *)(keeping_addr(func) - 13);
	result = fn(arg, level);
	assert_int_equal(result, arg + 1);
	keeping_leave(k, &result);
	random_walk_check_limits(walk.t);
	assert_int_equal(walk.t->top - walk.t->frames, k->nr_frames);
	return has_frame;
}

static void go(uint64_t seed, uint32_t allowed, bool replaces)
{
	pair_init(&walk.pair);
	pair_open(&walk.pair);
	keeping_begin(&walk.k, seed, allowed);
	assert_int_equal(random_walk_obey(plans_begin, &walk.k.plan), 0);
	walk.t = self = pair_thread();
	assert_non_null(walk.t);
	probe_skips = true;
	for (walk.nr_calls = 0; walk.nr_calls < 400;) {
		call(keeping_random(&walk.k, KEEPING_FUNCS), 0);
		if (replaces && keeping_random(&walk.k, 8) == 0) {
			keeping_replace(&walk.k);
			assert_int_equal(random_walk_obey(plans_replace, &walk.k.next), 0);
		}
	}
	random_walk_end(&walk.pair, &walk.k, walk.t);
}

TEST(stubs_go_by_the_table)
{
	const uint32_t simple = PLAN_FILTER | PLAN_NOTRACE;
	const uint32_t all = simple | PLAN_DEPTH | PLAN_TIME | PLAN_SIZE | PLAN_CALLER |
			     PLAN_TRACE | PLAN_TRACE_ON | PLAN_TRACE_OFF_AT | PLAN_LEFT_OUT;

	for (unsigned i = 0; i < KEEPING_FUNCS; i++) {
		uint64_t page = (keeping_addr(i) - 64) & ~4095UL;
		void *at = mmap((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

		assert_ptr_equal(at, page);
		for (unsigned j = 0; j < KEEPING_FUNCS; j++) {
			if (keeping_addr(j) - page < 8192)
				put_function(keeping_addr(j));
		}
	}
	for (uint64_t seed = 1; seed <= 40; seed++)
		go(seed, seed % 2 ? simple : simple | PLAN_LEFT_OUT, seed % 4 == 0);
	for (uint64_t seed = 41; seed <= 80; seed++)
		go(seed, all, seed % 4 == 0);
	for (enum thread_state s = THREAD_JUDGED; s < THREAD_SETTLED; s++)
		assert_int_not_equal(walk.seen[s], 0);
}

#else

TEST(stubs_go_by_the_table)
{
	skip();
}

#endif
