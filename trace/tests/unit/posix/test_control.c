/*
 * A stream is started, stopped, cleared and filtered: the events that report this, and the records
 * that stay.
 */
#include <errno.h>

#include "posix/posix.h"
#include "tests/unit/lib/trace_place.h"

static trace_id_t trid;
static struct pxt_handle *handle;
static struct pxt_stream *stream;
static trace_event_id_t id;

static int begin(void **state)
{
	if (posix_trace_create(0, NULL, &trid) || posix_trace_eventid_open("an event", &id))
		return -1;
	handle = pxt_handle_get(trid, PT_ANY);
	pxt_handle_put(handle);
	stream = atomic_load(&handle->view->stream);
	return 0;
}

static int end(void **state)
{
	return posix_trace_shutdown(trid);
}

static struct posix_trace_event_info info;
static unsigned char data[512];
static size_t len;

/* Read the next event, which must be of type @wanted. */
static void next_is(trace_event_id_t wanted)
{
	int unavailable;

	assert_int_equal(
		posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len, &unavailable),
		0);
	assert_false(unavailable);
	assert_int_equal(info.posix_event_id, wanted);
}

static void nothing_more(void)
{
	int unavailable;

	assert_int_equal(
		posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len, &unavailable),
		0);
	assert_true(unavailable);
}

static uint32_t run_of(void)
{
	return atomic_load(&stream->run);
}

TEST_WITH(start_is_the_first_event, begin, end)
{
	trace_event_set_t filter;

	posix_trace_eventset_empty(&filter);
	posix_trace_eventset_add(id, &filter);
	assert_int_equal(posix_trace_set_filter(trid, &filter, POSIX_TRACE_SET_EVENTSET), 0);
	nothing_more();
	assert_int_equal(posix_trace_start(trid), 0);
	assert_int_equal(run_of(), PT_RUNS);
	assert_int_equal(posix_trace_start(trid), 0);
	next_is(POSIX_TRACE_START);
	assert_int_equal(len, sizeof(filter));
	assert_memory_equal(data, &filter, sizeof(filter));
	assert_non_null(info.posix_prog_address);
	nothing_more();
}

TEST_WITH(what_is_full_or_stopped_by_itself_is_not_started, begin, end)
{
	atomic_store(&stream->run, PT_IS_FULL | PT_RESTARTS);
	assert_int_equal(posix_trace_start(trid), 0);
	assert_int_equal(run_of(), PT_IS_FULL | PT_RESTARTS);
	nothing_more();
	atomic_store(&stream->run, 0);
}

TEST_WITH(stop_is_the_last_event, begin, end)
{
	int is_automatic = 5;

	posix_trace_start(trid);
	posix_trace_event(id, NULL, 0);
	assert_int_equal(posix_trace_stop(trid), 0);
	assert_int_equal(run_of(), 0);
	posix_trace_event(id, NULL, 0);
	assert_int_equal(posix_trace_stop(trid), 0);
	next_is(POSIX_TRACE_START);
	next_is(id);
	next_is(POSIX_TRACE_STOP);
	assert_int_equal(len, sizeof(int));
	memcpy(&is_automatic, data, sizeof(int));
	assert_int_equal(is_automatic, 0);
	assert_non_null(info.posix_prog_address);
	nothing_more();
}

TEST_WITH(one_that_was_stopped_does_not_begin_again, begin, end)
{
	atomic_store(&stream->run, PT_IS_FULL | PT_RESTARTS | PT_SAYS_STOP);
	assert_int_equal(posix_trace_stop(trid), 0);
	assert_int_equal(run_of(), PT_IS_FULL | PT_SAYS_STOP);
	atomic_store(&stream->run, PT_RUNS | PT_IS_FULL);
	assert_int_equal(posix_trace_stop(trid), 0);
	assert_int_equal(run_of(), 0);
	next_is(POSIX_TRACE_STOP);
	nothing_more();
}

