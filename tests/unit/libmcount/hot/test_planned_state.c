/*
 * Calls with rules: effects of rules other than choosing calls, calls whose return is not seen, and
 * the thread's state under its plan.
 */
#include "libmcount/hot/planned.h"

#include <unistd.h>

#include "libmcount/plan/plans.h"
#include "libmcount/system/fault.h"
#include "libmcount/hot/frames.h"
#include "libmcount/hot/guard.h"
#include "libmcount/hot/planned_private.h"
#include "tests/unit/lib/probe/keeping.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/format/event_ids.h"

#define TRAMPOLINE ((uint64_t)arch_return_trampoline)
#define UNIT	   KEEPING_UNIT_NS

static uint64_t stack[256];
static uint64_t watched;

struct scene {
	struct pair pair;
	struct thread *t;
	struct keeping_plan plan;
	struct strbuf file;
	size_t at;
	int32_t tid;
};

static int obey(int (*how)(int fd), const struct keeping_plan *plan)
{
	int fd = keeping_image(plan);
	int ret = how(fd);

	close(fd);
	return ret;
}

/* The test may change the plan before start(). */
static void prepare(struct scene *s)
{
	*s = (struct scene){ 0 };
	pair_init(&s->pair);
	pair_open(&s->pair);
	keeping_plain(&s->plan);
}

static void start(struct scene *s)
{
	assert_int_equal(obey(plans_begin, &s->plan), 0);
	s->t = self = pair_thread();
	assert_non_null(s->t);
	s->tid = s->t->ring->tid;
}

static void give_rule(struct scene *s, unsigned func, struct plan_rule rule)
{
	s->plan.funcs[func].has_rule = true;
	s->plan.funcs[func].rule = rule;
}

static void replace(struct scene *s)
{
	assert_int_equal(obey(plans_replace, &s->plan), 0);
}

static void stop(struct scene *s)
{
	assert_int_equal(s->t->busy, 0);
	strbuf_deinit(&s->file);
	pair_stop(&s->pair);
	pair_close(&s->pair);
	atomic_store(&probe_threads, NULL);
	assert_int_equal(plans_reclaim(), 0);
}

static uint64_t *place(unsigned depth)
{
	return &stack[250 - 2 * depth];
}

static uint32_t call(unsigned depth, unsigned func)
{
	struct arch_regs regs = arch_regs_of(1, 0, 0);

	*place(depth) = 0x500000 + depth;
	return probe_entry(place(depth), keeping_addr(func), &regs);
}

static void leave(unsigned depth)
{
	struct arch_regs regs = arch_regs_of(0, 0, 7);

	assert_int_equal(probe_exit((uint64_t)place(depth), &regs), 0x500000 + depth);
}

static void one(unsigned depth, unsigned func)
{
	assert_int_equal(call(depth, func), 1);
	leave(depth);
}

static void pass(struct scene *s, unsigned units)
{
	pair_pass(units * UNIT);
	s->t->base_ns += units * UNIT;
}

/* Expect that the next record has this kind, depth and function (or event). Returns its time. */
static uint64_t expect(struct scene *s, enum record_type type, unsigned depth, uint64_t addr)
{
	const struct record *r;

	if (s->at == s->file.len) {
		strbuf_deinit(&s->file);
		pair_look(&s->pair, true);
		s->file = pair_data(&s->pair, s->tid);
	}
	assert_in_range(s->at + sizeof(*r), 1, s->file.len);
	r = (const struct record *)(s->file.data + s->at);
	assert_int_equal(r->data & ~RECORD_MORE, record_data(type, depth, addr));
	s->at += sizeof(*r);
	if (record_has_more(r->data)) {
		uint16_t len;

		memcpy(&len, s->file.data + s->at, sizeof(len));
		s->at += type == RECORD_EVENT ? ALIGN_UP(sizeof(len) + len, 8U) : 8;
	}
	return r->time_ns;
}

static uint64_t expect_entry(struct scene *s, unsigned depth, unsigned func)
{
	return expect(s, RECORD_ENTRY, depth, keeping_addr(func));
}

static uint64_t expect_exit(struct scene *s, unsigned depth, unsigned func)
{
	return expect(s, RECORD_EXIT, depth, keeping_addr(func));
}

