/*
 * Calls with XRay, which announces their ends, in a thread whose calls are all alike. Frames are
 * found by their slots, which do not change.
 */
#include "libmcount/hot/frames.h"
#include "libmcount/hot/guard.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

#define ADDR(n) (0x400000UL + 16 * (n))

static struct pair pair;
static struct thread *t;
static uint64_t stack[128];
static struct arch_regs no_regs;
static struct strbuf expected;

static int setup(void **state)
{
	pair_init(&pair);
	pair_open(&pair);
	t = self = pair_thread();
	assert_non_null(t);
	for (unsigned i = 0; i < ARRAY_SIZE(stack); i++)
		stack[i] = 0x500000 + i;
	return 0;
}

static int teardown(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(stack); i++)
		assert_int_equal(stack[i], 0x500000 + i);
	assert_int_equal(t->busy, 0);
	strbuf_deinit(&expected);
	pair_stop(&pair);
	pair_close(&pair);
	atomic_store(&probe_threads, NULL);
	return 0;
}

static void expect(enum record_type type, unsigned depth, unsigned n)
{
	uint64_t data = record_data(type, depth, ADDR(n));

	strbuf_add(&expected, &data, sizeof(data));
}

static void check(void)
{
	pair_look(&pair, true);

	struct strbuf file cleanup_strbuf = pair_data(&pair, t->ring->tid);
	const struct record *r = (const struct record *)strbuf_str(&file);
	const uint64_t *data = (const uint64_t *)strbuf_str(&expected);

	assert_int_equal(file.len / sizeof(*r), expected.len / sizeof(*data));
	for (size_t i = 0; i < file.len / sizeof(*r); i++)
		assert_int_equal(r[i].data, data[i]);
}

static void enter(unsigned place, unsigned n)
{
	probe_xray_entry(&stack[place], ADDR(n), &no_regs);
}

static void leave(unsigned place)
{
	probe_xray_exit((uint64_t)&stack[place], &no_regs);
}

/* @with_counter: true for the fast path, false for the slow one; both write the same records */
static void calls_begin_and_end(bool with_counter)
{
	probe.has_counter = with_counter;
	enter(100, 0);
	assert_int_equal(t->top->slot, (uint64_t)&stack[100] | FRAME_EXPLICIT);
	assert_int_equal(t->top->ret, 0x500000 + 100);
	enter(90, 1);
	leave(90);
	enter(91, 2);
	enter(80, 3);
	leave(80);
	leave(91);
	leave(100);
	expect(RECORD_ENTRY, 0, 0);
	expect(RECORD_ENTRY, 1, 1);
	expect(RECORD_EXIT, 1, 1);
	expect(RECORD_ENTRY, 1, 2);
	expect(RECORD_ENTRY, 2, 3);
	expect(RECORD_EXIT, 2, 3);
	expect(RECORD_EXIT, 1, 2);
	expect(RECORD_EXIT, 0, 0);
	check();
	assert_ptr_equal(t->top, t->frames);
}

TEST_WITH(a_call_ends_where_it_says_so, setup, teardown)
{
	calls_begin_and_end(true);
	calls_begin_and_end(false);
}

/*
 * A call returns after an exception or a jump: the calls inside of it are over. So is an earlier
 * call with the same slot.
 */
TEST_WITH(what_was_jumped_out_of_is_over, setup, teardown)
{
	enter(100, 0);
	enter(90, 1);
	enter(80, 2);
	leave(100);
	for (unsigned i = 0; i < 3; i++)
		expect(RECORD_ENTRY, i, i);
	for (unsigned i = 3; i-- > 0;)
		expect(RECORD_EXIT, i, i);
	check();
	enter(100, 0);
	enter(90, 1);
	enter(80, 2);
	/* Any function with the same slot ends the calls from that slot on. */
	enter(90, 1);
	expect(RECORD_ENTRY, 0, 0);
	expect(RECORD_ENTRY, 1, 1);
	expect(RECORD_ENTRY, 2, 2);
	expect(RECORD_EXIT, 2, 2);
	expect(RECORD_EXIT, 1, 1);
	expect(RECORD_ENTRY, 1, 1);
	check();
	enter(95, 3);
	expect(RECORD_EXIT, 1, 1);
	expect(RECORD_ENTRY, 1, 3);
	leave(95);
	leave(100);
	expect(RECORD_EXIT, 1, 3);
	expect(RECORD_EXIT, 0, 0);
	check();
}

/* The end of an unrecorded call has no effect. */
TEST_WITH(an_end_without_a_beginning_is_none, setup, teardown)
{
	leave(50);
	enter(100, 0);
	leave(90);
	leave(101);
	assert_ptr_equal(t->top, t->frames + 1);
	t->limit = t->top;
	t->fast_limit = t->top;
	enter(90, 1);
	assert_ptr_equal(t->top, t->frames + 1);
	leave(90);
	leave(100);
	expect(RECORD_ENTRY, 0, 0);
	expect(RECORD_EXIT, 0, 0);
	check();
	/* First the thread has no state; then it has the state of threads that are not traced. */
	self = NULL;
	leave(100);
	assert_null(self);
	self = &probe_idle_thread;
	enter(100, 0);
	leave(100);
	self = t;
	check();
}

/* A short call is held back by the threshold; so is a long one, which is written at its end. */
TEST_WITH(a_short_call_is_dropped, setup, teardown)
{
	probe.has_counter = false;
	t->threshold_ns = 1000000000000;
	t->fast_limit = t->frames;
	enter(100, 0);
	enter(90, 1);
	leave(90);
	pair_pass(2000000000000);
	leave(100);
	expect(RECORD_ENTRY, 0, 0);
	expect(RECORD_EXIT, 0, 0);
	check();
}

/* A handler interrupts a hook: the handler's calls come after the interrupted one. */
TEST_WITH(calls_of_a_handler_come_behind, setup, teardown)
{
	enter(100, 0);
	t->busy = 1;
	enter(50, 1);
	enter(40, 2);
	leave(40);
	leave(50);
	/* The handler must not end a frame of the interrupted thread. */
	leave(100);
	assert_int_equal(t->has_aside_records, 1);
	guard_leave(t);
	leave(100);
	expect(RECORD_ENTRY, 0, 0);
	expect(RECORD_ENTRY, 1, 1);
	expect(RECORD_ENTRY, 2, 2);
	expect(RECORD_EXIT, 2, 2);
	expect(RECORD_EXIT, 1, 1);
	expect(RECORD_EXIT, 0, 0);
	check();
}
