/* The way of an event: the streams that it goes to, and each policy for a stream without room. */
#include <errno.h>

#include "tests/unit/lib/trace_stream.h"

#define SERIAL 77
#define ID     (PT_FIRST_NAMED + 40)

static struct test_stream streams[2];
static struct pxt_registry registry;
static bool is_dead;
static unsigned nr_asked, nr_woken, nr_emitted;
static _Atomic uint32_t *woken;
static size_t emitted_len;
static uint32_t emitted_id;
/* The stream that a mapping puts into its view. */
static struct pxt_stream *to_map;
static unsigned nr_mapped;

bool __wrap_pxt_process_is_dead(pid_t pid);
void __wrap_pxt_futex_wake(_Atomic uint32_t *word);
void __wrap_pxt_recorded_emit(uint32_t id, const void *data, size_t len);
bool __wrap_pxt_view_map(unsigned int number, uint32_t serial);

bool __wrap_pxt_process_is_dead(pid_t pid)
{
	assert_int_equal(pid, STREAM_PID);
	nr_asked++;
	return is_dead;
}

void __wrap_pxt_futex_wake(_Atomic uint32_t *word)
{
	nr_woken++;
	woken = word;
}

void __wrap_pxt_recorded_emit(uint32_t id, const void *data, size_t len)
{
	nr_emitted++;
	emitted_id = id;
	emitted_len = len;
}

bool __wrap_pxt_view_map(unsigned int number, uint32_t serial)
{
	struct pxt_view *view = &pxt_process.views[number];

	nr_mapped++;
	if (!to_map)
		return false;
	atomic_store(&view->serial, serial);
	return true;
}

#define FIRST	     0u
#define SECOND	     63u
#define VIEW(number) (&pxt_process.views[number])
#define STREAM	     (&streams[0].stream)

static void attach(unsigned number, struct test_stream *stream)
{
	test_stream_begin(stream, VIEW(number), POSIX_TRACE_LOOP);
	atomic_store(&stream->stream.run, PT_RUNS);
	atomic_store(&VIEW(number)->serial, SERIAL + number);
	atomic_store(&registry.serial[number], SERIAL + number);
	atomic_fetch_or(&registry.attached[number / PT_ATTACHED_BITS],
			1ul << number % PT_ATTACHED_BITS);
}

static int begin(void **state)
{
	memset(&registry, 0, sizeof(registry));
	attach(FIRST, &streams[0]);
	atomic_store(&pxt_process.registry, &registry);
	atomic_store(&pxt_process.pid, STREAM_PID);
	atomic_store(&pxt_process.is_recorded, 0);
	is_dead = false;
	nr_asked = nr_woken = nr_emitted = nr_mapped = 0;
	woken = NULL;
	to_map = NULL;
	return 0;
}

static uint32_t run_of(void)
{
	return atomic_load(&STREAM->run);
}

static uint64_t lost(void)
{
	return atomic_load(&STREAM->lost);
}

static struct pxt_event next(void *data)
{
	return test_stream_next(&streams[0], VIEW(FIRST), data);
}

TEST_WITH(a_filter_is_a_bit_of_the_one_that_counts, begin, NULL)
{
	atomic_store(&STREAM->filter[0][2], 1u << 5);
	atomic_store(&STREAM->filter[1][31], 1u << 31);
	assert_true(pxt_is_filtered(STREAM, 2 * 32 + 5));
	assert_false(pxt_is_filtered(STREAM, 2 * 32 + 4));
	assert_false(pxt_is_filtered(STREAM, 2 * 32 + 6));
	assert_false(pxt_is_filtered(STREAM, 3 * 32 + 5));
	assert_false(pxt_is_filtered(STREAM, 1023));
	atomic_store(&STREAM->which_filter, 1);
	assert_false(pxt_is_filtered(STREAM, 2 * 32 + 5));
	assert_true(pxt_is_filtered(STREAM, 1023));
	/* Any program may have written this value, and may ask for an id that does not exist. */
	atomic_store(&STREAM->which_filter, 3);
	assert_true(pxt_is_filtered(STREAM, 1023));
	assert_true(pxt_is_filtered(STREAM, 2047));
}

