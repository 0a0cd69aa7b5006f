/*
 * A plan replaces another one: the effects on open calls, in handlers, and in threads whose calls
 * were all alike before.
 */
#include "libmcount/plan/plans.h"

#include <errno.h>
#include <unistd.h>

#include "libmcount/hot/aside.h"
#include "libmcount/hot/guard.h"
#include "libmcount/hot/frames.h"
#include "libmcount/hot/planned_pass.h"
#include "tests/unit/lib/probe/sketch.h"
#include "tests/unit/lib/unit.h"

void __cyg_profile_func_enter(void *fn, void *caller);
void __cyg_profile_func_exit(void *fn, void *caller);

static uint64_t stack[256];

struct scene {
	struct pair pair;
	struct thread *t;
};

static int obey(int (*how)(int fd), struct sketch sketch)
{
	int fd = sketch_image(&sketch);
	int ret = how(fd);

	close(fd);
	return ret;
}

static void begin(struct scene *s, struct sketch sketch)
{
	pair_init(&s->pair);
	pair_open(&s->pair);
	assert_int_equal(obey(plans_begin, sketch), 0);
	s->t = self = pair_thread();
	assert_non_null(s->t);
}

static void close_scene(struct scene *s)
{
	assert_int_equal(s->t->busy, 0);
	pair_stop(&s->pair);
	pair_close(&s->pair);
	/* The next test must begin without threads of this test. */
	atomic_store(&probe_threads, NULL);
	assert_int_equal(plans_reclaim(), 0);
}

/*
 * "0(1(2)" shows functions as they were entered and left. Returns the number of payloads; each must
 * be that of its call.
 */
static unsigned end(struct scene *s, const char *expected)
{
	int32_t tid = s->t->ring->tid;
	char text[512] = "";

	pair_look(&s->pair, true);

	struct sketch_reader r = { .file = pair_data(&s->pair, tid) };

	while (r.at < r.file.len) {
		unsigned depth = r.depth;
		unsigned func = sketch_read(&r);

		sprintf(text + strlen(text), r.depth > depth ? "%u(" : ")", func);
	}
	strbuf_deinit(&r.file);
	assert_string_equal(text, expected);
	close_scene(s);
	return r.payloads;
}

static uint64_t *place(unsigned depth)
{
	return &stack[250 - 2 * depth];
}

static void one(unsigned depth, unsigned func)
{
	sketch_call(place(depth), func);
	sketch_leave(place(depth), func);
}

/* With the first plan, threads need no memory for rules. The second plan gives them this memory. */
TEST(calls_were_alike)
{
	struct scene s;

	begin(&s, (struct sketch){ "--------", 0, 64, 0 });
	assert_true(probe.plain);
	sketch_call(place(0), 0);
	sketch_call(place(1), 1);
	assert_null(s.t->planned);
	assert_int_equal(obey(plans_replace, (struct sketch){ "---n----", 0, 4, PLAN_SELECTIVE }),
			 0);
	assert_false(probe.plain);
	one(2, 2);
	one(2, 3);
	assert_non_null(s.t->planned);
	sketch_tree(place(2), 2); /* 4 and 5 are on the fourth level */
	sketch_leave(place(1), 1);
	one(1, 4);
	sketch_leave(place(0), 0);
	end(&s, "0(1(2()2(4()5()))4())");
}

/* The new plan decides whether ENTRY records that were held back are written. */
TEST(held_back)
{
	struct scene s;

	begin(&s, (struct sketch){ "--------", 1000000000, 64, 0 });
	sketch_call(place(0), 0);
	sketch_call(place(1), 1);
	assert_int_equal(obey(plans_replace, (struct sketch){ "--------", 0, 64, PLAN_SELECTIVE }),
			 0);
	one(2, 2);
	assert_int_equal(
		obey(plans_replace, (struct sketch){ "--------", 1000000000, 64, PLAN_SELECTIVE }),
		0);
	one(2, 3);
	sketch_leave(place(1), 1);
	sketch_leave(place(0), 0);
	one(0, 5);
	end(&s, "0(1(2()))");
}

