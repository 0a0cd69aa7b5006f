/* The state of a thread determines the calls and returns that the stubs handle by themselves. */
#ifndef UTRAIL_LIBMCOUNT_STATE_H
#define UTRAIL_LIBMCOUNT_STATE_H

#include <stddef.h>

#include "libmcount/hot/hot.h"
#include "libmcount/hot/planned.h"

/*
 * No member of struct thread stores the thread's state. state_of() derives the state from several
 * members of struct thread and struct planned. @calls is one of these members: a stub changes the
 * state by storing another value in @calls. state_set() sets the members that stubs test:
 * @fast_limit, @fast_base, @drop_limit, @held_limit, @admitted and @calls.
 *
 * If probe.plain is set and the thread has no struct planned, the state is ALIKE or HELD. If the
 * thread has a struct planned, and each of its frames has a struct planned_frame, the state is
 * JUDGED, OUTSIDE or OUT. In these three states, the thread is called settled. planned_pass.h
 * explains the other states.
 */
enum thread_state {
	THREAD_ALIKE,	/* each call within the limit of -D gets a frame and an immediate ENTRY */
	THREAD_HELD,	/* -t: as ALIKE, but the ENTRY is held back */
	THREAD_JUDGED,	/* C code applies the rule of the called function */
	THREAD_OUTSIDE, /* no open call is opted in: functions without a rule are left alone */
	THREAD_OUT,	/* an open call is opted out: all calls are left alone */
	THREAD_READY,	/* like OUTSIDE, but a call that is opted in changes the state to OPEN */
	THREAD_OPEN,	/* functions without a rule are recorded as if there were no plan */
	THREAD_BARRED,	/* like OUT, but before the opted-out call, the state was OPEN */
	/* only in thread_transitions: JUDGED, OUTSIDE or OUT, as planned.now says */
	THREAD_SETTLED,
};

/*
 * Events that may change the state of a thread. The first four events are calls of functions whose
 * rule does only one thing. planned_pass.h explains the rules that opt a call in or out.
 * PLAN_LEFT_OUT (utils/format/probe/plan.h) marks the rules that leave a call out.
 */
enum thread_event {
	CALL_OPT_IN,	/* a call that the function's rule opts in */
	CALL_LET_IN,	/* like CALL_OPT_IN, but planned_is_alike() is true for the function */
	CALL_OPT_OUT,	/* a call that is opted out; no call within this call is recorded */
	CALL_LEFT_OUT,	/* a call that is left out; the calls within this call are not left out */
	CALL_UNRULED,	/* a call of a function without a rule */
	CALL_TOO_DEEP,	/* a call of a function without a rule, deeper than -D */
	CALL_RULED,	/* a call of a function whose rule fits none of the first four events */
	RETURN_OPT_IN,	/* the return of the call that changed the state from READY to OPEN */
	RETURN_OPT_OUT, /* the return of the call that changed the state from OPEN to BARRED */
	RETURN_SETTLED, /* the return of a call that was open when the thread was last settled */
	RETURN_OTHER,	/* the return of any other call */
	STATE_FITS,	/* planned_open() has found that the conditions for READY or OPEN are met */
	NR_THREAD_EVENTS
};

/* The reaction to an event. */
enum thread_action {
	DO_JUDGE,  /* planned_enter.c decides about the call */
	DO_ALONE,  /* the call gets no frame */
	DO_ENTRY,  /* the call gets a frame and an ENTRY */
	DO_HOLD,   /* the call gets a frame, and an ENTRY only if the call proves to be long */
	DO_MARK,   /* the call gets a frame that shows where the call ends, but no ENTRY */
	DO_EXIT,   /* the frame ends, with an EXIT if there was an ENTRY */
	DO_DROP,   /* the frame ends, and no EXIT is written */
	DO_SETTLE, /* planned_close() is called; then the event is handled in the next state */
};

struct thread_transition {
	enum thread_action action;
	enum thread_state next;
};