TEST_WITH(a_filter_is_read_as_a_set, begin, NULL)
{
	trace_event_set_t set;

	for (unsigned nr = 0; nr < PT_NR_IDS / 32; nr++) {
		atomic_store(&STREAM->filter[0][nr], nr + 1);
		atomic_store(&STREAM->filter[1][nr], nr + 1000);
	}
	pxt_filter_get(STREAM, &set);
	for (unsigned nr = 0; nr < PT_NR_IDS / 32; nr++)
		assert_int_equal(set.utrail_bits[nr], nr + 1);
	atomic_store(&STREAM->which_filter, 5);
	pxt_filter_get(STREAM, &set);
	for (unsigned nr = 0; nr < PT_NR_IDS / 32; nr++)
		assert_int_equal(set.utrail_bits[nr], nr + 1000);
}

TEST_WITH(readers_are_woken_by_a_change, begin, NULL)
{
	pxt_wake_readers(STREAM);
	assert_int_equal(atomic_load(&STREAM->wake), 1);
	assert_ptr_equal(woken, &STREAM->wake);
	assert_int_equal(nr_woken, 1);
}

TEST_WITH(a_flush_is_asked_for_once, begin, NULL)
{
	pxt_want_flush(STREAM);
	assert_int_equal(atomic_load(&STREAM->wants_flush), 1);
	assert_ptr_equal(woken, &STREAM->wants_flush);
	pxt_want_flush(STREAM);
	assert_int_equal(nr_woken, 1);
}

TEST_WITH(a_system_event_is_of_this_thread, begin, NULL)
{
	uint64_t before = pxt_clock_ns(CLOCK_MONOTONIC);
	struct pxt_event event;
	int data = 5, back[128];

	pxt_put_system(VIEW(FIRST), PT_STOP, &data, sizeof(data), &data);
	event = next(back);
	assert_int_equal(event.id, PT_STOP);
	assert_int_equal(event.len, 4);
	assert_int_equal(back[0], 5);
	assert_int_equal(event.address, (uintptr_t)&data);
	assert_int_equal(event.thread, (uintptr_t)pthread_self());
	assert_int_equal(event.pid, STREAM_PID);
	assert_int_equal(event.flags, 0);
	assert_true(event.time_ns + 1000000 >= before + STREAM_OFFSET);
	assert_true(event.time_ns <= pxt_clock_ns(CLOCK_MONOTONIC) + STREAM_OFFSET + 1000000);
}

TEST_WITH(a_system_event_asks_the_filter_and_not_the_status, begin, NULL)
{
	atomic_store(&STREAM->run, 0);
	pxt_put_system(VIEW(FIRST), PT_STOP, NULL, 0, NULL);
	assert_int_equal(test_stream_used(&streams[0]), 1);
	atomic_store(&STREAM->filter[0][0], 1u << PT_STOP);
	pxt_put_system(VIEW(FIRST), PT_STOP, NULL, 0, NULL);
	assert_int_equal(test_stream_used(&streams[0]), 1);
}

TEST_WITH(for_some_nothing_is_lost, begin, NULL)
{
	pxt_put_if_room(VIEW(FIRST), PT_FLUSH_START);
	assert_int_equal(test_stream_used(&streams[0]), 1);
	atomic_store(&STREAM->run, PT_IS_FULL);
	pxt_put_if_room(VIEW(FIRST), PT_FLUSH_START);
	assert_int_equal(test_stream_used(&streams[0]), 1);
	atomic_store(&STREAM->run, PT_RUNS);
	atomic_store(&STREAM->filter[0][0], 1u << PT_FLUSH_START);
	pxt_put_if_room(VIEW(FIRST), PT_FLUSH_START);
	assert_int_equal(test_stream_used(&streams[0]), 1);
	test_stream_fill(VIEW(FIRST), STREAM_CELLS - 1, 1);
	pxt_put_if_room(VIEW(FIRST), PT_FLUSH_STOP);
	assert_int_equal(test_stream_used(&streams[0]), STREAM_CELLS);
	assert_int_equal(lost(), 0);
	assert_int_equal(next(NULL).id, PT_FLUSH_START);
}