/*
 * A function that is left out has no records, before and after the thread has noted that. Its
 * callees have records. A call that was open already ends as it began.
 */
TEST(left_out)
{
	const uint32_t flags = PLAN_SELECTIVE | PLAN_LEAVES_OUT;
	struct scene s;

	begin(&s, (struct sketch){ "--------", 0, 64, flags });
	sketch_call(place(0), 0);
	one(1, 2);
	one(1, 3);
	sketch_call(place(1), 3);
	assert_int_equal(obey(plans_replace, (struct sketch){ "---l----", 0, 64, flags }), 0);
	one(2, 3);
	one(2, 2);
	sketch_leave(place(1), 3);
	assert_true(planned_is_open(s.t));
	for (unsigned i = 0; i < 3; i++)
		one(1, 3);
	assert_int_equal(s.t->calls[planned_place_of(SKETCH_ADDR(3))].alone, SKETCH_ADDR(3));
	sketch_call(place(1), 3);
	one(2, 2);
	sketch_leave(place(1), 3);
	one(1, 2);
	sketch_leave(place(0), 0);
	end(&s, "0(2()3()3(2())2()2())");
}

/* Calls the hooks of @func as compiled code does. */
NOINLINE static void hooked(struct scene *s, unsigned func, void (*body)(struct scene *s))
{
	__cyg_profile_func_enter((void *)SKETCH_ADDR(func), __builtin_return_address(0));
	if (body)
		body(s);
	__cyg_profile_func_exit((void *)SKETCH_ADDR(func), __builtin_return_address(0));
	/* Keep the compiler from turning the last call into a jump. */
	__asm__ volatile("");
}

/*
 * Check that the thread has noted function 3 in its table of calls that are left alone, and put
 * another function in its place.
 */
static void forget_place(struct scene *s)
{
	assert_int_equal(s->t->calls[planned_place_of(SKETCH_ADDR(3))].alone, SKETCH_ADDR(3));
	s->t->planned->pass[planned_place_of(SKETCH_ADDR(3))].alone = 1;
}

static void leave_out_what_is_open(struct scene *s)
{
	const uint32_t flags = PLAN_SELECTIVE | PLAN_LEAVES_OUT;

	assert_int_equal(obey(plans_replace, (struct sketch){ "---l----", 0, 64, flags }), 0);
	hooked(s, 2, NULL);
	for (unsigned i = 0; i < 3; i++)
		hooked(s, 3, NULL);
	hooked(s, 3, forget_place);
	assert_int_equal(frame_addr(s->t->top), SKETCH_ADDR(3));
	hooked(s, 2, NULL);
}

static void call_what_is_left_out(struct scene *s)
{
	hooked(s, 2, NULL);
	hooked(s, 3, leave_out_what_is_open);
	hooked(s, 3, NULL);
	hooked(s, 2, NULL);
}

/*
 * With -finstrument-functions, a function is left out inside of a recorded call of itself. When the
 * inner call returns, its exit is not taken for the exit of the recorded call.
 */
TEST(left_out_inside_of_itself)
{
	struct scene s;

	begin(&s, (struct sketch){ "--------", 0, 64, PLAN_SELECTIVE | PLAN_LEAVES_OUT });
	hooked(&s, 0, call_what_is_left_out);
	assert_int_equal(s.t->cyg_skipped + s.t->cyg_again, 0);
	end(&s, "0(2()3(2()2())2())");
}

/*
 * A thread stays open after a call that the stub cannot handle. Otherwise all its frames would
 * return by the slow path.
 */
