/* Events are read: their data, and the time that a reader waits for the next one. */
#include <errno.h>
#include <signal.h>

#include "posix/posix.h"
#include "tests/unit/lib/trace_place.h"

static trace_id_t trid;
static struct pxt_handle *handle;
static struct pxt_stream *stream;
static trace_event_id_t id;
static struct posix_trace_event_info info;
static char data[512];
static size_t len;
static int unavailable;

static int begin(void **state)
{
	if (posix_trace_create(0, NULL, &trid) || posix_trace_eventid_open("an event", &id) ||
	    posix_trace_start(trid))
		return -1;
	handle = pxt_handle_get(trid, PT_ANY);
	pxt_handle_put(handle);
	stream = atomic_load(&handle->view->stream);
	unavailable = 77;
	return posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len, &unavailable);
}

static int end(void **state)
{
	assert_int_equal(atomic_load(&stream->nr_waiting), 0);
	assert_int_equal(handle->nr_users, 0);
	return posix_trace_shutdown(trid);
}

TEST_WITH(all_of_an_event_is_delivered, begin, end)
{
	const struct pxt_event event = {
		.id = 70,
		.pid = 4711,
		.address = 0x1234,
		.thread = 0x5678,
		.time_ns = 12999999999,
		.len = 3,
	};

	memset(&info, 0xff, sizeof(info));
	pxt_deliver(&event, "abc", &info, data, 3, &len);
	assert_int_equal(info.posix_event_id, 70);
	assert_int_equal(info.posix_pid, 4711);
	assert_ptr_equal(info.posix_prog_address, 0x1234);
	assert_int_equal(info.posix_thread_id, 0x5678);
	assert_int_equal(info.posix_timestamp.tv_sec, 12);
	assert_int_equal(info.posix_timestamp.tv_nsec, 999999999);
	assert_int_equal(info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	assert_int_equal(len, 3);
	assert_memory_equal(data, "abc", 3);
}

TEST_WITH(what_was_cut_says_where, begin, end)
{
	struct pxt_event event = { .len = 3, .flags = PT_TRUNCATED };

	strcpy(data, "xyz");
	pxt_deliver(&event, "abc", &info, data, 2, &len);
	assert_int_equal(info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	assert_int_equal(len, 2);
	assert_string_equal(data, "abz");
	pxt_deliver(&event, "abc", &info, data, 4, &len);
	assert_int_equal(info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	assert_int_equal(len, 3);
	event.flags = 0;
	pxt_deliver(&event, "abc", &info, NULL, 0, &len);
	assert_int_equal(info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	assert_int_equal(len, 0);
	/* If the source is NULL, the data are at their place already. */
	strcpy(data, "xyz");
	pxt_deliver(&event, NULL, &info, data, 3, &len);
	assert_string_equal(data, "xyz");
	assert_int_equal(len, 3);
}

static int try_next(void)
{
	return posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len, &unavailable);
}

static int next_until(const struct timespec *until)
{
	return posix_trace_timedgetnext_event(trid, &info, data, sizeof(data), &len, &unavailable,
					      until);
}

static int next(void)
{
	return posix_trace_getnext_event(trid, &info, data, sizeof(data), &len, &unavailable);
}

TEST_WITH(who_tries_does_not_wait, begin, end)
{
	assert_int_equal(try_next(), 0);
	assert_int_equal(unavailable, 1);
	posix_trace_event(id, "abc", 3);
	assert_int_equal(try_next(), 0);
	assert_int_equal(unavailable, 0);
	assert_int_equal(info.posix_event_id, id);
	assert_int_equal(len, 3);
	assert_memory_equal(data, "abc", 3);
}

TEST_WITH(what_is_there_is_had_without_a_wait, begin, end)
{
	const struct timespec past = { -5, -5 };

	posix_trace_event(id, NULL, 0);
	posix_trace_event(id, NULL, 0);
	assert_int_equal(next_until(&past), 0);
	assert_int_equal(unavailable, 0);
	unavailable = 77;
	assert_int_equal(next(), 0);
	assert_int_equal(unavailable, 0);
}

TEST_WITH(nobody_waits_for_a_time_that_has_passed, begin, end)
{
	assert_int_equal(next_until(&(struct timespec){ 1, 0 }), ETIMEDOUT);
	assert_int_equal(next_until(&(struct timespec){ 0, 999999999 }), ETIMEDOUT);
	assert_int_equal(next_until(&(struct timespec){ -1, 0 }), ETIMEDOUT);
	assert_int_equal(next_until(&(struct timespec){ 1, -1 }), EINVAL);
	assert_int_equal(next_until(&(struct timespec){ 1, 1000000000 }), EINVAL);
	assert_int_equal(next_until(&(struct timespec){ -1, 1000000000 }), EINVAL);
	assert_int_equal(next_until(NULL), EINVAL);
	assert_int_equal(unavailable, 0);
}

TEST_WITH(who_waits_waits_until_that_time, begin, end)
{
	uint64_t until_ns = pxt_clock_ns(CLOCK_REALTIME) + 30000000;
	struct timespec until = pxt_timespec(until_ns);

	assert_int_equal(next_until(&until), ETIMEDOUT);
	assert_true(pxt_clock_ns(CLOCK_REALTIME) >= until_ns);
}

/* A writer is in the middle of the next event, and does not finish. */
TEST_WITH(the_time_counts_behind_one_that_is_not_finished, begin, end)
{
	struct pxt_cell *cell;
	uint64_t until_ns;
	struct timespec until;

	posix_trace_event(id, NULL, 0);
	cell = &handle->view->cells[atomic_load(&stream->tail) % handle->view->nr_cells];
	atomic_fetch_xor(&cell->word, 3ULL << 36);
	assert_int_equal(next_until(&(struct timespec){ 1, 0 }), ETIMEDOUT);
	until_ns = pxt_clock_ns(CLOCK_REALTIME) + 50000000;
	until = pxt_timespec(until_ns);
	assert_int_equal(next_until(&until), ETIMEDOUT);
	assert_true(pxt_clock_ns(CLOCK_REALTIME) >= until_ns);
	assert_int_equal(try_next(), 0);
	assert_int_equal(unavailable, 1);
	atomic_fetch_xor(&cell->word, 3ULL << 36);
	assert_int_equal(try_next(), 0);
	assert_int_equal(unavailable, 0);
}

static void *write_one(void *arg)
{
	while (!atomic_load(&stream->nr_waiting))
		usleep(1000);
	usleep(5000);
	posix_trace_event(id, "late", 4);
	return NULL;
}

TEST_WITH(who_waits_is_woken_by_an_event, begin, end)
{
	for (int nr = 0; nr < 2; nr++) {
		const struct timespec far = { INT32_MAX, 0 };
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, write_one, NULL), 0);
		assert_int_equal(nr ? next_until(&far) : next(), 0);
		assert_int_equal(unavailable, 0);
		assert_int_equal(len, 4);
		pthread_join(thread, NULL);
	}
}

static void do_nothing(int sig)
{
}

static pthread_t reader;
static _Atomic bool has_read;

static void *interrupt(void *arg)
{
	while (!atomic_load(&has_read)) {
		if (atomic_load(&stream->nr_waiting))
			pthread_kill(reader, SIGUSR1);
		usleep(2000);
	}
	return NULL;
}

TEST_WITH(a_signal_ends_the_wait, begin, end)
{
	struct sigaction action = { .sa_handler = do_nothing };
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	reader = pthread_self();
	assert_int_equal(pthread_create(&thread, NULL, interrupt, NULL), 0);
	assert_int_equal(next(), EINTR);
	atomic_store(&has_read, true);
	pthread_join(thread, NULL);
}

TEST_WITH(it_must_be_said_where_to, begin, end)
{
	posix_trace_event(id, NULL, 0);
	assert_int_equal(posix_trace_trygetnext_event(trid, NULL, data, 1, &len, &unavailable),
			 EINVAL);
	assert_int_equal(posix_trace_trygetnext_event(trid, &info, NULL, 1, &len, &unavailable),
			 EINVAL);
	assert_int_equal(posix_trace_trygetnext_event(trid, &info, data, 1, NULL, &unavailable),
			 EINVAL);
	assert_int_equal(posix_trace_trygetnext_event(trid, &info, data, 1, &len, NULL), EINVAL);
	assert_int_equal(posix_trace_trygetnext_event(trid + 1, &info, data, 1, &len, &unavailable),
			 EINVAL);
	assert_int_equal(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &unavailable), 0);
	assert_int_equal(unavailable, 0);
}

TEST_GROUP(trace_place_make, NULL)
