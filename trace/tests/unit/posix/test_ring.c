/*
 * Records in the cells of a stream: their places, the events that are read back, and records of
 * dead processes.
 */
#include <errno.h>
#include <string.h>

#include "tests/unit/lib/trace_stream.h"

#define NR_CELLS STREAM_CELLS
#define OWN_PID	 STREAM_PID
#define OFFSET	 STREAM_OFFSET

/* Parts of a cell's word: the round, the state, the number of cells, the pid. */
#define STATE_BIT  36
#define STATE_MASK (3ULL << STATE_BIT)
#define RESERVED   (1ULL << STATE_BIT)
#define COMMITTED  (2ULL << STATE_BIT)
#define CONTINUED  (3ULL << STATE_BIT)
#define COUNT(nr)  ((uint64_t)(nr) << 22)
#define ROUND(nr)  ((uint64_t)(nr) << 38)

static struct test_stream scene;
static struct pxt_view view;

static bool is_dead;
static unsigned nr_asked;
/* The value that the cell's word gets while its process is looked up; 0: it does not change. */
static uint64_t meanwhile;

bool __wrap_pxt_process_is_dead(pid_t pid);

bool __wrap_pxt_process_is_dead(pid_t pid)
{
	assert_int_equal(pid, OWN_PID);
	nr_asked++;
	if (meanwhile)
		atomic_store(&scene.cells[0].word, meanwhile);
	return is_dead;
}

static int begin(void **state)
{
	test_stream_begin(&scene, &view, POSIX_TRACE_LOOP);
	is_dead = true;
	nr_asked = 0;
	meanwhile = 0;
	return 0;
}

static uint64_t head(void)
{
	return atomic_load(&scene.stream.head);
}

static uint64_t tail(void)
{
	return atomic_load(&scene.stream.tail);
}

static uint64_t word(unsigned nr)
{
	return atomic_load(&scene.cells[nr].word);
}

static void set_word(unsigned nr, uint64_t to)
{
	atomic_store(&scene.cells[nr].word, to);
}

static int put(uint32_t len, uint64_t time_ns)
{
	static unsigned char data[8192];
	struct pxt_event event = {
		.time_ns = time_ns, .pid = OWN_PID, .id = PT_UNNAMED, .len = len
	};

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + len);
	return pxt_ring_put(&view, &event, data);
}

static int peek(uint64_t at, struct pxt_event *event, uint32_t *count)
{
	*count = 0;
	return pxt_ring_peek(&view, at, event, NULL, count);
}

TEST_WITH(small_data_is_in_the_first_cell, begin, NULL)
{
	assert_int_equal(pxt_cells_of(0), 1);
	assert_int_equal(pxt_cells_of(1), 1);
	assert_int_equal(pxt_cells_of(24), 1);
	assert_int_equal(pxt_cells_of(25), 2);
	assert_int_equal(pxt_cells_of(80), 2);
	assert_int_equal(pxt_cells_of(81), 3);
	assert_int_equal(pxt_cells_of(136), 3);
	assert_int_equal(pxt_cells_of(137), 4);
}

TEST_WITH(all_of_an_event_comes_back, begin, NULL)
{
	struct pxt_event event = {
		.time_ns = 0x1122334455667788,
		.address = 0x99aabbccddeeff00,
		.thread = 0x0123456789abcdef,
		.pid = OWN_PID,
		.id = 300,
		.len = 5,
		.flags = PT_TRUNCATED,
	};
	struct pxt_event found;
	char data[512];
	uint32_t count = 0;

	assert_int_equal(pxt_ring_put(&view, &event, "abcde"), 0);
	assert_int_equal(head(), NR_CELLS + 1);
	assert_int_equal(tail(), NR_CELLS);
	assert_int_equal(word(0), ROUND(1) | COMMITTED | COUNT(1) | OWN_PID);
	assert_int_equal(pxt_ring_peek(&view, NR_CELLS, &found, data, &count), 1);
	assert_int_equal(count, 1);
	assert_int_equal(found.time_ns, 0x1122334455667788);
	assert_int_equal(found.address, 0x99aabbccddeeff00);
	assert_int_equal(found.thread, 0x0123456789abcdef);
	assert_int_equal(found.pid, OWN_PID);
	assert_int_equal(found.id, 300);
	assert_int_equal(found.len, 5);
	assert_int_equal(found.flags, PT_TRUNCATED);
	assert_memory_equal(data, "abcde", 5);
	/* No writer came in between, and none waits. */
	assert_int_equal(atomic_load(&scene.stream.fence), 0);
	assert_int_equal(atomic_load(&scene.stream.wake), 0);
}

