/* The choice of the next event: a record, a loss before it, or the stop of the stream. */
#include <errno.h>

#include "tests/unit/lib/trace_stream.h"

static struct test_stream stream;
static struct pxt_handle handle;
static unsigned char buffer[512];
static bool is_dead;
/* The number of events that another reader will still take, each right after it was looked at. */
static int nr_steals;

bool __wrap_pxt_process_is_dead(pid_t pid);
int __real_pxt_ring_peek(const struct pxt_view *view, uint64_t at, struct pxt_event *event,
			 void *data, uint32_t *nr_cells);
int __wrap_pxt_ring_peek(const struct pxt_view *view, uint64_t at, struct pxt_event *event,
			 void *data, uint32_t *nr_cells);

bool __wrap_pxt_process_is_dead(pid_t pid)
{
	return is_dead;
}

int __wrap_pxt_ring_peek(const struct pxt_view *view, uint64_t at, struct pxt_event *event,
			 void *data, uint32_t *nr_cells)
{
	int found = __real_pxt_ring_peek(view, at, event, data, nr_cells);

	if (nr_steals > 0) {
		nr_steals--;
		atomic_fetch_add(&stream.stream.tail, 1);
	}
	return found;
}

static int begin(void **state)
{
	memset(&handle, 0, sizeof(handle));
	handle.view = &handle.own_view;
	handle.buffer = buffer;
	pthread_mutex_init(&handle.controls, NULL);
	test_stream_begin(&stream, handle.view, POSIX_TRACE_LOOP);
	atomic_store(&stream.stream.run, PT_RUNS);
	is_dead = false;
	nr_steals = 0;
	return 0;
}

static void next_is(uint32_t id, uint64_t time_ns)
{
	struct pxt_event event;

	assert_int_equal(pxt_take(&handle, &event), 1);
	assert_int_equal(event.id, id);
	assert_int_equal(event.time_ns, time_ns);
	if (id == PT_OVERFLOW || id == PT_RESUME) {
		assert_int_equal(event.pid, 0);
		assert_int_equal(event.thread, 0);
		assert_int_equal(event.address, 0);
		assert_int_equal(event.len, 0);
		assert_int_equal(event.flags, 0);
	}
}

static void nothing_more(void)
{
	struct pxt_event event;

	assert_int_equal(pxt_take(&handle, &event), 0);
}

static void begin_writing(void)
{
	atomic_store(&stream.cells[atomic_load(&stream.stream.head) % STREAM_CELLS].word,
		     (1ULL << 38) | (1ULL << 36) | (1ULL << 22) | STREAM_PID);
	atomic_fetch_add(&stream.stream.head, 1);
}

TEST_WITH(events_come_in_their_order_and_with_their_data, begin, NULL)
{
	struct pxt_event event = { .time_ns = 100, .id = PT_FIRST_NAMED, .len = 3 };

	assert_int_equal(pxt_ring_put(handle.view, &event, "abc"), 0);
	test_stream_fill(handle.view, 1, 101);
	next_is(PT_FIRST_NAMED, 100);
	assert_memory_equal(buffer, "abc", 3);
	next_is(PT_FIRST_NAMED, 101);
	nothing_more();
	assert_int_equal(test_stream_used(&stream), 0);
}

TEST_WITH(a_loop_with_room_is_full_no_more, begin, NULL)
{
	atomic_store(&stream.stream.run, PT_RUNS | PT_IS_FULL);
	nothing_more();
	assert_int_equal(atomic_load(&stream.stream.run), PT_RUNS | PT_IS_FULL);
	test_stream_fill(handle.view, 2, 100);
	next_is(PT_FIRST_NAMED, 100);
	assert_int_equal(atomic_load(&stream.stream.run), PT_RUNS);
	handle.view->policy = POSIX_TRACE_UNTIL_FULL;
	atomic_store(&stream.stream.run, PT_RUNS | PT_IS_FULL);
	next_is(PT_FIRST_NAMED, 101);
	assert_int_equal(atomic_load(&stream.stream.run), PT_RUNS | PT_IS_FULL);
}