TEST_WITH(start_tells_of_the_filter, begin, NULL)
{
	trace_event_set_t set;
	struct pxt_event event;
	unsigned char back[512];

	memset(&set, 0, sizeof(set));
	set.utrail_bits[3] = 0x12345678;
	atomic_store(&STREAM->filter[0][3], 0x12345678);
	pxt_put_start(VIEW(FIRST), &set);
	event = next(back);
	assert_int_equal(event.id, PT_START);
	assert_int_equal(event.len, sizeof(set));
	assert_int_equal(event.address, (uintptr_t)&set);
	assert_memory_equal(back, &set, sizeof(set));
}

/* --- policies --- */

static void record(size_t len)
{
	static const char data[2048];

	pxt_record(ID, data, len, NULL);
}

TEST_WITH(a_loop_loses_the_oldest, begin, NULL)
{
	test_stream_fill(VIEW(FIRST), STREAM_CELLS, 5000);
	assert_int_equal(run_of(), PT_RUNS);
	record(0);
	assert_int_equal(run_of(), PT_RUNS | PT_IS_FULL);
	assert_int_equal(lost(), 1);
	assert_int_equal(atomic_load(&STREAM->gap_ns), 5000);
	assert_int_equal(test_stream_used(&streams[0]), STREAM_CELLS);
	/* A large event takes the place of several others. */
	record(100);
	assert_int_equal(lost(), 4);
	assert_int_equal(run_of(), PT_RUNS | PT_IS_FULL);
	assert_int_equal(next(NULL).time_ns, 5004);
	assert_int_equal(nr_woken, 0);
}

TEST_WITH(a_loop_that_was_stopped_does_not_become_full, begin, NULL)
{
	test_stream_fill(VIEW(FIRST), STREAM_CELLS, 5000);
	atomic_store(&STREAM->run, 0);
	pxt_put_system(VIEW(FIRST), PT_STOP, NULL, 0, NULL);
	assert_int_equal(run_of(), 0);
	assert_int_equal(lost(), 1);
}

TEST_WITH(whether_the_owner_lives_is_asked_seldom, begin, NULL)
{
	test_stream_fill(VIEW(FIRST), STREAM_CELLS, 5000);
	atomic_store(&STREAM->lost, 1);
	is_dead = true;
	record(0);
	assert_int_equal(nr_asked, 0);
	atomic_store(&STREAM->lost, 16384);
	is_dead = false;
	record(0);
	assert_int_equal(nr_asked, 1);
	assert_int_equal(run_of(), PT_RUNS | PT_IS_FULL);
	atomic_store(&STREAM->lost, 16383);
	record(0);
	assert_int_equal(nr_asked, 1);
}

TEST_WITH(a_stream_whose_owner_died_is_left, begin, NULL)
{
	test_stream_fill(VIEW(FIRST), STREAM_CELLS, 5000);
	is_dead = true;
	record(0);
	assert_int_equal(run_of(), PT_IS_CLOSED);
	assert_int_equal(atomic_load(&registry.attached[0]), 0);
	assert_int_equal(lost(), 1);
}

TEST_WITH(what_cannot_go_makes_no_room, begin, NULL)
{
	test_stream_fill(VIEW(FIRST), STREAM_CELLS, 5000);
	/* The oldest record is unfinished, as while a process writes it. */
	atomic_store(&streams[0].cells[0].word,
		     (1ULL << 38) | (1ULL << 36) | (1ULL << 22) | STREAM_PID);
	atomic_store(&STREAM->lost, 1);
	record(0);
	assert_int_equal(lost(), 2);
	assert_int_equal(test_stream_used(&streams[0]), STREAM_CELLS);
	assert_int_equal(atomic_load(&STREAM->gap), 2 * STREAM_CELLS + 1);
}