TEST_WITH(data_of_each_length_comes_back_and_no_byte_more, begin, NULL)
{
	for (uint32_t len = 0; len <= 300; len++) {
		struct pxt_event event = {
			.time_ns = len, .pid = OWN_PID, .id = PT_UNNAMED, .len = len
		};
		unsigned char *data = malloc(len + 1), back[512];
		uint64_t at = head();
		uint32_t count = 0;

		for (uint32_t i = 0; i < len; i++)
			data[i] = (unsigned char)(i * 3 + len + 1);
		memset(back, 0xee, sizeof(back));
		unsigned char *exact = exact_copy(data, len);

		assert_int_equal(pxt_ring_put(&view, &event, exact), 0);
		assert_int_equal(head(), at + pxt_cells_of(len));
		assert_int_equal(pxt_ring_peek(&view, at, &event, back, &count), 1);
		assert_int_equal(event.len, len);
		assert_int_equal(event.time_ns, len);
		assert_int_equal(count, pxt_cells_of(len));
		assert_memory_equal(back, data, len);
		for (uint32_t i = len; i < sizeof(back); i++)
			assert_int_equal(back[i], 0xee);
		assert_true(pxt_ring_take(&view, at, count));
		free(exact);
		free(data);
	}
	assert_true(head() > 2 * NR_CELLS);
}

TEST_WITH(what_is_behind_the_last_byte_is_zero, begin, NULL)
{
	unsigned char *cell = (unsigned char *)scene.cells[0].data;

	memset(cell, 0xff, PT_CELL_DATA);
	assert_int_equal(put(3, 0), 0);
	for (size_t i = sizeof(struct pxt_head) + 3; i % sizeof(pxt_piece); i++)
		assert_int_equal(cell[i], 0);
}

TEST_WITH(cells_that_go_on_are_no_records, begin, NULL)
{
	struct pxt_event event;
	uint32_t count;

	assert_int_equal(put(100, 0), 0);
	assert_int_equal(word(0), ROUND(1) | COMMITTED | COUNT(3) | OWN_PID);
	assert_int_equal(word(1), ROUND(1) | CONTINUED);
	assert_int_equal(word(2), ROUND(1) | CONTINUED);
	assert_int_equal(word(3), 0);
	assert_int_equal(peek(NR_CELLS + 1, &event, &count), -ESTALE);
	assert_int_equal(peek(NR_CELLS + 3, &event, &count), 0);
}

TEST_WITH(only_the_low_bits_of_a_pid_have_room, begin, NULL)
{
	struct pxt_event event = { .pid = 0xffc00000 | 5, .id = PT_UNNAMED };
	uint32_t count;

	assert_int_equal(pxt_ring_put(&view, &event, NULL), 0);
	assert_int_equal(word(0), ROUND(1) | COMMITTED | COUNT(1) | 5);
	event.pid = 0x3fffff;
	assert_int_equal(pxt_ring_put(&view, &event, NULL), 0);
	assert_int_equal(peek(NR_CELLS + 1, &event, &count), 1);
	assert_int_equal(event.pid, 0x3fffff);
}

TEST_WITH(a_full_ring_has_no_room, begin, NULL)
{
	for (int nr = 0; nr < NR_CELLS; nr++)
		assert_int_equal(put(0, nr), 0);
	assert_int_equal(put(0, 0), -ENOSPC);
	assert_int_equal(head(), 2 * NR_CELLS);
	assert_true(pxt_ring_take(&view, NR_CELLS, 1));
	assert_int_equal(put(0, 99), 0);
	assert_int_equal(put(0, 0), -ENOSPC);
	assert_int_equal(word(0), ROUND(2) | COMMITTED | COUNT(1) | OWN_PID);
}

