/* The second state of a thread, for calls of signal handlers that interrupt a hook. */
#include "libmcount/hot/aside.h"

#include <errno.h>

#include "libmcount/hot/callers.h"
#include "libmcount/hot/frames.h"
#include "libmcount/hot/guard.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

#define DEPTH	7
#define HANDLER 0x600000

static struct pair pair;
static struct thread *t;
static uint64_t stack[64];
static struct arch_regs no_regs;

static int setup(void **state)
{
	pair_init(&pair);
	pair.settings.depth = DEPTH;
	pair_open(&pair);
	callers.bytes = UINT64_MAX; /* the test's return addresses are made up */
	t = self = pair_thread();
	assert_non_null(t);
	return 0;
}

static int teardown(void **state)
{
	pair_stop(&pair);
	pair_close(&pair);
	atomic_store(&probe_threads, NULL);
	return 0;
}

/* Begins a call with the return slot @place. Returns 1 when the call has got a frame. */
static uint32_t enter(unsigned place, uint64_t addr)
{
	stack[place] = 4711 + place;
	return probe_entry(&stack[place], addr, &no_regs);
}

static void leave(unsigned place)
{
	assert_int_equal(probe_exit((uint64_t)&stack[place], &no_regs), 4711 + place);
}

static void enter_calls(unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		assert_int_equal(enter(60 - i, 0x400000 + i), 1);
}

static void leave_calls(unsigned nr)
{
	while (nr--)
		leave(60 - nr);
}

/* Checks the data words of all records of the thread. */
static void check(const uint64_t *expected, size_t nr)
{
	struct strbuf words cleanup_strbuf = { 0 };

	strbuf_add(&words, expected, nr * sizeof(*expected));
	pair_check_data(&pair, t->ring->tid, &words);
}

#define ENTRY(depth, addr) record_data(RECORD_ENTRY, depth, addr)
#define EXIT(depth, addr)  record_data(RECORD_EXIT, depth, addr)

/* The interrupted hook may be about to push one more frame, which counts, too. */
TEST_WITH(calls_of_a_handler_have_what_is_left_of_the_depth, setup, teardown)
{
	static const struct {
		unsigned open, left;
	} cases[] = { { 0, 6 }, { 1, 5 }, { 4, 2 }, { 5, 1 }, { 6, 0 }, { 7, 0 } };

	probe.plan.flags |= PLAN_TELLS_DEPTH;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t too_deep = t->ring->too_deep;
		unsigned nr = 0;

		enter_calls(cases[i].open);
		guard_take(t);
		while (nr < 20 && enter(30 - nr, HANDLER + nr))
			nr++;
		assert_int_equal(nr, cases[i].left);
		assert_int_equal(stack[30 - nr], 4711 + 30 - nr);
		assert_int_equal(t->aside->ring->too_deep, 1);
		while (nr--)
			leave(30 - nr);
		guard_leave(t);
		assert_int_equal(t->aside->ring->too_deep, 0);
		assert_int_equal(t->ring->too_deep, too_deep + 1);
		leave_calls(cases[i].open);
	}
}

/* A handler that interrupts the program again, while a first handler has open calls. */
TEST_WITH(the_depth_of_open_calls_stays, setup, teardown)
{
	struct thread *aside;

	enter_calls(2);
	guard_take(t);
	assert_int_equal(enter(30, HANDLER), 1);
	aside = t->aside;
	assert_ptr_equal(aside->limit, aside->frames + 4);
	aside->limit = aside->frames + 2;
	assert_int_equal(enter(29, HANDLER + 1), 1);
	assert_int_equal(enter(28, HANDLER + 2), 0);
	assert_ptr_equal(aside->limit, aside->frames + 2);
	leave(29);
	leave(30);
	guard_leave(t);
	leave_calls(2);
	check((const uint64_t[]){ ENTRY(0, 0x400000), ENTRY(1, 0x400001), ENTRY(2, HANDLER),
				  ENTRY(3, HANDLER + 1), EXIT(3, HANDLER + 1), EXIT(2, HANDLER),
				  EXIT(1, 0x400001), EXIT(0, 0x400000) },
	      8);
}