static uint64_t expect_event(struct scene *s, uint32_t id)
{
	return expect(s, RECORD_EVENT, 0, id);
}

static void expect_nothing(struct scene *s)
{
	pair_look(&s->pair, true);

	struct strbuf file cleanup_strbuf = pair_data(&s->pair, s->tid);

	assert_int_equal(s->at, file.len);
}

/* --- recover --- */

TEST(the_program_sees_its_own_returns_while_it_is_inside)
{
	struct scene s;

	prepare(&s);
	give_rule(&s, 2, (struct plan_rule){ .flags = PLAN_RECOVER });
	start(&s);
	call(0, 0);
	call(1, 1);
	call(2, 3);
	assert_int_equal(*place(0), TRAMPOLINE);
	call(3, 2);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(*place(i), 0x500000 + i);
	/*
	 * The slot of this call stays replaced, since the probe sees the return by it. So do the
	 * slots of its callees.
	 */
	assert_int_equal(*place(3), TRAMPOLINE);
	one(4, 4);
	call(4, 4);
	assert_int_equal(*place(4), TRAMPOLINE);
	leave(4);
	/* If the program has changed a slot, the change is kept. */
	*place(1) = 4711;
	leave(3);
	assert_int_equal(*place(0), TRAMPOLINE);
	assert_int_equal(*place(1), 4711);
	assert_int_equal(*place(2), TRAMPOLINE);
	*place(1) = TRAMPOLINE;
	leave(2);
	leave(1);
	leave(0);
	stop(&s);
}

/* Two calls share one return slot. The program's return address is in the outer call. */
TEST(what_a_jump_has_left_is_found_too)
{
	struct arch_regs regs = { 0 };
	struct scene s;

	prepare(&s);
	give_rule(&s, 2, (struct plan_rule){ .flags = PLAN_RECOVER });
	start(&s);
	call(0, 0);
	assert_int_equal(probe_entry(place(0), keeping_addr(1), &regs), 1);
	assert_int_equal(planned_own_return(s.t->top), 0x500000);
	call(1, 2);
	assert_int_equal(*place(0), 0x500000);
	leave(1);
	assert_int_equal(*place(0), TRAMPOLINE);
	/* If a jump has entered function 2 itself, its slot stays as it is. */
	assert_int_equal(probe_entry(place(0), keeping_addr(2), &regs), 1);
	assert_int_equal(*place(0), TRAMPOLINE);
	assert_int_equal(probe_exit((uint64_t)place(0), &regs), TRAMPOLINE);
	assert_int_equal(*place(0), TRAMPOLINE);
	assert_int_equal(probe_exit((uint64_t)place(0), &regs), TRAMPOLINE);
	assert_int_equal(probe_exit((uint64_t)place(0), &regs), 0x500000);
	stop(&s);
}

/* --- functions that are let in by filters alone --- */

static void let_in(struct scene *s, const unsigned *funcs, unsigned nr)
{
	prepare(s);
	s->plan.settings.flags |= PLAN_OPT_IN_FILTER;
	s->plan.settings.depth = probe.plan.max_stack;
	for (unsigned i = 0; i < nr; i++)
		give_rule(s, funcs[i], (struct plan_rule){ .flags = PLAN_FILTER });
}

/*
 * The stubs alone handle the inner two of three nested calls. Only the first call of each function
 * leads to a hook.
 */
TEST(a_thread_stays_open_where_more_is_let_in)
{
	const unsigned funcs[] = { 1, 2 };
	const struct frame *base;
	struct scene s;

	let_in(&s, funcs, 2);
	start(&s);
	/* The second call finds the function simple, so the third one opens the thread. */
	one(0, 1);
	one(0, 1);
	assert_int_equal(state_of(s.t), THREAD_READY);
	call(0, 1);
	assert_int_equal(state_of(s.t), THREAD_OPEN);
	base = s.t->planned->open_base;
	for (unsigned i = 0; i < 2; i++) {
		call(1, 2);
		call(2, 1);
		assert_int_equal(state_of(s.t), THREAD_OPEN);
		assert_ptr_equal(s.t->planned->open_base, base);
		assert_true(planned_knows(s.t, keeping_addr(2)));
		assert_true(planned_knows(s.t, keeping_addr(1)));
		leave(2);
		leave(1);
	}
	leave(0);
	assert_int_equal(state_of(s.t), THREAD_READY);
	assert_int_equal(call(0, 3), 0);
	stop(&s);
}