TEST(stays_open)
{
	const struct arch_regs regs = arch_regs_of(0, 0, 0);
	struct scene s;

	begin(&s, (struct sketch){ "--n-----", 0, 4, PLAN_SELECTIVE });
	sketch_call(place(0), 0);
	one(1, 1);
	assert_true(planned_is_open(s.t));

	struct frame *base = s.t->planned->open_base;

	/* First a function that the thread has not called before. */
	sketch_call(place(1), 3);
	assert_true(planned_is_open(s.t));
	/* Then a function whose place in the table belongs to another function. */
	s.t->planned->pass[planned_place_of(SKETCH_ADDR(1))].call = 1;
	one(2, 1);
	assert_int_equal(s.t->calls[planned_place_of(SKETCH_ADDR(1))].call, SKETCH_ADDR(1));
	/* Then a function that another one calls by a jump at its end: both have the same slot. */
	sketch_call(place(2), 4);
	assert_int_equal(probe_entry(place(2), SKETCH_ADDR(1), &regs), 1);
	assert_true(planned_is_open(s.t));
	assert_int_equal(probe_exit((uint64_t)place(2), &regs), (uint64_t)arch_return_trampoline);
	sketch_leave(place(2), 4);
	/* The segment is full, at a call and at its end. After that the clock needs a new fit. */
	s.t->end = s.t->at;
	sketch_call(place(2), 5);
	s.t->end = s.t->at;
	sketch_leave(place(2), 5);
	s.t->refit_ticks = 0;
	sketch_call(place(2), 6);
	s.t->refit_ticks = 0;
	sketch_leave(place(2), 6);
	assert_true(planned_is_open(s.t));
	/* The program leaves the call by longjmp(). */
	sketch_call(place(2), 1);
	sketch_call(place(3), 6);
	one(1, 1);
	assert_true(planned_is_open(s.t));
	assert_ptr_equal(s.t->planned->open_base, base);
	/*
	 * The thread is not open beyond the depth limit, at a function with a rule, and while
	 * recording is off.
	 */
	sketch_call(place(1), 1);
	sketch_call(place(2), 1);
	sketch_call(place(3), 1);
	one(4, 3);
	one(4, 7);
	for (unsigned i = 4; --i > 0;)
		sketch_leave(place(i), 1);
	sketch_call(place(1), 2);
	one(2, 3);
	sketch_leave(place(1), 2);
	probe.is_on = false;
	one(1, 5);
	probe.is_on = true;
	one(1, 5);
	sketch_leave(place(0), 0);
	assert_int_equal(s.t->top - s.t->frames, 0);
	end(&s, "0(1()3(1()4(1())5()6()1(6()))1()1(1(1()))5())");
}

/* Opted-out calls inside of an open call leave neither records nor frames. */
TEST(opted_out)
{
	struct scene s;

	begin(&s, (struct sketch){ "--n-----", 0, 64, PLAN_SELECTIVE });
	sketch_call(place(0), 0);
	one(1, 1);
	assert_true(planned_is_open(s.t));
	for (unsigned i = 0; i < 3; i++) {
		sketch_call(place(1), 2);
		one(2, 3);
		sketch_leave(place(1), 2);
		assert_int_equal(s.t->top - s.t->frames, 1);
	}
	one(1, 3);
	sketch_leave(place(0), 0);
	assert_int_equal(s.t->top - s.t->frames, 0);
	end(&s, "0(1()3())");
}

/* At the limit of frames, an opted-out call still needs no frame. */
TEST(opted_out_at_the_limit)
{
	const unsigned limit = 64;
	struct scene s;

	begin(&s, (struct sketch){ "--n-----", 0, 100, PLAN_SELECTIVE });
	assert_int_equal(s.t->limit - s.t->frames, limit);
	one(0, 2);
	for (unsigned i = 0; i < limit; i++) {
		sketch_call(place(i), 1);
		one(i + 1, 2);
		assert_in_range(s.t->top - s.t->frames, i + 1, limit);
	}
	sketch_call(place(limit), 2);
	assert_int_equal(s.t->top - s.t->frames, limit);
	sketch_leave(place(limit), 2);
	for (unsigned i = limit; i-- > 0;)
		sketch_leave(place(i), 1);
	close_scene(&s);
}

