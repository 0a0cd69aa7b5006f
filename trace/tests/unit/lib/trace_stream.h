/*
 * A stream of POSIX Trace in this process' memory, with its view: no folder, no file, no other
 * process.
 */
#ifndef UTRAIL_TESTS_UNIT_TRACE_STREAM_H
#define UTRAIL_TESTS_UNIT_TRACE_STREAM_H

#include <string.h>

#include "posix/posix.h"
#include "tests/unit/lib/unit.h"

#define STREAM_CELLS  64
#define STREAM_OFFSET 1000000000000ULL
#define STREAM_PID    4711

struct test_stream {
	struct pxt_stream stream;
	struct pxt_cell cells[STREAM_CELLS];
};

static inline void test_stream_begin(struct test_stream *of, struct pxt_view *view, uint32_t policy)
{
	memset(of, 0, sizeof(*of));
	memset(view, 0, sizeof(*view));
	view->cells = of->cells;
	view->nr_cells = STREAM_CELLS;
	view->shift = (uint32_t)__builtin_ctz(STREAM_CELLS);
	view->max_data = 512;
	view->offset_ns = STREAM_OFFSET;
	view->policy = policy;
	view->owner_pid = STREAM_PID;
	atomic_store(&view->stream, &of->stream);
	/* The places begin with round 1: fresh cells are of round 0. */
	atomic_store(&of->stream.head, STREAM_CELLS);
	atomic_store(&of->stream.tail, STREAM_CELLS);
}

/* Returns the number of cells in use. */
static inline uint64_t test_stream_used(const struct test_stream *of)
{
	return atomic_load(&of->stream.head) - atomic_load(&of->stream.tail);
}

/* Add @nr events without data, with times from @time_ns on. */
static inline void test_stream_fill(struct pxt_view *view, int nr, uint64_t time_ns)
{
	for (int i = 0; i < nr; i++) {
		struct pxt_event event = { .time_ns = time_ns + i,
					   .pid = STREAM_PID,
					   .id = PT_FIRST_NAMED };

		assert_int_equal(pxt_ring_put(view, &event, NULL), 0);
	}
}

/* Take the oldest event. @data: NULL, or of 512 bytes. */
static inline struct pxt_event test_stream_next(struct test_stream *of, struct pxt_view *view,
						void *data)
{
	uint64_t tail = atomic_load(&of->stream.tail);
	struct pxt_event event;
	uint32_t nr_cells;

	assert_int_equal(pxt_ring_peek(view, tail, &event, data, &nr_cells), 1);
	assert_true(pxt_ring_take(view, tail, nr_cells));
	return event;
}

#endif