static void expect_settled_at_second(struct scene *s)
{
	call(0, 1);
	call(1, 1);
	call(2, 1);
	assert_int_not_equal(state_of(s->t), THREAD_OPEN);
	assert_false(planned_knows(s->t, keeping_addr(1)));
	leave(2);
	leave(1);
	leave(0);
}

/*
 * Each call of a function that is opted in gets all levels of depth again, however few were left.
 */
TEST(depth_is_set_anew_where_it_counts)
{
	const unsigned funcs[] = { 1 };
	struct scene s;

	let_in(&s, funcs, 1);
	s.plan.settings.depth = probe.plan.max_stack - 1;
	start(&s);
	expect_settled_at_second(&s);
	stop(&s);
	let_in(&s, funcs, 1);
	give_rule(&s, 2, (struct plan_rule){ .flags = PLAN_DEPTH, .depth = 60 });
	start(&s);
	expect_settled_at_second(&s);
	stop(&s);
}

/* --- finish, read, switches --- */

TEST(finish_shows_what_is_open_and_then_nothing)
{
	struct scene s;

	prepare(&s);
	s.plan.settings.threshold_ns = 5 * UNIT;
	give_rule(&s, 2, (struct plan_rule){ .flags = PLAN_FINISH });
	start(&s);
	call(0, 0);
	call(1, 1);
	s.pair.rec.control->finished = 0;
	call(2, 2);
	assert_true(probe.is_finished);
	assert_false(probe.tracing);
	assert_int_equal(s.pair.proc->arena->finish_wanted, 1);
	assert_int_equal(call(3, 3), 0);
	leave(2);
	leave(1);
	leave(0);
	expect_entry(&s, 0, 0);
	expect_entry(&s, 1, 1);
	expect_entry(&s, 2, 2);
	expect_nothing(&s);
	stop(&s);
}

/* The finish event is recorded, although tracing was off. */
TEST(finish_is_shown_while_it_is_off)
{
	struct scene s;

	prepare(&s);
	give_rule(&s, 1, (struct plan_rule){ .flags = PLAN_TRACE_OFF_AT });
	give_rule(&s, 2, (struct plan_rule){ .flags = PLAN_FINISH });
	start(&s);
	call(0, 0);
	call(1, 1);
	call(2, 3);
	call(3, 2);
	assert_false(probe.tracing);
	expect_entry(&s, 0, 0);
	expect_entry(&s, 3, 2);
	expect_nothing(&s);
	for (unsigned i = 4; i-- > 0;)
		leave(i);
	stop(&s);
}

TEST(read_is_at_both_ends)
{
	struct scene s;

	prepare(&s);
	give_rule(&s, 1, (struct plan_rule){ .flags = PLAN_READ, .read = PLAN_READ_PAGE_FAULT });
	give_rule(&s, 2, (struct plan_rule){ .flags = PLAN_TRACE_OFF_AT });
	give_rule(
		&s, 3,
		(struct plan_rule){ .flags = PLAN_READ | PLAN_TRACE_ON, .read = PLAN_READ_STATM });
	start(&s);
	one(0, 1);
	call(0, 0);
	call(1, 1);
	one(2, 1);
	leave(1);
	expect_entry(&s, 0, 1);
	expect_event(&s, EVENT_ID_READ_PAGE_FAULT);
	expect_event(&s, EVENT_ID_DIFF_PAGE_FAULT);
	expect_exit(&s, 0, 1);
	expect_entry(&s, 0, 0);
	expect_entry(&s, 1, 1);
	expect_event(&s, EVENT_ID_READ_PAGE_FAULT);
	expect_entry(&s, 2, 1);
	expect_event(&s, EVENT_ID_READ_PAGE_FAULT);
	expect_event(&s, EVENT_ID_DIFF_PAGE_FAULT);
	expect_exit(&s, 2, 1);
	expect_event(&s, EVENT_ID_DIFF_PAGE_FAULT);
	expect_exit(&s, 1, 1);
	/* No events are read while tracing is off. */
	call(1, 2);
	one(2, 1);
	one(2, 3);
	leave(1);
	leave(0);
	expect_entry(&s, 2, 3);
	expect_event(&s, EVENT_ID_READ_STATM);
	expect_event(&s, EVENT_ID_DIFF_STATM);
	expect_exit(&s, 2, 3);
	expect_exit(&s, 1, 2);
	expect_exit(&s, 0, 0);
	expect_nothing(&s);
	stop(&s);
}