/*
 * If a state has no element for an event, there are two cases: C code judges the call (DO_JUDGE),
 * or the event cannot occur in this state.
 *
 * A stub sometimes hands a call over to C code, for example when the segment is full, or when the
 * recorder has stopped the tracing or replaced the plan. In this case planned_settle() first
 * settles the thread. A thread in the state ALIKE or HELD needs no settling.
 */
static const struct thread_transition thread_transitions[THREAD_SETTLED][NR_THREAD_EVENTS] = {
	[THREAD_ALIKE] = {
		[CALL_UNRULED]	 = { DO_ENTRY, THREAD_ALIKE },
		[CALL_TOO_DEEP]	 = { DO_ALONE, THREAD_ALIKE },
		[RETURN_OTHER]	 = { DO_EXIT, THREAD_ALIKE },
	},
	[THREAD_HELD] = {
		[CALL_UNRULED]	 = { DO_HOLD, THREAD_HELD },
		[CALL_TOO_DEEP]	 = { DO_ALONE, THREAD_HELD },
		[RETURN_OTHER]	 = { DO_DROP, THREAD_HELD },
	},
	[THREAD_JUDGED] = {
		[CALL_OPT_IN ... CALL_LET_IN] = { DO_ENTRY, THREAD_JUDGED },
		[CALL_OPT_OUT]	 = { DO_MARK, THREAD_OUT },
		[CALL_LEFT_OUT]	 = { DO_ALONE, THREAD_JUDGED },
		[CALL_UNRULED]	 = { DO_ENTRY, THREAD_JUDGED },
		[CALL_TOO_DEEP]	 = { DO_ALONE, THREAD_JUDGED },
		[CALL_RULED]	 = { DO_JUDGE, THREAD_SETTLED },
		[RETURN_OTHER]	 = { DO_EXIT, THREAD_SETTLED },
		[STATE_FITS]	 = { DO_ALONE, THREAD_OPEN },
	},
	[THREAD_OUTSIDE] = {
		[CALL_OPT_IN ... CALL_LET_IN] = { DO_ENTRY, THREAD_JUDGED },
		[CALL_OPT_OUT]	 = { DO_MARK, THREAD_OUT },
		[CALL_LEFT_OUT ... CALL_TOO_DEEP] = { DO_ALONE, THREAD_OUTSIDE },
		[CALL_RULED]	 = { DO_JUDGE, THREAD_SETTLED },
		[RETURN_OTHER]	 = { DO_EXIT, THREAD_SETTLED },
		[STATE_FITS]	 = { DO_ALONE, THREAD_READY },
	},
	[THREAD_OUT] = {
		[CALL_OPT_IN ... CALL_RULED] = { DO_ALONE, THREAD_OUT },
		[RETURN_OTHER]	 = { DO_DROP, THREAD_SETTLED },
	},
	[THREAD_READY] = {
		[CALL_OPT_IN ... CALL_LET_IN] = { DO_ENTRY, THREAD_OPEN },
		[CALL_OPT_OUT]	 = { DO_SETTLE, THREAD_OUTSIDE },
		[CALL_LEFT_OUT ... CALL_TOO_DEEP] = { DO_ALONE, THREAD_READY },
		[CALL_RULED]	 = { DO_SETTLE, THREAD_OUTSIDE },
		[RETURN_SETTLED] = { DO_SETTLE, THREAD_OUTSIDE },
	},
	[THREAD_OPEN] = {
		[CALL_OPT_IN]	 = { DO_SETTLE, THREAD_JUDGED },
		[CALL_LET_IN]	 = { DO_ENTRY, THREAD_OPEN },
		[CALL_OPT_OUT]	 = { DO_MARK, THREAD_BARRED },
		[CALL_LEFT_OUT]	 = { DO_ALONE, THREAD_OPEN },
		[CALL_UNRULED]	 = { DO_ENTRY, THREAD_OPEN },
		[CALL_TOO_DEEP]	 = { DO_ALONE, THREAD_OPEN },
		[CALL_RULED]	 = { DO_SETTLE, THREAD_JUDGED },
		[RETURN_OPT_IN]	 = { DO_EXIT, THREAD_READY },
		[RETURN_SETTLED] = { DO_SETTLE, THREAD_JUDGED },
		[RETURN_OTHER]	 = { DO_EXIT, THREAD_OPEN },
	},
	[THREAD_BARRED] = {
		[CALL_OPT_IN ... CALL_RULED] = { DO_ALONE, THREAD_BARRED },
		[RETURN_OPT_OUT] = { DO_DROP, THREAD_OPEN },
	},
};