TEST_WITH(a_record_needs_all_its_cells_free, begin, NULL)
{
	atomic_store(&scene.stream.tail, NR_CELLS + 3);
	atomic_store(&scene.stream.head, 2 * NR_CELLS + 1);
	assert_int_equal(put(81, 0), -ENOSPC); /* the record needs 3 cells, and 2 are free */
	assert_int_equal(put(80, 0), 0);
	assert_int_equal(head(), 2 * NR_CELLS + 3);
}

TEST_WITH(one_of_the_round_before_is_stale, begin, NULL)
{
	struct pxt_event event;
	uint32_t count;

	atomic_store(&scene.stream.head, 3 * NR_CELLS);
	atomic_store(&scene.stream.tail, 3 * NR_CELLS);
	assert_int_equal(put(0, 77), 0);
	assert_int_equal(peek(2 * NR_CELLS, &event, &count), -ESTALE);
	assert_int_equal(peek(NR_CELLS, &event, &count), -ESTALE);
	assert_int_equal(peek(3 * NR_CELLS, &event, &count), 1);
	assert_int_equal(event.time_ns, 77);
	assert_int_equal(peek(4 * NR_CELLS, &event, &count), 0);
	assert_int_equal(peek(5 * NR_CELLS, &event, &count), 0);
}

TEST_WITH(one_that_is_not_finished_says_how_many_cells_it_will_have, begin, NULL)
{
	struct pxt_event event;
	uint32_t count;

	set_word(0, ROUND(1) | RESERVED | COUNT(7) | OWN_PID);
	assert_int_equal(peek(NR_CELLS, &event, &count), -EAGAIN);
	assert_int_equal(count, 7);
}

TEST_WITH(a_count_that_cannot_be_is_stale, begin, NULL)
{
	struct pxt_event event;
	uint32_t count;

	set_word(0, ROUND(1) | COMMITTED | COUNT(0) | OWN_PID);
	assert_int_equal(peek(NR_CELLS, &event, &count), -ESTALE);
	set_word(0, ROUND(1) | COMMITTED | COUNT(NR_CELLS + 1) | OWN_PID);
	assert_int_equal(peek(NR_CELLS, &event, &count), -ESTALE);
	set_word(0, ROUND(1) | COMMITTED | COUNT(NR_CELLS) | OWN_PID);
	assert_int_equal(peek(NR_CELLS, &event, &count), 1);
	assert_int_equal(count, NR_CELLS);
}

/* Any program may have written a wrong length. */
TEST_WITH(a_length_that_cannot_be_is_cut, begin, NULL)
{
	struct pxt_head *first = (struct pxt_head *)scene.cells[0].data;
	struct pxt_event event;
	unsigned char data[512];
	uint32_t count;

	set_word(0, ROUND(1) | COMMITTED | COUNT(1) | OWN_PID);
	first->len = 24;
	assert_int_equal(peek(NR_CELLS, &event, &count), 1);
	assert_int_equal(event.len, 24);
	first->len = 25;
	assert_int_equal(peek(NR_CELLS, &event, &count), 1);
	assert_int_equal(event.len, 24);
	set_word(0, ROUND(1) | COMMITTED | COUNT(3) | OWN_PID);
	first->len = 1u << 31;
	assert_int_equal(peek(NR_CELLS, &event, &count), 1);
	assert_int_equal(event.len, 136);
	/* All cells together have more room than the buffer for their data. */
	set_word(0, ROUND(1) | COMMITTED | COUNT(NR_CELLS) | OWN_PID);
	assert_int_equal(pxt_ring_peek(&view, NR_CELLS, &event, data, &count), 1);
	assert_int_equal(event.len, 512);
	view.max_data = 256;
	assert_int_equal(peek(NR_CELLS, &event, &count), 1);
	assert_int_equal(event.len, 256);
	view.max_data = 8; /* system events have room nevertheless */
	assert_int_equal(peek(NR_CELLS, &event, &count), 1);
	assert_int_equal(event.len, 256);
}

TEST_WITH(only_the_oldest_is_taken, begin, NULL)
{
	assert_false(pxt_ring_take(&view, NR_CELLS - 1, 1));
	assert_false(pxt_ring_take(&view, NR_CELLS + 1, 1));
	assert_int_equal(tail(), NR_CELLS);
	assert_true(pxt_ring_take(&view, NR_CELLS, 5));
	assert_int_equal(tail(), NR_CELLS + 5);
}