TEST_WITH(an_aside_is_made_once, setup, teardown)
{
	struct thread *aside;

	t->threshold_ns = 12345;
	assert_null(t->aside);
	aside = aside_enter(t);
	assert_non_null(aside);
	assert_ptr_equal(t->aside, aside);
	assert_int_equal(aside->is_aside, 1);
	assert_int_equal(aside->busy, 1);
	assert_int_equal(aside->threshold_ns, 12345);
	assert_int_equal(aside->end - aside->at, 1 << 20);
	assert_int_equal(t->has_aside_records, 1);
	/* An aside that is in use has no aside of its own. */
	assert_null(aside_enter(t));
	assert_int_equal(t->ring->lost, 2);
	assert_int_equal(t->ring->lost_inside, 2);
	aside->busy = 0;
	assert_ptr_equal(aside_enter(t), aside);
	aside->busy = 0;
	guard_leave(t);
	assert_int_equal(t->has_aside_records, 0);
	t->ring->lost = t->ring->lost_told = t->ring->lost_inside = 0;
}

TEST_WITH(a_thread_without_a_state_has_no_aside, setup, teardown)
{
	assert_null(aside_enter(&probe_idle_thread));
	assert_null(probe_idle_thread.aside);
}

TEST_WITH(half_of_the_room_is_kept_for_handlers, setup, teardown)
{
	char *end;

	assert_false(aside_needs_quiet(t));
	aside_enter(t)->busy = 0;
	assert_false(aside_needs_quiet(t));
	end = t->aside->end;
	t->aside->at = end - (1 << 19);
	assert_false(aside_needs_quiet(t));
	t->aside->at = end - (1 << 19) + 1;
	assert_true(aside_needs_quiet(t));
	t->aside->at = end;
	assert_true(aside_needs_quiet(t));
	t->aside->at = end - (1 << 20);
	guard_leave(t);
	assert_false(aside_needs_quiet(t));
}

/*
 * The interrupted hook has read its clock at 100 ns. An earlier record of the handler gets this
 * time. After a later record, the hook's last time is that of the record.
 */
TEST_WITH(times_do_not_go_back, setup, teardown)
{
	static const uint64_t times[][2] = { { 50, 100 }, { 100, 100 }, { 101, 101 }, { 90, 101 } };
	struct thread *aside;

	enter_calls(2);
	pair_look(&pair, true);
	aside = aside_enter(t);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		assert_true(emit_record(aside, times[i][0], ENTRY(i, HANDLER + i), NULL, 0));
	assert_true(emit_record(aside, 102, record_data(RECORD_EVENT, 0, 77), "abc", 3));
	aside->busy = 0;
	t->last_ns = 100;
	errno = 4711;
	aside_flush(t);
	assert_int_equal(errno, 4711);
	assert_int_equal(t->last_ns, 102);
	pair_look(&pair, true);

	struct strbuf file cleanup_strbuf = pair_data(&pair, t->ring->tid);
	const struct record *r = (const struct record *)file.data + 2;

	assert_int_equal(file.len, (2 + ARRAY_SIZE(times) + 1) * sizeof(*r) + 8);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		assert_int_equal(r[i].time_ns, times[i][1]);
		assert_int_equal(r[i].data, ENTRY(2 + i, HANDLER + i));
	}
	/* Events have no depth. */
	assert_int_equal(r[4].time_ns, 102);
	assert_int_equal(r[4].data, record_data(RECORD_EVENT, 0, 77) | RECORD_MORE);
	assert_memory_equal(r + 5, "abc\0\0\0\0", 8);
}

/* Without an aside there are no records to move. */
TEST_WITH(nothing_is_moved_without_an_aside, setup, teardown)
{
	t->has_aside_records = 1;
	aside_flush(t);
	assert_int_equal(t->has_aside_records, 0);
	aside_forget(t);
	aside_give_up(t);
	aside_after_fork(t);
	assert_null(t->aside);
	check(NULL, 0);
}