#define STATE_NO_FRAME ((struct frame *)UINTPTR_MAX)

static inline enum thread_state state_of(const struct thread *t)
{
	const struct planned *p = t->planned;

	if (t->held_limit)
		return THREAD_HELD;
	if (!p)
		return t->fast_base == t->frames ? THREAD_ALIKE : THREAD_JUDGED;
	if (t->calls == p->pass)
		return THREAD_OPEN;
	if (t->calls == p->skip_out)
		return p->open_base ? THREAD_BARRED : THREAD_OUT;
	if (t->calls == p->skip_outside)
		return p->open_base ? THREAD_READY : THREAD_OUTSIDE;
	return THREAD_JUDGED;
}

/* Returns the state JUDGED, OUTSIDE or OUT, as planned.now says. */
static inline enum thread_state state_selected(const struct planned *p)
{
	if (p->now.out)
		return THREAD_OUT;
	return p->has_filter && p->now.in == 0 ? THREAD_OUTSIDE : THREAD_JUDGED;
}

/*
 * Returns the offset of a table in struct planned. In the state @state, the stubs look up calls in
 * this table. Returns 0 if the stubs use no such table in this state.
 */
static inline size_t state_table(enum thread_state state)
{
	switch (state) {
	case THREAD_OUTSIDE:
	case THREAD_READY:
		return offsetof(struct planned, skip_outside);
	case THREAD_OUT:
	case THREAD_BARRED:
		return offsetof(struct planned, skip_out);
	case THREAD_OPEN:
		return offsetof(struct planned, pass);
	default:
		return 0;
	}
}

static inline const struct planned_place *state_calls(const struct planned *p,
						      enum thread_state state)
{
	size_t table = state_table(state);

	return table ? (const void *)((const char *)p + table) : planned_no_calls;
}

/*
 * @state: the state of a thread that has a plan
 *
 * True when a thread in this state has a struct planned_frame for each frame. In the states from
 * THREAD_READY on, a frame that a stub has pushed has no struct planned_frame.
 */
static inline bool state_is_settled(enum thread_state state)
{
	return state < THREAD_READY;
}

/* Sets the limits so that the stubs handle no frame. */
static inline void state_limit_none(struct thread *t)
{
	t->fast_limit = t->frames;
	t->fast_base = STATE_NO_FRAME;
	t->held_limit = NULL;
	t->drop_limit = STATE_NO_FRAME;
	t->admitted = NULL;
}

/*
 * For a thread without a struct planned: lets the stubs handle all frames up to the depth
 * RECORD_DEPTH_MAX.
 *
 * The lower RECORD_ADDR_SHIFT bits of a frame's data word contain the depth of the call. For a new
 * frame, a stub copies these bits from the caller's frame, and adds 1 to the depth. frames[0]
 * belongs to no call. The depth in the data word of frames[0] is -1, so the outermost call, in
 * frames[1], gets the depth 0.
 */
static inline void state_limit_alike(struct thread *t, bool is_held)
{
	_Static_assert(RECORD_ADDR_SHIFT == 16 && (RECORD_DEPTH_MAX + 1) << RECORD_DEPTH_SHIFT ==
							  1 << RECORD_ADDR_SHIFT,
		       "known to the stubs");

	struct frame *limit = MIN(t->limit, t->frames + RECORD_DEPTH_MAX + 1);

	if (t->is_narrow)
		limit = MIN(t->held_limit ? t->held_limit : t->fast_limit, t->top);
	t->fast_limit = is_held ? t->frames : limit;
	t->fast_base = is_held ? STATE_NO_FRAME : t->frames;
	t->held_limit = is_held ? limit : NULL;
	/* With PLAN_TELLS_DEPTH, C code counts the calls that get no frame because of t->limit. */
	t->drop_limit = probe.plan.flags & PLAN_TELLS_DEPTH ? STATE_NO_FRAME : t->limit;
	t->admitted = NULL;
}