TEST_WITH(one_that_is_not_to_lose_anything_stops, begin, NULL)
{
	VIEW(FIRST)->policy = POSIX_TRACE_UNTIL_FULL;
	test_stream_fill(VIEW(FIRST), STREAM_CELLS, 5000);
	assert_int_equal(run_of(), PT_RUNS);
	record(0);
	assert_int_equal(run_of(), PT_IS_FULL | PT_RESTARTS | PT_SAYS_STOP);
	assert_int_equal(lost(), 1);
	assert_true(atomic_load(&STREAM->stopped_ns) > STREAM_OFFSET);
	assert_int_equal(atomic_load(&STREAM->gap_ns), atomic_load(&STREAM->stopped_ns));
	assert_ptr_equal(woken, &STREAM->wake);
	assert_int_equal(nr_woken, 1);
	/* The stream has stopped: even with room, all events are lost. */
	next(NULL);
	record(0);
	assert_int_equal(lost(), 2);
	assert_int_equal(test_stream_used(&streams[0]), STREAM_CELLS - 1);
}

/* An unfinished record at the tail has kept posix_trace_clear() from removing the others. */
TEST_WITH(cleared_records_make_room_and_are_not_lost, begin, NULL)
{
	static const uint32_t policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
					     POSIX_TRACE_FLUSH };

	for (unsigned nr = 0; nr < 3; nr++) {
		begin(NULL);
		VIEW(FIRST)->policy = policies[nr];
		test_stream_fill(VIEW(FIRST), STREAM_CELLS, 5000);
		atomic_store(&STREAM->clear_at, atomic_load(&STREAM->head));
		record(0);
		/* This event takes the place of three others. */
		record(100);
		assert_int_equal(run_of(), PT_RUNS);
		assert_int_equal(lost(), 0);
		assert_int_equal(nr_asked, 0);
		assert_int_equal(test_stream_used(&streams[0]), STREAM_CELLS);
		for (int more = 4; more < STREAM_CELLS; more++)
			record(0);
		assert_int_equal(run_of(), PT_RUNS);
		assert_int_equal(lost(), 0);
		record(0);
		assert_int_equal(lost(), 1);
	}
}

TEST_WITH(half_a_stream_with_a_log_wants_a_flush, begin, NULL)
{
	VIEW(FIRST)->policy = POSIX_TRACE_FLUSH;
	test_stream_fill(VIEW(FIRST), STREAM_CELLS / 2 - 1, 5000);
	record(0);
	assert_int_equal(atomic_load(&STREAM->wants_flush), 0);
	record(0);
	assert_int_equal(atomic_load(&STREAM->wants_flush), 1);
	assert_int_equal(lost(), 0);
	assert_int_equal(run_of(), PT_RUNS);
}

TEST_WITH(a_full_stream_with_a_log_loses_what_comes, begin, NULL)
{
	VIEW(FIRST)->policy = POSIX_TRACE_FLUSH;
	test_stream_fill(VIEW(FIRST), STREAM_CELLS, 5000);
	record(0);
	assert_int_equal(atomic_load(&STREAM->wants_flush), 1);
	assert_int_equal(lost(), 1);
	assert_int_equal(run_of(), PT_RUNS);
	assert_int_equal(next(NULL).time_ns, 5000);
}

TEST_WITH(half_of_other_streams_wants_nothing, begin, NULL)
{
	test_stream_fill(VIEW(FIRST), STREAM_CELLS / 2, 5000);
	record(0);
	assert_int_equal(atomic_load(&STREAM->wants_flush), 0);
}

/* Events may also be lost for another reason than lack of room. */
TEST_WITH(what_nobody_can_write_is_lost, begin, NULL)
{
	for (uint32_t policy = POSIX_TRACE_LOOP; policy <= POSIX_TRACE_FLUSH; policy++) {
		begin(NULL);
		VIEW(FIRST)->policy = policy;
		atomic_store(&streams[0].cells[0].word, 2ULL << 38);
		record(0);
		assert_int_equal(lost(), 1);
		assert_int_equal(run_of(), PT_RUNS);
		assert_int_equal(atomic_load(&STREAM->wants_flush), policy == POSIX_TRACE_FLUSH);
	}
}