TEST_WITH(a_forgotten_aside_is_empty, setup, teardown)
{
	struct thread *aside;
	char *at;

	guard_take(t);
	assert_int_equal(enter(30, HANDLER), 1);
	aside = t->aside;
	at = aside->at;
	assert_int_equal(aside->end - at, (1 << 20) - sizeof(struct record));
	aside->busy = 1;
	aside->ring->lost = 5;
	aside->ring->too_deep = 6;
	aside->cyg_skipped = aside->cyg_again = aside->cyg_deep = 3;
	aside_forget(t);
	assert_ptr_equal(aside->at, at - sizeof(struct record));
	assert_int_equal(aside->end - aside->at, 1 << 20);
	assert_ptr_equal(aside->top, aside->frames);
	assert_int_equal(aside->busy, 0);
	assert_int_equal(aside->ring->lost, 0);
	assert_int_equal(aside->ring->too_deep, 0);
	assert_int_equal(aside->cyg_skipped + aside->cyg_again + aside->cyg_deep, 0);
	guard_leave(t);
	assert_int_equal(t->ring->lost, 0);
	assert_int_equal(t->ring->too_deep, 0);
	check(NULL, 0);
}

/* A handler jumps out of its two open calls, and of the hook that it has interrupted. */
TEST_WITH(calls_that_a_handler_has_left_end, setup, teardown)
{
	enter_calls(1);
	guard_take(t);
	assert_int_equal(enter(30, HANDLER), 1);
	assert_int_equal(enter(29, HANDLER + 1), 1);
	aside_give_up(t);
	assert_int_equal(t->aside->busy, 0);
	assert_int_equal(t->has_aside_records, 0);
	assert_ptr_equal(t->aside->top, t->aside->frames);
	t->busy = 0;
	leave_calls(1);
	check((const uint64_t[]){ ENTRY(0, 0x400000), ENTRY(1, HANDLER), ENTRY(2, HANDLER + 1),
				  EXIT(2, HANDLER + 1), EXIT(1, HANDLER), EXIT(0, 0x400000) },
	      6);
}

/*
 * The handler jumps out after aside_flush() has moved all records, but before it has emptied the
 * aside.
 */
TEST_WITH(records_that_were_moved_are_not_moved_again, setup, teardown)
{
	char *at;

	guard_take(t);
	assert_int_equal(enter(30, HANDLER), 1);
	at = t->aside->at - sizeof(struct record);
	t->has_aside_records = 0;
	t->aside->busy = 1;
	aside_give_up(t);
	assert_ptr_equal(t->aside->at, at);
	assert_ptr_equal(t->aside->top, t->aside->frames);
	assert_int_equal(t->aside->busy, 0);
	guard_leave(t);
	check(NULL, 0);
}

/* A child writes neither the records nor the counts of its parent. The open calls stay. */
TEST_WITH(a_child_writes_no_records_of_its_parent, setup, teardown)
{
	struct thread *aside;

	guard_take(t);
	assert_int_equal(enter(30, HANDLER), 1);
	aside = t->aside;
	aside->ring->lost = 5;
	aside->ring->too_deep = 6;
	aside->written = aside->frames;
	aside_after_fork(t);
	assert_int_equal(aside->ring->lost, 0);
	assert_int_equal(aside->ring->too_deep, 0);
	assert_ptr_equal(aside->written, aside->top);
	assert_int_equal(enter(29, HANDLER + 1), 1);
	leave(29);
	leave(30);
	guard_leave(t);
	check((const uint64_t[]){ ENTRY(1, HANDLER + 1), EXIT(1, HANDLER + 1), EXIT(0, HANDLER) },
	      3);
	/* Later handlers begin anew. */
	guard_take(t);
	assert_int_equal(enter(30, HANDLER + 2), 1);
	leave(30);
	guard_leave(t);
	check((const uint64_t[]){ ENTRY(1, HANDLER + 1), EXIT(1, HANDLER + 1), EXIT(0, HANDLER),
				  ENTRY(0, HANDLER + 2), EXIT(0, HANDLER + 2) },
	      5);
}

/* The ring has no room for more records. Each lost record of the aside is counted. */
TEST_WITH(records_without_room_are_counted, setup, teardown)
{
	uint64_t lost;

	probe.plan.flags |= PLAN_DROP;
	while (emit_record(t, 1, ENTRY(0, 1), NULL, 0))
		;
	lost = t->ring->lost;
	guard_take(t);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(enter(30, HANDLER), 1);
		leave(30);
	}
	t->aside->ring->lost = 4;
	guard_leave(t);
	assert_int_equal(t->aside->ring->lost, 0);
	assert_int_equal(t->ring->lost, lost + 6 + 4);
	assert_int_equal(t->ring->lost_inside, 4);
	t->ring->lost = t->ring->lost_told = t->ring->lost_inside = 0;
}