/*
 * A call with captured values leaves a thread open, whatever calls are around it and inside of it.
 */
TEST(captured)
{
	struct scene s;

	begin(&s, (struct sketch){ "-+n+d---", 0, 64, PLAN_SELECTIVE });
	sketch_call(place(0), 0);
	one(1, 1);
	one(1, 3);
	assert_true(planned_is_open(s.t));
	for (unsigned i = 0; i < 2; i++) {
		sketch_call(place(1), 1);
		sketch_call(place(2), 5);
		sketch_call(place(3), 3);
		one(4, 2);
		assert_true(planned_is_open(s.t));
		sketch_leave(place(3), 3);
		one(3, 6);
		sketch_leave(place(2), 5);
		assert_true(planned_is_open(s.t));
		assert_ptr_equal(s.t->fast_base, s.t->top);
		sketch_leave(place(1), 1);
		assert_ptr_equal(s.t->fast_base, s.t->planned->open_base);
	}
	/* The function's rule gets more effects. A call that was open before ends as it began. */
	sketch_call(place(1), 1);
	one(2, 5);
	sketch_call(place(2), 3);
	one(3, 4);
	one(3, 6);
	sketch_leave(place(2), 3);
	sketch_leave(place(1), 1);
	sketch_leave(place(0), 0);
	assert_int_equal(s.t->top - s.t->frames, 0);
	assert_int_equal(end(&s, "0(1()3()1(5(3()6()))1(5(3()6()))1(5()3(4()6())))"), 16);
}

/* Beyond the depth limit nothing is captured. */
TEST(captured_at_the_limit)
{
	struct scene s;

	begin(&s, (struct sketch){ "-+++----", 0, 3, PLAN_SELECTIVE });
	sketch_call(place(0), 0);
	one(1, 5);
	for (unsigned i = 0; i < 2; i++) {
		sketch_call(place(1), 1);
		sketch_call(place(2), 2);
		one(3, 3);
		assert_true(planned_is_open(s.t));
		sketch_leave(place(2), 2);
		sketch_leave(place(1), 1);
	}
	sketch_leave(place(0), 0);
	assert_int_equal(end(&s, "0(5()1(2())1(2()))"), 8);
}

/*
 * A handler jumps out of the hook of a capturing call before the frame is complete. The end of the
 * next call captures nothing.
 */
TEST(captured_by_half)
{
	struct scene s;

	begin(&s, (struct sketch){ "-+------", 0, 64, PLAN_SELECTIVE });
	sketch_call(place(0), 0);
	one(1, 2);
	one(1, 1);
	assert_true(planned_is_open(s.t));
	s.t->fast_base = s.t->top + 1;
	one(1, 2);
	one(1, 1);
	s.t->fast_base = s.t->top + 1;
	sketch_call(place(1), 2);
	one(2, 1);
	sketch_leave(place(1), 2);
	sketch_leave(place(0), 0);
	assert_int_equal(end(&s, "0(2()1()2()1()2(1()))"), 6);
}

/* Inside of a function that is opted out, or not opted in, a new plan takes effect at once. */
TEST(open_filters)
{
	struct scene s;

	begin(&s, (struct sketch){ "n-------", 0, 64, PLAN_SELECTIVE });
	sketch_call(place(0), 0);
	one(1, 1);
	one(1, 1);
	assert_int_equal(
		obey(plans_replace,
		     (struct sketch){ "-f------", 0, 64, PLAN_SELECTIVE | PLAN_OPT_IN_FILTER }),
		0);
	one(1, 2);
	sketch_call(place(1), 1);
	one(2, 2);
	assert_int_equal(
		obey(plans_replace,
		     (struct sketch){ "-n-f----", 0, 64, PLAN_SELECTIVE | PLAN_OPT_IN_FILTER }),
		0);
	one(2, 2);
	one(2, 3); /* function 1 is opted out now */
	sketch_leave(place(1), 1);
	one(1, 3);
	sketch_leave(place(0), 0);
	end(&s, "1(2())3()");
}