TEST_WITH(a_gap_is_told_before_what_is_behind_it, begin, NULL)
{
	test_stream_fill(handle.view, 2, 100);
	pxt_note_lost(&stream.stream, STREAM_CELLS + 1, 50);
	next_is(PT_FIRST_NAMED, 100);
	next_is(PT_OVERFLOW, 50);
	assert_int_equal(atomic_load(&stream.stream.gap), 0);
	assert_int_equal(atomic_load(&stream.stream.gap_ns), 0);
	assert_int_equal(test_stream_used(&stream), 0);
	next_is(PT_RESUME, 101);
	next_is(PT_FIRST_NAMED, 101);
	nothing_more();
}

TEST_WITH(a_gap_whose_time_is_not_known_has_that_of_the_next, begin, NULL)
{
	test_stream_fill(handle.view, 1, 100);
	atomic_store(&stream.stream.gap, STREAM_CELLS);
	next_is(PT_OVERFLOW, 100);
	next_is(PT_RESUME, 100);
	next_is(PT_FIRST_NAMED, 100);
}

TEST_WITH(a_gap_is_told_at_its_place_and_behind_it, begin, NULL)
{
	test_stream_fill(handle.view, 3, 100);
	atomic_store(&stream.stream.gap, STREAM_CELLS + 2);
	next_is(PT_FIRST_NAMED, 100);
	next_is(PT_OVERFLOW, 101);
	next_is(PT_RESUME, 101);
	next_is(PT_FIRST_NAMED, 101);
	next_is(PT_FIRST_NAMED, 102);
}

TEST_WITH(the_last_gap_is_told_when_it_is_asked_for, begin, NULL)
{
	uint64_t before = pxt_clock_ns(CLOCK_MONOTONIC) + STREAM_OFFSET;
	struct pxt_event event;

	assert_false(pxt_take_last_gap(&handle));
	assert_int_equal(handle.nr_queued, 0);
	pxt_note_lost(&stream.stream, STREAM_CELLS, 50);
	nothing_more();
	assert_true(pxt_take_last_gap(&handle));
	assert_false(pxt_take_last_gap(&handle));
	next_is(PT_OVERFLOW, 50);
	assert_int_equal(pxt_take(&handle, &event), 1);
	assert_int_equal(event.id, PT_RESUME);
	assert_true(event.time_ns + 1000000 >= before);
	assert_true(event.time_ns <= pxt_clock_ns(CLOCK_MONOTONIC) + STREAM_OFFSET + 1000000);
	nothing_more();
}

TEST_WITH(what_was_cleared_is_stepped_over, begin, NULL)
{
	test_stream_fill(handle.view, 3, 100);
	atomic_store(&stream.stream.clear_at, STREAM_CELLS + 2);
	next_is(PT_FIRST_NAMED, 102);
	nothing_more();
}

TEST_WITH(what_others_have_taken_is_not_told, begin, NULL)
{
	test_stream_fill(handle.view, 3, 100);
	nr_steals = 2;
	next_is(PT_FIRST_NAMED, 102);
	nothing_more();
}

TEST_WITH(what_is_not_finished_is_waited_for_while_its_process_lives, begin, NULL)
{
	struct pxt_event event;

	begin_writing();
	atomic_store(&stream.stream.head, STREAM_CELLS + 1);
	test_stream_fill(handle.view, 1, 101);
	assert_int_equal(pxt_take(&handle, &event), -EAGAIN);
	assert_int_equal(test_stream_used(&stream), 2);
	is_dead = true;
	next_is(PT_FIRST_NAMED, 101);
	nothing_more();
}

/* Any program may have written nonsense into the stream. */
TEST_WITH(nonsense_is_nothing, begin, NULL)
{
	atomic_store(&stream.cells[0].word, 2ULL << 38);
	nothing_more();
	assert_int_equal(atomic_load(&stream.stream.tail), STREAM_CELLS);
}