/* A thread has claimed the place at the head and not moved the head yet. */
TEST_WITH(the_head_is_moved_for_others_and_the_event_comes_later, begin, NULL)
{
	struct pxt_event event = { .time_ns = 1, .pid = OWN_PID, .id = PT_UNNAMED };
	uint64_t before = pxt_clock_ns(CLOCK_MONOTONIC), after;

	set_word(0, ROUND(1) | RESERVED | COUNT(2) | 1);
	assert_int_equal(pxt_ring_put(&view, &event, NULL), 0);
	after = pxt_clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(head(), NR_CELLS + 3);
	assert_int_equal(word(0), ROUND(1) | RESERVED | COUNT(2) | 1);
	assert_int_equal(word(2), ROUND(1) | COMMITTED | COUNT(1) | OWN_PID);
	assert_true(event.time_ns >= before + 2500 + OFFSET);
	assert_true(event.time_ns <= after + 2500 + OFFSET);
}

TEST_WITH(way_is_given_once, begin, NULL)
{
	struct pxt_event event = { .time_ns = 1, .pid = OWN_PID, .id = PT_UNNAMED };

	/* Each look finds a place that was claimed: the thread gives way only at the first one. */
	for (unsigned nr = 0; nr < NR_CELLS - 1; nr++)
		set_word(nr, ROUND(1) | COMMITTED | COUNT(1) | 1);
	assert_int_equal(pxt_ring_put(&view, &event, NULL), 0);
	assert_int_equal(head(), 2 * NR_CELLS);
}

TEST_WITH(nobody_tries_for_ever, begin, NULL)
{
	set_word(0, ROUND(1) | RESERVED | COUNT(0) | 1);
	assert_int_equal(put(0, 0), -EBUSY);
	set_word(0, ROUND(1) | RESERVED | COUNT(NR_CELLS + 1) | 1);
	assert_int_equal(put(0, 0), -EBUSY);
	set_word(0, ROUND(2) | COMMITTED | COUNT(1) | 1);
	assert_int_equal(put(0, 0), -EBUSY);
	assert_int_equal(head(), NR_CELLS);
}

TEST_WITH(who_waits_is_woken, begin, NULL)
{
	atomic_store(&scene.stream.nr_waiting, 1);
	assert_int_equal(put(0, 0), 0);
	assert_int_equal(atomic_load(&scene.stream.wake), 1);
	assert_int_equal(put(0, 0), 0);
	assert_int_equal(atomic_load(&scene.stream.wake), 2);
}

TEST_WITH(a_dead_ones_is_skipped, begin, NULL)
{
	struct pxt_event event;
	uint32_t count;

	set_word(0, ROUND(1) | RESERVED | COUNT(2) | OWN_PID);
	assert_int_equal(peek(NR_CELLS, &event, &count), -EAGAIN);
	assert_true(pxt_ring_skip_dead(&view, NR_CELLS));
	assert_int_equal(tail(), NR_CELLS + 2);
	assert_int_equal(nr_asked, 1);
}

TEST_WITH(a_living_ones_is_not_skipped, begin, NULL)
{
	is_dead = false;
	set_word(0, ROUND(1) | RESERVED | COUNT(2) | OWN_PID);
	assert_false(pxt_ring_skip_dead(&view, NR_CELLS));
	assert_int_equal(tail(), NR_CELLS);
	assert_int_equal(nr_asked, 1);
}

TEST_WITH(only_what_is_reserved_there_is_skipped, begin, NULL)
{
	static const uint64_t others[] = {
		ROUND(1) | COMMITTED | COUNT(1) | OWN_PID,
		ROUND(1) | CONTINUED | COUNT(1) | OWN_PID,
		ROUND(1) | COUNT(1) | OWN_PID,
		ROUND(1) | RESERVED | COUNT(0) | OWN_PID,
		ROUND(1) | RESERVED | COUNT(NR_CELLS + 1) | OWN_PID,
		ROUND(0) | RESERVED | COUNT(1) | OWN_PID,
		ROUND(2) | RESERVED | COUNT(1) | OWN_PID,
	};

	for (unsigned nr = 0; nr < sizeof(others) / sizeof(others[0]); nr++) {
		set_word(0, others[nr]);
		assert_false(pxt_ring_skip_dead(&view, NR_CELLS));
	}
	assert_int_equal(nr_asked, 0);
	assert_int_equal(tail(), NR_CELLS);
}