/* --- events --- */

TEST_WITH(an_event_is_in_all_streams_at_one_time, begin, NULL)
{
	struct pxt_event one, other;
	char back[512];
	uint64_t before = pxt_clock_ns(CLOCK_MONOTONIC);

	attach(SECOND, &streams[1]);
	VIEW(SECOND)->offset_ns = 5;
	VIEW(SECOND)->max_data = 2;
	pxt_record(ID, "abc", 3, back);
	one = next(back);
	assert_memory_equal(back, "abc", 3);
	other = test_stream_next(&streams[1], VIEW(SECOND), back);
	assert_memory_equal(back, "ab", 2);
	assert_true(one.time_ns + 1000000 >= before + STREAM_OFFSET);
	assert_int_equal(one.time_ns - STREAM_OFFSET, other.time_ns - 5);
	assert_int_equal(one.thread, (uintptr_t)pthread_self());
	assert_int_equal(other.thread, (uintptr_t)pthread_self());
	assert_int_equal(one.address, (uintptr_t)back);
	assert_int_equal(one.pid, STREAM_PID);
	assert_int_equal(one.id, ID);
	assert_int_equal(one.len, 3);
	assert_int_equal(other.len, 2);
	assert_int_equal(one.flags, 0);
	assert_int_equal(other.flags, PT_TRUNCATED);
}

TEST_WITH(what_is_cut_for_one_stream_is_whole_in_the_next, begin, NULL)
{
	struct pxt_event one, other;
	char back[512];

	attach(SECOND, &streams[1]);
	VIEW(FIRST)->max_data = 2;
	pxt_record(ID, "abc", 3, NULL);
	one = next(back);
	other = test_stream_next(&streams[1], VIEW(SECOND), back);
	assert_int_equal(one.len, 2);
	assert_int_equal(one.flags, PT_TRUNCATED);
	assert_int_equal(other.len, 3);
	assert_int_equal(other.flags, 0);
	assert_memory_equal(back, "abc", 3);
	pxt_record(ID, "ab", 2, NULL);
	one = next(NULL);
	assert_int_equal(one.len, 2);
	assert_int_equal(one.flags, 0);
}

TEST_WITH(a_stream_that_does_not_run_gets_nothing, begin, NULL)
{
	atomic_store(&STREAM->run, 0);
	record(0);
	assert_int_equal(test_stream_used(&streams[0]), 0);
	assert_int_equal(lost(), 0);
	/* An event that a full stream does not get is lost. */
	atomic_store(&STREAM->run, PT_IS_FULL);
	record(0);
	assert_int_equal(test_stream_used(&streams[0]), 0);
	assert_int_equal(lost(), 1);
	atomic_store(&STREAM->run, PT_IS_FULL | PT_RUNS);
	record(0);
	assert_int_equal(test_stream_used(&streams[0]), 1);
}

TEST_WITH(what_is_filtered_is_not_lost, begin, NULL)
{
	atomic_store(&STREAM->filter[0][ID / 32], 1u << ID % 32);
	record(0);
	assert_int_equal(test_stream_used(&streams[0]), 0);
	atomic_store(&STREAM->run, PT_IS_FULL);
	record(0);
	assert_int_equal(lost(), 0);
}

TEST_WITH(functions_are_for_streams_that_want_them, begin, NULL)
{
	char back[512];

	pxt_record(PT_FUNCTION_ENTRY, "abcdefgh", 8, NULL);
	assert_int_equal(test_stream_used(&streams[0]), 0);
	VIEW(FIRST)->has_functions = true;
	VIEW(FIRST)->max_data = 4;
	pxt_record(PT_FUNCTION_ENTRY, "abcdefgh", 8, NULL);
	assert_int_equal(next(back).len, 8); /* the data of a system event are not cut */
	VIEW(FIRST)->has_functions = false;
	pxt_record(PT_UNNAMED, "abc", 3, NULL);
	assert_int_equal(next(back).id, PT_UNNAMED);
}