TEST_WITH(a_stream_that_stopped_by_itself_says_so_and_goes_on, begin, NULL)
{
	struct pxt_event event;
	int is_automatic = 0;

	handle.view->policy = POSIX_TRACE_UNTIL_FULL;
	test_stream_fill(handle.view, 1, 100);
	atomic_store(&stream.stream.run, PT_IS_FULL | PT_RESTARTS | PT_SAYS_STOP);
	atomic_store(&stream.stream.stopped_ns, 400);
	next_is(PT_FIRST_NAMED, 100);
	assert_int_equal(pxt_take(&handle, &event), 1);
	assert_int_equal(event.id, PT_STOP);
	assert_int_equal(event.time_ns, 400);
	assert_int_equal(event.len, sizeof(int));
	assert_int_equal(event.pid, 0);
	memcpy(&is_automatic, buffer, sizeof(is_automatic));
	assert_int_equal(is_automatic, 1);
	assert_int_equal(atomic_load(&stream.stream.run), PT_RUNS);
	assert_int_equal(pthread_mutex_trylock(&handle.controls), 0);
	pthread_mutex_unlock(&handle.controls);
	assert_int_equal(pxt_take(&handle, &event), 1);
	assert_int_equal(event.id, PT_START);
	nothing_more();
}

TEST_WITH(one_that_was_stopped_says_so_and_stays, begin, NULL)
{
	struct pxt_event event;

	atomic_store(&stream.stream.run, PT_IS_FULL | PT_SAYS_STOP);
	assert_int_equal(pxt_take(&handle, &event), 1);
	assert_int_equal(event.id, PT_STOP);
	assert_int_equal(atomic_load(&stream.stream.run), 0);
	nothing_more();
}

/* --- streams with a log --- */

static void follow_is(uint64_t time_ns)
{
	struct pxt_event event;

	assert_int_equal(pxt_follow(&handle, &event), 1);
	assert_int_equal(event.time_ns, time_ns);
}

static void follow_finds(int result)
{
	struct pxt_event event;

	assert_int_equal(pxt_follow(&handle, &event), result);
}

TEST_WITH(who_follows_takes_nothing, begin, NULL)
{
	struct pxt_event event = { .time_ns = 100, .id = PT_FIRST_NAMED, .len = 30 };
	static const char data[30] = "with data";

	assert_int_equal(pxt_ring_put(handle.view, &event, data), 0);
	test_stream_fill(handle.view, 2, 101);
	follow_is(100);
	assert_memory_equal(buffer, data, 30);
	assert_int_equal(handle.at, STREAM_CELLS + 2);
	follow_is(101);
	follow_is(102);
	follow_finds(0);
	assert_int_equal(test_stream_used(&stream), 4);
	test_stream_fill(handle.view, 1, 103);
	follow_is(103);
}

TEST_WITH(who_is_too_late_goes_on_with_what_is_there, begin, NULL)
{
	test_stream_fill(handle.view, 4, 100);
	follow_is(100);
	atomic_store(&stream.stream.tail, STREAM_CELLS + 2);
	follow_is(102);
	assert_int_equal(handle.at, STREAM_CELLS + 3);
	/* The event is taken while the reader looks at it. */
	nr_steals = 2;
	follow_is(103);
}

TEST_WITH(who_follows_sees_nothing_that_was_cleared, begin, NULL)
{
	test_stream_fill(handle.view, 4, 100);
	atomic_store(&stream.stream.clear_at, STREAM_CELLS + 3);
	follow_is(103);
	follow_finds(0);
}

TEST_WITH(who_follows_waits_and_does_not_see_nonsense, begin, NULL)
{
	begin_writing();
	follow_finds(-EAGAIN);
	assert_int_equal(handle.at, STREAM_CELLS);
	atomic_store(&stream.cells[0].word, 2ULL << 38);
	follow_finds(0);
	assert_int_equal(handle.at, STREAM_CELLS);
}
