/* Random walks of calls; the recorder must have the records that the model of keeping.h expects. */
#ifndef UTRAIL_TESTS_WALKS_H
#define UTRAIL_TESTS_WALKS_H

#include <unistd.h>

#include "libmcount/plan/plans.h"
#include "tests/unit/lib/probe/keeping.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

/* Give @plan to the probe. */
static inline int random_walk_obey(int (*how)(int fd), const struct keeping_plan *plan)
{
	int fd = keeping_image(plan);
	int ret = how(fd);

	close(fd);
	return ret;
}

/*
 * The state of @t before an event, and the event itself, from the table in libmcount/hot/state.h.
 * The event is a call of @func, or, with @k NULL, the return of the innermost call, which has a
 * frame.
 */
struct random_walk_step {
	enum thread_state state;
	enum thread_event what;
};

static inline struct random_walk_step random_walk_step(const struct thread *t,
						       const struct keeping *k, unsigned func)
{
	struct random_walk_step step = { state_of(t), RETURN_OTHER };
	bool is_settled = state_is_settled(step.state);

	if (k)
		step.what = keeping_event(k, func);
	else if (step.state == THREAD_BARRED)
		step.what = RETURN_OPT_OUT;
	else if (!is_settled && t->top == t->planned->open_base)
		step.what = RETURN_SETTLED;
	else if (!is_settled && t->top == t->admitted)
		step.what = RETURN_OPT_IN;
	return step;
}

/* The states of settled threads. random_walk_check() finds out which of them is the right one. */
#define WALKS_SETTLED (1U << THREAD_JUDGED | 1U << THREAD_OUTSIDE | 1U << THREAD_OUT)

static inline unsigned random_walk_next(enum thread_state state, enum thread_event what)
{
	const struct thread_transition *to = &thread_transitions[state][what];

	/* Only a call with a rule can be judged: other events do not happen in this state. */
	if (to->action == DO_JUDGE && what != CALL_RULED)
		return 0;
	if (to->action == DO_SETTLE)
		to = &thread_transitions[to->next][what == RETURN_SETTLED ? RETURN_OTHER : what];
	return to->next == THREAD_SETTLED ? WALKS_SETTLED : 1U << to->next;
}

/*
 * Returns the set of states that may follow: the thread may be settled first, and may become ready
 * or open afterwards.
 */
static inline unsigned random_walk_reached(struct random_walk_step step)
{
	unsigned next = random_walk_next(step.state, step.what);

	assert_int_not_equal(next, 0);
	for (enum thread_state s = 0; !state_is_settled(step.state) && s < THREAD_READY; s++) {
		if (WALKS_SETTLED & 1U << s)
			next |= random_walk_next(s,
						 step.what > CALL_RULED ? RETURN_OTHER : step.what);
	}
	for (enum thread_state s = 0; s < THREAD_READY; s++) {
		if (next & 1U << s)
			next |= 1U << thread_transitions[s][STATE_FITS].next;
	}
	return next & ~(1U << THREAD_ALIKE | 1U << THREAD_HELD);
}

/* Check that the words that the stubs compare follow from the state. */
static inline void random_walk_check_limits(const struct thread *t)
{
	const struct planned *p = t->planned;
	enum thread_state state = state_of(t);
	uint32_t deeper = RECORD_DEPTH_MAX - p->now.level;

	assert_ptr_equal(t->calls, state_calls(p, state));
	assert_null(t->held_limit);
	if (state_is_settled(state)) {
		assert_null(p->open_base);
		assert_null(t->admitted);
		assert_ptr_equal(t->fast_limit, t->frames);
		assert_ptr_equal(t->fast_base, STATE_NO_FRAME);
		assert_ptr_equal(t->drop_limit, STATE_NO_FRAME);
		return;
	}
	assert_int_equal(p->now.out, state == THREAD_BARRED);
	if (p->is_ready)
		assert_int_equal(p->now.in, state != THREAD_READY);
	assert_ptr_equal(t->admitted, p->is_ready ? p->open_base + 1 : NULL);
	assert_in_range(t->fast_base - t->frames, p->open_base - t->frames, t->top - t->frames + 1);
	assert_ptr_equal(t->fast_limit, MIN(t->limit, p->open_base + MIN(p->now.depth, deeper)));
}

/* Check after the event that the table leads to the thread's new state; @k has the model's. */
static inline void random_walk_check(struct random_walk_step step, const struct thread *t,
				     const struct keeping *k)
{
	enum thread_state state = state_of(t);
	bool is_outside = (k->plan.settings.flags & PLAN_OPT_IN_FILTER) && !k->inside.in;

	random_walk_check_limits(t);
	assert_int_not_equal(random_walk_reached(step) & 1U << state, 0);
	if (k->inside.out)
		assert_true(state == THREAD_OUT || state == THREAD_BARRED);
	else if (is_outside)
		assert_true(state == THREAD_OUTSIDE || state == THREAD_READY);
	else
		assert_true(state == THREAD_JUDGED || state == THREAD_OPEN);
}

/*
 * All calls of @t have ended. Compare the records with those that @k expects, and leave nothing of
 * this walk for the next one.
 */
static inline void random_walk_end(struct pair *pair, struct keeping *k, const struct thread *t)
{
	int32_t tid = t->ring->tid;

	pair_look(pair, true);

	struct strbuf file cleanup_strbuf = pair_data(pair, tid);

	assert_int_equal(t->busy, 0);
	assert_int_equal(t->ring->lost, 0);
	keeping_check(k, &file);
	strbuf_deinit(&k->expected);
	pair_stop(pair);
	pair_close(pair);
	atomic_store(&probe_threads, NULL);
	assert_int_equal(plans_reclaim(), 0);
}

#endif