/*
 * Lets the stubs push at most planned.now.depth frames above the frame t->top. With @is_ready, the
 * first of these frames changes the state from READY to OPEN.
 */
static inline void state_limit_open(struct thread *t, const struct planned *p, bool is_ready)
{
	const struct selection *now = &p->now;
	uint32_t deeper = RECORD_DEPTH_MAX - now->level;

	t->admitted = is_ready ? t->top + 1 : NULL;
	t->fast_base = t->top + is_ready;
	t->fast_limit = MIN(t->limit, t->top + MIN(now->depth, deeper));
	t->drop_limit = MIN(t->limit, t->top + now->depth);
	/*
	 * With PLAN_TELLS_DEPTH, C code counts the calls that get no frame because of t->limit. So
	 * the stubs must hand these calls over to C code.
	 */
	if (t->drop_limit == t->limit && (probe.plan.flags & PLAN_TELLS_DEPTH))
		t->drop_limit = STATE_NO_FRAME;
}

/*
 * HOT: changes the state of @t from @from to @next. Does not store members of @t that have the same
 * value in both states.
 *
 * When a settled thread becomes READY or OPEN, the limits of state_limit_open() are stored before
 * @calls. When the thread becomes settled again, @calls is stored before the limits of
 * state_limit_none(). So while @calls says that the thread is not settled, the limits of
 * state_limit_open() are in force. This is true even if a signal handler leaves this function with
 * longjmp(3).
 */
static inline void state_set(struct thread *t, const struct planned *p, enum thread_state from,
			     enum thread_state next)
{
	if (state_is_settled(from) && !state_is_settled(next)) {
		state_limit_open(t, p, next == THREAD_READY);
		guard_barrier();
	}
	if (state_table(from) != state_table(next))
		t->calls = state_calls(p, next);
	if (!state_is_settled(from) && state_is_settled(next)) {
		guard_barrier();
		state_limit_none(t);
	}
}

/* HOT: event @what has happened in state @from. Sets the next state of @t. */
static inline void state_follow(struct thread *t, const struct planned *p, enum thread_state from,
				enum thread_event what)
{
	state_set(t, p, from, thread_transitions[from][what].next);
}

/*
 * HOT: sets the state of @t to JUDGED, OUTSIDE or OUT, as planned.now says. The caller must ensure
 * that @t is settled.
 */
static inline void state_select(struct thread *t)
{
	const struct planned *p = t->planned;

	t->calls = state_calls(p, state_selected(p));
}

/*
 * Sets the state in which a thread begins. Usually, the thread has no open calls. When
 * frames_narrow() or planned_begin_late() calls this function, the thread may have open calls.
 * frames_narrow() stores @is_narrow before the call.
 */
static inline void state_begin(struct thread *t)
{
	t->calls = planned_no_calls;
	if (probe.plain && !t->planned)
		state_limit_alike(t, t->threshold_ns != 0);
	else
		state_limit_none(t);
}

/*
 * HOT: called before a thread in the state OPEN pushes the frame @f. The fast paths must not write
 * the EXIT of @f, so C code must handle the end of @f. Therefore this function sets @fast_base to
 * @f: the fast paths pop only frames above @fast_base. When @f ends, state_let_go() restores the
 * former @fast_base.
 */
static inline void state_keep_back(struct thread *t, struct frame *f)
{
	t->planned->frames[f - t->frames].open.outer = t->fast_base;
	guard_barrier();
	t->fast_base = f;
	guard_barrier();
}

/* HOT: undoes state_keep_back(). Called before a thread in the state OPEN pops @f. */
static inline void state_let_go(struct thread *t, const struct frame *f)
{
	t->fast_base = t->planned->frames[f - t->frames].open.outer;
	guard_barrier();
}

#endif