/*
 * Between the look at the record and the check of its process, the record may be finished and the
 * process end.
 */
TEST_WITH(one_that_was_finished_stays, begin, NULL)
{
	struct pxt_event event;
	unsigned char data[512];
	uint32_t count;

	assert_int_equal(put(4, 0), 0);
	meanwhile = word(0);
	set_word(0, (meanwhile & ~STATE_MASK) | RESERVED);
	assert_false(pxt_ring_skip_dead(&view, NR_CELLS));
	assert_int_equal(tail(), NR_CELLS);
	assert_int_equal(pxt_ring_peek(&view, NR_CELLS, &event, data, &count), 1);
	assert_int_equal(event.len, 4);
	assert_int_equal(data[1], 7 + 4);
}

TEST_WITH(the_first_place_and_time_of_a_loss_are_kept, begin, NULL)
{
	pxt_note_lost(&scene.stream, 100, 5000);
	assert_int_equal(atomic_load(&scene.stream.lost), 1);
	assert_int_equal(atomic_load(&scene.stream.is_overrun), 1);
	assert_int_equal(atomic_load(&scene.stream.gap), 101);
	assert_int_equal(atomic_load(&scene.stream.gap_ns), 5000);
	pxt_note_lost(&scene.stream, 200, 6000);
	assert_int_equal(atomic_load(&scene.stream.lost), 2);
	assert_int_equal(atomic_load(&scene.stream.gap), 101);
	assert_int_equal(atomic_load(&scene.stream.gap_ns), 5000);
}

TEST_WITH(the_oldest_goes_and_is_lost, begin, NULL)
{
	assert_int_equal(put(25, 4000), 0);
	assert_int_equal(put(0, 4001), 0);
	assert_true(pxt_ring_evict(&view));
	assert_int_equal(tail(), NR_CELLS + 2);
	assert_int_equal(atomic_load(&scene.stream.lost), 1);
	assert_int_equal(atomic_load(&scene.stream.gap), NR_CELLS + 2 + 1);
	assert_int_equal(atomic_load(&scene.stream.gap_ns), 4000);
}

TEST_WITH(what_was_cleared_goes_and_is_not_lost, begin, NULL)
{
	assert_int_equal(put(0, 4000), 0);
	assert_int_equal(put(0, 4001), 0);
	atomic_store(&scene.stream.clear_at, NR_CELLS + 1);
	assert_true(pxt_ring_evict(&view));
	assert_int_equal(atomic_load(&scene.stream.lost), 0);
	assert_int_equal(atomic_load(&scene.stream.gap), 0);
	assert_true(pxt_ring_evict(&view));
	assert_int_equal(atomic_load(&scene.stream.lost), 1);
	assert_int_equal(atomic_load(&scene.stream.gap_ns), 4001);
}

TEST_WITH(where_nothing_is_nothing_goes, begin, NULL)
{
	assert_false(pxt_ring_evict(&view));
	assert_int_equal(tail(), NR_CELLS);
}

TEST_WITH(whether_one_died_is_asked_seldom, begin, NULL)
{
	set_word(0, ROUND(1) | RESERVED | COUNT(1) | OWN_PID);
	for (uint64_t lost = 1; lost < 1024; lost++) {
		atomic_store(&scene.stream.lost, lost);
		assert_false(pxt_ring_evict(&view));
	}
	assert_int_equal(nr_asked, 0);
	atomic_store(&scene.stream.lost, 1024);
	assert_true(pxt_ring_evict(&view));
	assert_int_equal(nr_asked, 1);
	assert_int_equal(tail(), NR_CELLS + 1);
	atomic_store(&scene.stream.tail, NR_CELLS);
	atomic_store(&scene.stream.lost, 0);
	is_dead = false;
	assert_false(pxt_ring_evict(&view));
	assert_int_equal(nr_asked, 2);
	assert_int_equal(tail(), NR_CELLS);
}