/* --- a variable that is watched --- */

TEST(a_change_is_told_in_front_of_the_record_that_finds_it)
{
	struct scene s;
	uint64_t entry_ns;
	uint64_t event_ns;

	prepare(&s);
	s.plan.watch = (struct plan_watch){ (uint64_t)&watched, 8 };
	start(&s);
	watched = 1;
	call(0, 0);
	/* The first value comes after the first record: there is no earlier one. */
	entry_ns = expect_entry(&s, 0, 0);
	event_ns = expect_event(&s, EVENT_ID_WATCH_VAR);
	assert_int_equal(event_ns, entry_ns + 1);
	one(1, 1);
	expect_entry(&s, 1, 1);
	expect_exit(&s, 1, 1);
	watched = 2;
	call(1, 1);
	event_ns = expect_event(&s, EVENT_ID_WATCH_VAR);
	entry_ns = expect_entry(&s, 1, 1);
	assert_int_equal(event_ns, entry_ns - 1);
	watched = 3;
	leave(1);
	event_ns = expect_event(&s, EVENT_ID_WATCH_VAR);
	entry_ns = expect_exit(&s, 1, 1);
	assert_int_equal(event_ns, entry_ns - 1);
	/*
	 * A new plan with the same watch continues it. A new plan with another watch begins anew.
	 */
	replace(&s);
	one(1, 1);
	expect_entry(&s, 1, 1);
	expect_exit(&s, 1, 1);
	s.plan.watch.bytes = 4;
	replace(&s);
	one(1, 1);
	expect_entry(&s, 1, 1);
	expect_event(&s, EVENT_ID_WATCH_VAR);
	expect_exit(&s, 1, 1);
	s.plan.watch.addr += 4;
	replace(&s);
	one(1, 1);
	expect_entry(&s, 1, 1);
	expect_event(&s, EVENT_ID_WATCH_VAR);
	expect_exit(&s, 1, 1);
	s.plan.watch.bytes = 0;
	replace(&s);
	watched = UINT64_MAX;
	one(1, 1);
	expect_entry(&s, 1, 1);
	expect_exit(&s, 1, 1);
	leave(0);
	expect_exit(&s, 0, 0);
	stop(&s);
}

/* --- PLAN_ESTIMATE --- */

/*
 * A call is over when its slot holds another word. Its end is estimated halfway between the last
 * record and now.
 */
TEST(who_is_not_seen_to_return_has_returned_meanwhile)
{
	struct scene s;
	uint64_t first_ns;

	prepare(&s);
	s.plan.settings.flags |= PLAN_ESTIMATE;
	start(&s);
	fault_guard_begin();
	assert_int_equal(call(0, 0), 0);
	assert_int_equal(*place(0), 0x500000);
	assert_int_equal(call(1, 1), 0);
	pass(&s, 2);
	*place(1) = 4711;
	assert_int_equal(call(2, 2), 0);
	expect_entry(&s, 0, 0);
	first_ns = expect_entry(&s, 1, 1);
	assert_in_range(expect_exit(&s, 1, 1), first_ns + UNIT, first_ns + UNIT * 3 / 2);
	first_ns = expect_entry(&s, 1, 2);
	/* The slot of the next call is above that of the open call, so the open call has ended. */
	pass(&s, 4);
	call(1, 3);
	assert_in_range(expect_exit(&s, 1, 2), first_ns + 2 * UNIT, first_ns + UNIT * 5 / 2);
	first_ns = expect_entry(&s, 1, 3);
	pass(&s, 2);
	call(0, 4);
	assert_in_range(expect_exit(&s, 1, 3), first_ns + UNIT, first_ns + UNIT * 3 / 2);
	assert_in_range(expect_exit(&s, 0, 0), first_ns + UNIT, first_ns + UNIT * 3 / 2);
	expect_entry(&s, 0, 4);
	call(1, 5);
	first_ns = expect_entry(&s, 1, 5);
	/* All open calls end with the thread. */
	pass(&s, 2);
	frames_unhook(s.t);
	assert_in_range(expect_exit(&s, 1, 5), first_ns + 2 * UNIT, first_ns + UNIT * 5 / 2);
	expect_exit(&s, 0, 4);
	assert_int_equal(*place(1), 0x500001);
	expect_nothing(&s);
	stop(&s);
}