TEST_WITH(a_full_stream_that_was_read_begins_again, begin, end)
{
	atomic_store(&stream->run, PT_IS_FULL | PT_RESTARTS);
	pxt_restart(handle->view);
	assert_int_equal(run_of(), PT_RUNS);
	next_is(POSIX_TRACE_START);
	assert_null(info.posix_prog_address);
	atomic_store(&stream->run, PT_IS_FULL);
	pxt_restart(handle->view);
	assert_int_equal(run_of(), 0);
	nothing_more();
}

TEST_WITH(of_what_was_cleared_nothing_is_left, begin, end)
{
	struct posix_trace_status_info status;

	posix_trace_start(trid);
	for (int nr = 0; nr < 5; nr++)
		posix_trace_event(id, "abc", 3);
	pxt_note_lost(stream, 1, 2);
	handle->nr_queued = 1;
	handle->has_held = true;
	handle->at = 99;
	atomic_store(&stream->run, PT_RUNS | PT_IS_FULL);
	assert_int_equal(posix_trace_clear(trid), 0);
	assert_int_equal(run_of(), PT_RUNS);
	assert_int_equal(handle->nr_queued, 0);
	assert_false(handle->has_held);
	assert_int_equal(handle->at, 0);
	assert_int_equal(atomic_load(&stream->gap), 0);
	assert_int_equal(atomic_load(&stream->gap_ns), 0);
	assert_int_equal(atomic_load(&stream->lost), 0);
	assert_int_equal(atomic_load(&stream->is_overrun), 0);
	assert_int_equal(atomic_load(&stream->tail), atomic_load(&stream->head));
	assert_int_equal(atomic_load(&stream->clear_at), atomic_load(&stream->head));
	nothing_more();
	posix_trace_event(id, "abc", 3);
	next_is(id);
	posix_trace_get_status(trid, &status);
	assert_int_equal(status.posix_stream_status, POSIX_TRACE_RUNNING);
	assert_int_equal(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
}

TEST_WITH(what_is_not_finished_is_not_waited_for, begin, end)
{
	uint64_t tail, head;
	struct pxt_cell *cell;

	posix_trace_start(trid);
	posix_trace_event(id, NULL, 0);
	tail = atomic_load(&stream->tail);
	head = atomic_load(&stream->head);
	/* The oldest record is unfinished, as while a process writes it. */
	cell = &handle->view->cells[tail % handle->view->nr_cells];
	atomic_fetch_xor(&cell->word, 3ULL << 36);
	assert_int_equal(posix_trace_clear(trid), 0);
	assert_int_equal(atomic_load(&stream->tail), tail);
	assert_int_equal(atomic_load(&stream->clear_at), head);
	atomic_fetch_xor(&cell->word, 3ULL << 36);
	nothing_more();
}

static void check_filter(const trace_event_id_t *ids, int nr)
{
	trace_event_set_t set;

	memset(&set, 0xff, sizeof(set));
	assert_int_equal(posix_trace_get_filter(trid, &set), 0);
	for (trace_event_id_t at = 0; at < PT_NR_IDS; at++) {
		bool is = false;

		for (int i = 0; i < nr; i++)
			is |= ids[i] == at;
		assert_int_equal(set.utrail_bits[at / 32] >> at % 32 & 1, is);
	}
}

static trace_event_set_t set_of(trace_event_id_t one, trace_event_id_t other)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(one, &set);
	posix_trace_eventset_add(other, &set);
	return set;
}