TEST_WITH(a_stream_that_is_not_mapped_is_mapped, begin, NULL)
{
	atomic_store(&VIEW(FIRST)->serial, 5);
	record(0);
	assert_int_equal(nr_mapped, 1);
	assert_int_equal(test_stream_used(&streams[0]), 0);
	to_map = STREAM;
	record(0);
	assert_int_equal(nr_mapped, 2);
	assert_int_equal(test_stream_used(&streams[0]), 1);
	record(0);
	assert_int_equal(nr_mapped, 2);
	assert_int_equal(test_stream_used(&streams[0]), 2);
}

TEST_WITH(one_that_is_not_there_gets_nothing, begin, NULL)
{
	atomic_store(&VIEW(FIRST)->stream, NULL);
	record(0);
	assert_int_equal(nr_mapped, 0);
	assert_int_equal(atomic_load(&registry.attached[0]), 1);
}

TEST_WITH(one_that_has_ended_is_left, begin, NULL)
{
	attach(SECOND, &streams[1]);
	atomic_store(&STREAM->run, PT_IS_CLOSED);
	record(0);
	assert_int_equal(atomic_load(&registry.attached[0]) & 1, 0);
	assert_int_equal(atomic_load(&registry.attached[SECOND / PT_ATTACHED_BITS]),
			 1ul << SECOND % PT_ATTACHED_BITS);
	assert_int_equal(test_stream_used(&streams[1]), 1);
}

TEST_WITH(nobody_is_inside_afterwards, begin, NULL)
{
	record(0);
	assert_non_null(pxt_thread);
	assert_int_equal(atomic_load(&pxt_thread->turn) & 1, 0);
	for (int nr = 0; nr < PT_NR_USERS; nr++)
		assert_int_equal(atomic_load(&VIEW(FIRST)->users[nr].nr), 0);
}

TEST_WITH(only_events_of_programs_are_recorded, begin, NULL)
{
	posix_trace_event(PT_UNNAMED - 1, NULL, 0);
	posix_trace_event(PT_END_NAMED, NULL, 0);
	posix_trace_event(ID, NULL, 1);
	assert_int_equal(test_stream_used(&streams[0]), 0);
	posix_trace_event(PT_UNNAMED, NULL, 0);
	posix_trace_event(PT_END_NAMED - 1, "", 0);
	posix_trace_event(ID, "abc", 3);
	assert_int_equal(next(NULL).id, PT_UNNAMED);
	assert_int_equal(next(NULL).id, PT_END_NAMED - 1);
	assert_int_equal(next(NULL).len, 3);
	assert_int_equal(nr_emitted, 0);
}

TEST_WITH(a_recorder_gets_all_of_it, begin, NULL)
{
	atomic_store(&pxt_process.is_recorded, 1);
	posix_trace_event(ID, "abc", 3);
	assert_int_equal(nr_emitted, 1);
	assert_int_equal(emitted_id, ID);
	assert_int_equal(emitted_len, 3);
	assert_int_equal(test_stream_used(&streams[0]), 1);
	atomic_store(&registry.attached[0], 0);
	posix_trace_event(ID, "abc", 3);
	assert_int_equal(nr_emitted, 2);
	assert_int_equal(test_stream_used(&streams[0]), 1);
	posix_trace_event(ID, NULL, 3);
	assert_int_equal(nr_emitted, 2);
}

TEST_WITH(more_than_an_event_can_have_is_cut, begin, NULL)
{
	static char data[PT_DATA_MAX + 1];
	struct pxt_event event;

	VIEW(FIRST)->max_data = 100;
	pxt_record(ID, data, PT_DATA_MAX, NULL);
	event = next(NULL);
	assert_int_equal(event.len, 100);
	assert_int_equal(event.flags, PT_TRUNCATED);
	pxt_record(PT_UNNAMED, data, SIZE_MAX, NULL);
	assert_int_equal(next(NULL).flags, PT_TRUNCATED);
}