/* No estimate of a hook stays after a jump out of the hook, or for the next user of the state. */
TEST(no_estimate_outlives_its_hook)
{
	struct scene s;
	jmp_buf outside;

	prepare(&s);
	s.plan.settings.flags |= PLAN_ESTIMATE;
	start(&s);
	assert_non_null(s.t->planned);
	if (setjmp(outside) == 0) {
		guard_take(s.t);
		planned_begin_estimate(s.t);
		assert_int_not_equal(s.t->planned->estimate_ns, 0);
		longjmp(outside, 1);
	}
	assert_int_equal(s.t->planned->estimate_ns, 0);
	planned_begin_estimate(s.t);
	thread_give_back(s.t);
	assert_ptr_equal(thread_take_state(), s.t);
	assert_int_equal(s.t->planned->estimate_ns, 0);
	stop(&s);
}

/* --- calls that were open before a plan came --- */

/*
 * Calls that were open before the plan came count as if they had been entered under it. Their
 * returns are recorded if the plan wants these calls.
 */
TEST(an_open_call_counts_though_nobody_saw_it_begin)
{
	struct scene s;

	prepare(&s);
	s.plan.settings.flags |= PLAN_OPT_IN_FILTER;
	s.plan.settings.depth = 3;
	give_rule(&s, 1, (struct plan_rule){ .flags = PLAN_FILTER });
	give_rule(&s, 2, (struct plan_rule){ .flags = PLAN_NOTRACE });
	give_rule(&s, 5, (struct plan_rule){ .flags = PLAN_LOCATION_OUT });
	start(&s);
	planned_push_unseen(s.t, (uint64_t)place(0), 1, keeping_addr(0));
	planned_push_unseen(s.t, (uint64_t)place(1), 1, keeping_addr(1));
	assert_int_equal(s.t->planned->now.in, 1);
	assert_int_equal(s.t->planned->now.level, 1);
	planned_push_unseen(s.t, (uint64_t)place(2), 1, keeping_addr(5));
	assert_int_equal(s.t->planned->now.level, 1);
	planned_push_unseen(s.t, (uint64_t)place(3), 1, keeping_addr(3));
	assert_int_equal(s.t->planned->now.level, 2);
	assert_int_equal(s.t->planned->now.depth, 1);
	one(4, 4);
	expect_entry(&s, 2, 4);
	expect_exit(&s, 2, 4);
	planned_push_unseen(s.t, (uint64_t)place(4), 1, keeping_addr(2));
	assert_int_equal(s.t->planned->now.out, 1);
	assert_int_equal(call(5, 4), 0);
	planned_push_unseen(s.t, (uint64_t)place(5), 1, keeping_addr(3));
	assert_int_equal(s.t->planned->now.level, 2);
	/* The place of the next call shows that all of these calls are over. */
	assert_int_equal(call(0, 1), 1);
	expect_exit(&s, 1, 3);
	expect_exit(&s, 0, 1);
	expect_entry(&s, 0, 1);
	leave(0);
	expect_exit(&s, 0, 1);
	assert_int_equal(s.t->planned->now.in, 0);
	expect_nothing(&s);
	stop(&s);
}

/*
 * Conditions decide about filter and notrace only. The limits of a rule apply to each call, and
 * still apply to an open call after a new plan has come.
 */