TEST_WITH(filters_are_set_added_and_taken_away, begin, end)
{
	const trace_event_id_t high = PT_END_NAMED - 1;
	trace_event_set_t set = set_of(id, high), both[2];

	assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	check_filter((trace_event_id_t[]){ id, high }, 2);
	set = set_of(high, PT_UNNAMED);
	assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET), 0);
	check_filter((trace_event_id_t[]){ id, high, PT_UNNAMED }, 3);
	nothing_more();
	posix_trace_start(trid);
	next_is(POSIX_TRACE_START);
	set = set_of(high, PT_FIRST_NAMED + 200);
	posix_trace_get_filter(trid, &both[0]);
	assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET), 0);
	posix_trace_get_filter(trid, &both[1]);
	check_filter((trace_event_id_t[]){ id, PT_UNNAMED }, 2);
	/* A running stream reports the old and the new filter. */
	next_is(POSIX_TRACE_FILTER);
	assert_int_equal(len, sizeof(both));
	assert_memory_equal(data, both, sizeof(both));
	assert_non_null(info.posix_prog_address);
	set = set_of(PT_UNNAMED, PT_UNNAMED);
	assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	check_filter((trace_event_id_t[]){ PT_UNNAMED }, 1);
	assert_int_equal(posix_trace_set_filter(trid, &set, 0), EINVAL);
	assert_int_equal(posix_trace_set_filter(trid, &set, 4), EINVAL);
	assert_int_equal(posix_trace_set_filter(trid, NULL, POSIX_TRACE_SET_EVENTSET), EINVAL);
	assert_int_equal(posix_trace_get_filter(trid, NULL), EINVAL);
	check_filter((trace_event_id_t[]){ PT_UNNAMED }, 1);
}

static void check_status(int running, int full, int overrun, unsigned long lost)
{
	struct posix_trace_status_info status;

	memset(&status, 0xff, sizeof(status));
	assert_int_equal(posix_trace_get_status(trid, &status), 0);
	assert_int_equal(status.posix_stream_status, running);
	assert_int_equal(status.posix_stream_full_status, full);
	assert_int_equal(status.posix_stream_overrun_status, overrun);
	assert_int_equal(status.posix_stream_lost_events, lost);
	assert_int_equal(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
	assert_int_equal(status.posix_stream_flush_error, 0);
	assert_int_equal(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	assert_int_equal(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
}

TEST_WITH(the_status_tells_of_an_overrun_once, begin, end)
{
	check_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN, 0);
	posix_trace_start(trid);
	check_status(POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN, 0);
	pxt_note_lost(stream, 1, 2);
	pxt_note_lost(stream, 1, 2);
	atomic_store(&stream->run, PT_IS_FULL);
	check_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN, 2);
	check_status(POSIX_TRACE_SUSPENDED, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN, 2);
	assert_int_equal(posix_trace_get_status(trid, NULL), EINVAL);
}

TEST_WITH(other_numbers_are_no_streams, begin, end)
{
	struct posix_trace_status_info status;
	trace_event_set_t set = set_of(id, id);
	trace_attr_t attr;

	for (trace_id_t other = trid - 1; other <= trid + 1; other += 2) {
		assert_int_equal(posix_trace_start(other), EINVAL);
		assert_int_equal(posix_trace_stop(other), EINVAL);
		assert_int_equal(posix_trace_clear(other), EINVAL);
		assert_int_equal(posix_trace_get_filter(other, &set), EINVAL);
		assert_int_equal(posix_trace_set_filter(other, &set, POSIX_TRACE_SET_EVENTSET),
				 EINVAL);
		assert_int_equal(posix_trace_get_attr(other, &attr), EINVAL);
		assert_int_equal(posix_trace_get_status(other, &status), EINVAL);
	}
	assert_int_equal(posix_trace_get_attr(trid, NULL), EINVAL);
	assert_int_equal(posix_trace_get_attr(trid, &attr), 0);
	assert_memory_equal(&attr, &handle->attr, sizeof(handle->attr));
}

/* After all these calls neither the handle nor its locks are held. */
TEST_WITH(nothing_is_held, begin, end)
{
	struct posix_trace_status_info status;
	trace_event_set_t set = set_of(id, id);
	trace_attr_t attr;

	posix_trace_start(trid);
	posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
	posix_trace_get_filter(trid, &set);
	posix_trace_get_status(trid, &status);
	posix_trace_get_attr(trid, &attr);
	posix_trace_clear(trid);
	posix_trace_stop(trid);
	assert_int_equal(handle->nr_users, 0);
	assert_int_equal(pthread_mutex_trylock(&handle->reads), 0);
	pthread_mutex_unlock(&handle->reads);
	assert_int_equal(pthread_mutex_trylock(&handle->controls), 0);
	pthread_mutex_unlock(&handle->controls);
}

TEST_GROUP(trace_place_make, NULL)