/*
 * A thread that is ready becomes open at a call of an opted-in function. It stops being ready at a
 * call of a function with another rule, or when a new plan takes effect.
 */
TEST(opted_in)
{
	const uint32_t flags = PLAN_SELECTIVE | PLAN_OPT_IN_FILTER;
	struct scene s;

	begin(&s, (struct sketch){ "-f-nF---", 0, 3, flags });
	for (unsigned i = 0; i < 4; i++) {
		sketch_call(place(0), 0);
		sketch_call(place(1), 1);
		one(2, 2);
		sketch_call(place(2), 3);
		one(3, 2);
		sketch_leave(place(2), 3);
		sketch_call(place(2), 2);
		sketch_call(place(3), 2);
		one(4, 2);
		sketch_leave(place(3), 2);
		sketch_leave(place(2), 2);
		sketch_leave(place(1), 1);
		assert_ptr_equal(s.t->admitted, i ? s.t->frames + 1 : NULL);
		one(1, 2);
		sketch_leave(place(0), 0);
	}
	assert_int_equal(s.t->calls[planned_place_of(SKETCH_ADDR(1))].call, -SKETCH_ADDR(1));
	/*
	 * The rule of function 4 has more effects. Then function 1 is called inside of a call of
	 * function 1.
	 */
	one(0, 4);
	sketch_call(place(0), 1);
	assert_true(planned_is_open(s.t));
	sketch_call(place(1), 1);
	one(2, 2);
	sketch_leave(place(1), 1);
	one(1, 2);
	sketch_leave(place(0), 1);
	one(0, 2);
	one(0, 1);
	/* The function is not opted in for a while, and then it is again. */
	sketch_call(place(0), 1);
	one(1, 2);
	assert_int_equal(obey(plans_replace, (struct sketch){ "--f-----", 0, 3, flags }), 0);
	one(1, 5);
	one(1, 2);
	assert_int_equal(obey(plans_replace, (struct sketch){ "-f------", 0, 3, flags }), 0);
	one(1, 5);
	sketch_leave(place(0), 1);
	one(0, 5);
	assert_int_equal(end(&s, "1(2()2(2()))1(2()2(2()))1(2()2(2()))1(2()2(2()))4()1(1(2())2())1("
				 ")1(2()2()5())"),
			 2);
}

/*
 * A handler jumps out of the entry hook of an opted-in call, which has made the frame, but has not
 * changed the thread's state. Or the handler jumps out of the exit hook.
 */
TEST(opted_in_by_half)
{
	const uint32_t flags = PLAN_SELECTIVE | PLAN_OPT_IN_FILTER;
	struct scene s;

	begin(&s, (struct sketch){ "-f------", 0, 64, flags });
	for (unsigned i = 0; i < 4; i++)
		one(0, 1);
	assert_ptr_equal(s.t->admitted, s.t->frames + 1);
	for (unsigned i = 0; i < 3; i++) {
		sketch_call(place(1), 1);
		s.t->planned->now.in = 0;
		if (i)
			s.t->calls = s.t->planned->skip_outside;
		if (i == 2)
			one(2, 1);
		sketch_leave(place(1), 1);
		assert_int_equal(s.t->planned->now.in, 0);
		assert_ptr_equal(s.t->top, s.t->frames);
		one(1, 2);
		one(1, 1);
	}
	assert_int_equal(end(&s, "1()1()1()1()1()1()1()1()1(1())1()"), 0);
}

/*
 * A child that is forked inside of the opted-in function records the end of that call, and the
 * calls inside of it.
 */
TEST(opted_in_settled)
{
	const uint32_t flags = PLAN_SELECTIVE | PLAN_OPT_IN_FILTER;
	struct scene s;

	begin(&s, (struct sketch){ "-f------", 0, 64, flags });
	for (unsigned i = 0; i < 4; i++)
		one(0, 1);
	for (unsigned i = 0; i < 2; i++) {
		sketch_call(place(0), 1);
		one(1, 2);
		planned_note_written(s.t);
		assert_int_equal(s.t->planned->now.in, 1);
		one(1, 2);
		sketch_leave(place(0), 1);
		planned_settle(s.t);
		assert_int_equal(s.t->planned->now.in, 0);
		one(0, 2);
		one(0, 1);
	}
	end(&s, "1()1()1()1()1(2()2())1()1(2()2())1()");
}