TEST(limits_with_conditions_outlast_a_new_plan)
{
	struct scene s;

	prepare(&s);
	give_rule(&s, 1, (struct plan_rule){ .flags = PLAN_DEPTH | PLAN_COND, .depth = 2 });
	start(&s);
	assert_int_equal(call(0, 1), 1);
	replace(&s);
	assert_int_equal(call(1, 2), 1);
	assert_int_equal(s.t->planned->now.depth, 0);
	assert_int_equal(call(2, 3), 0);
	leave(1);
	leave(0);
	stop(&s);
}

/* --- calls of handlers --- */

/* A handler's calls go on at the thread's depth, and are opted in like the thread's. */
TEST(a_handler_has_the_levels_that_are_left)
{
	struct scene s;

	prepare(&s);
	s.plan.settings.depth = 3;
	start(&s);
	for (unsigned round = 0; round < 2; round++) {
		one(0, 0);
		call(0, 0);
		if (round == 0) /* in round 1 the thread stays open */
			planned_settle(s.t);
		s.t->busy = 1;
		assert_int_equal(call(10, 1), 1);
		assert_int_equal(call(11, 2), 1);
		assert_int_equal(call(12, 3), 0);
		leave(11);
		leave(10);
		guard_leave(s.t);
		leave(0);
		expect_entry(&s, 0, 0);
		expect_exit(&s, 0, 0);
		expect_entry(&s, 0, 0);
		expect_entry(&s, 1, 1);
		expect_entry(&s, 2, 2);
		expect_exit(&s, 2, 2);
		expect_exit(&s, 1, 1);
		expect_exit(&s, 0, 0);
	}
	/*
	 * After another plan has come, the handler's calls follow it as soon as the thread's own
	 * do.
	 */
	give_rule(&s, 1, (struct plan_rule){ .flags = PLAN_NOTRACE });
	replace(&s);
	one(0, 0);
	s.t->busy = 1;
	assert_int_equal(call(10, 1), 1);
	assert_int_equal(call(11, 2), 0);
	leave(10);
	guard_leave(s.t);
	expect_entry(&s, 0, 0);
	expect_exit(&s, 0, 0);
	expect_nothing(&s);
	stop(&s);
}

/* --- a thread's plan --- */

TEST(a_plan_is_needed_where_it_is_known_or_captured_from)
{
	struct scene s;
	const struct live_plan *plan;
	const void *end;

	prepare(&s);
	s.plan.funcs[1].has_result = true;
	start(&s);
	plan = probe.live;
	end = (const char *)plan + plan->bytes;
	assert_true(planned_needs(s.t, plan, end));
	call(0, 1);
	one(1, 2);
	s.t->planned->plan = NULL;
	assert_true(planned_needs(s.t, plan, end));
	s.t->planned->taking = plan;
	leave(0);
	assert_true(planned_needs(s.t, plan, end));
	s.t->planned->taking = NULL;
	assert_false(planned_needs(s.t, plan, end));
	/* The frame that was just popped may still be in use. */
	s.t->planned->frames[1].result = plan->steps;
	assert_true(planned_needs(s.t, plan, end));
	assert_false(planned_needs(s.t, plan, plan));
	planned_end(s.t);
	assert_false(planned_needs(s.t, plan, end));
	s.t->planned->plan = plan;
	planned_end(s.t);
	assert_false(planned_needs(s.t, plan, end));
	stop(&s);
}

/* Tracing has ended when a thread needs memory for rules: it gets none. */
TEST(nothing_begins_late_when_all_is_over)
{
	struct scene s;

	prepare(&s);
	s.plan.settings.flags &= ~(uint32_t)PLAN_SELECTIVE;
	start(&s);
	assert_null(s.t->planned);
	assert_int_equal(call(0, 0), 1);
	s.plan.settings.flags |= PLAN_SELECTIVE;
	replace(&s);
	probe.tracing = false;
	assert_int_equal(call(1, 1), 0);
	assert_null(s.t->planned);
	probe.tracing = true;
	assert_int_equal(call(1, 1), 1);
	assert_non_null(s.t->planned);
	assert_ptr_equal(s.t->limit, s.t->frames + probe.plan.max_stack);
	leave(1);
	leave(0);
	expect_entry(&s, 0, 0);
	expect_entry(&s, 1, 1);
	expect_exit(&s, 1, 1);
	expect_exit(&s, 0, 0);
	stop(&s);
}