/*
 * A handler that interrupts a hook uses the hook's plan. The plan is kept until the handler has
 * ended.
 */
TEST(in_a_handler)
{
	const struct sketch all = { "++++++++", 0, 64, PLAN_SELECTIVE };
	struct scene s;

	begin(&s, all);
	one(0, 0);
	s.t->busy = 1;
	sketch_call(place(4), 1);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(
			obey(plans_replace, (struct sketch){ "--n-----", 0, 64, PLAN_SELECTIVE }),
			0);
	assert_int_equal(plans_reclaim(), 1);
	one(5, 2);
	sketch_leave(place(4), 1);
	aside_flush(s.t);
	s.t->busy = 0;
	one(0, 2);
	one(0, 3);
	assert_int_equal(plans_reclaim(), 0);
	end(&s, "0()1(2())3()");
}

/*
 * An open call whose result is captured needs the plan that describes the capture. Other calls need
 * no plan.
 */
TEST(what_is_needed)
{
	const struct sketch plain = { "--------", 0, 64, PLAN_SELECTIVE };
	struct scene s;

	begin(&s, (struct sketch){ "-+------", 0, 64, PLAN_SELECTIVE });
	sketch_call(place(0), 0);
	assert_int_equal(obey(plans_replace, plain), 0);
	assert_int_equal(plans_reclaim(), 1); /* the thread has not seen the new plan */
	one(1, 2);
	assert_int_equal(plans_reclaim(), 0);
	assert_int_equal(obey(plans_replace, (struct sketch){ "-+------", 0, 64, PLAN_SELECTIVE }),
			 0);
	sketch_call(place(1), 1);
	assert_int_equal(obey(plans_replace, plain), 0);
	one(2, 2);
	assert_int_equal(plans_reclaim(), 1);
	sketch_leave(place(1), 1);
	one(1, 2);
	assert_int_equal(plans_reclaim(), 0);
	/* When a thread ends, it needs no plan. */
	assert_int_equal(obey(plans_replace, plain), 0);
	sketch_leave(place(0), 0);
	end(&s, "0(2()1(2())2())");
}

/* dlopen() adds functions, and does not change open calls. */
TEST(extended)
{
	struct scene s;

	begin(&s, (struct sketch){ "-c+..---", 0, 64, PLAN_SELECTIVE | PLAN_OPT_IN_FILTER });
	sketch_call(place(0), 0);
	sketch_call(place(1), 1);
	one(2, 4);
	assert_int_equal(
		obey(plans_extend, (struct sketch){ .rules = "...+n...", .is_more = true }), 0);
	one(2, 2);
	one(2, 3);
	one(2, 4);
	sketch_leave(place(1), 1);
	one(1, 3);
	sketch_leave(place(0), 0);
	assert_int_equal(plans_reclaim(), 0);
	end(&s, "1(4()2()3())");
}

TEST(refused)
{
	struct scene s;
	struct live_plan *before;

	begin(&s, (struct sketch){ "--------", 0, 64, PLAN_SELECTIVE });
	before = probe.live;
	assert_int_equal(obey(plans_replace,
			      (struct sketch){ "--------", 0, 64, PLAN_SELECTIVE | PLAN_FLIGHT }),
			 -EINVAL);
	assert_int_equal(obey(plans_extend, (struct sketch){ "--------", 0, 64, PLAN_SELECTIVE }),
			 -EINVAL);
	assert_int_equal(plans_replace(-1), -EINVAL);
	assert_true(plans_replace(s.pair.dir_fd) < 0);
	assert_ptr_equal(probe.live, before);
	end(&s, "");
}
