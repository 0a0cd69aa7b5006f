/*
 * Tests the choices that the standard leaves open: posix_trace(3), "What was chosen". Most choices
 * have points in the file of their subject; the points of the others are here.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "point.h"
#include "posix/posix.h"

/* Read all events, and count those of type @id. */
static int count_of(trace_id_t trid, trace_event_id_t id)
{
	struct seen seen;
	int nr = 0;

	while (try_next(trid, &seen))
		nr += seen.info.posix_event_id == id;
	return nr;
}

static void filter_all(trace_id_t trid, trace_event_id_t but)
{
	trace_event_set_t set;

	CHECK_IS(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS), 0);
	CHECK_IS(posix_trace_eventset_del(but, &set), 0);
	CHECK_IS(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
}

POINT(filter_of_all_system_events_leaves_overflow_and_resume)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_small(POSIX_TRACE_LOOP, 64);
	struct seen seen;

	filter_all(trid, id);
	write_numbers(id, 0, 1000);
	expect(trid, POSIX_TRACE_OVERFLOW, &seen);
	expect(trid, POSIX_TRACE_RESUME, &seen);
	expect(trid, id, &seen);
}

POINT(filter_of_all_system_events_leaves_the_automatic_stop)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_small(POSIX_TRACE_UNTIL_FULL, 64);

	filter_all(trid, id);
	write_numbers(id, 0, 1000);
	CHECK_IS(count_of(trid, POSIX_TRACE_STOP), 1);
}

/* A stream with a gap has room for as many events as a stream without a gap. */
POINT(overflow_and_resume_take_no_room)
{
	trace_event_id_t id = open_id("x");
	trace_id_t full = make_small(POSIX_TRACE_UNTIL_FULL, 64), trid;
	int nr_room;

	filter_all(full, id);
	posix_trace_clear(full);
	write_numbers(id, 0, 1000);
	nr_room = count_of(full, id);
	CHECK_IS(posix_trace_shutdown(full), 0);
	trid = make_small(POSIX_TRACE_LOOP, 64);
	filter_all(trid, id);
	write_numbers(id, 0, 1000);
	CHECK_IS(count_of(trid, id), nr_room);
}

static void do_nothing(int nr)
{
	(void)nr;
}

POINT(getnext_of_a_bad_trid_is_einval_in_spite_of_signals)
{
	struct sigaction action = { .sa_handler = do_nothing };
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	trace_id_t trid = make_stream(NULL);
	struct seen seen;

	CHECK_IS(posix_trace_shutdown(trid), 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int nr = 0; nr < 20000; nr++)
		CHECK_IS(posix_trace_getnext_event(trid, &seen.info, NULL, 0, &seen.len,
						   &seen.unavailable),
			 EINVAL);
	setitimer(ITIMER_REAL, &never, NULL);
}

/*
 * Timestamps are not taken from the clock that orders events: that clock may be years off. The hour
 * allows for a change of the real-time clock meanwhile.
 */
POINT(timestamps_are_of_clock_realtime)
{
	const int64_t hour_ns = 3600ll * 1000000000;
	trace_id_t trid = make_running(NULL);
	struct timespec *when;
	struct seen seen;
	int64_t ns;

	write_numbers(open_id("x"), 1, 1);
	expect(trid, POSIX_TRACE_START, &seen);
	expect(trid, open_id("x"), &seen);
	when = &seen.info.posix_timestamp;
	ns = (int64_t)when->tv_sec * 1000000000 + when->tv_nsec;
	ns -= (int64_t)now_ns(CLOCK_REALTIME);
	CHECK(ns < hour_ns && ns > -hour_ns);
}

POINT(shutdown_without_an_active_stream_is_einval)
{
	int fd = make_file();
	trace_id_t trid = make_log(fd, NULL), log;

	CHECK_IS(posix_trace_shutdown(trid), 0);
	CHECK_IS(posix_trace_shutdown(trid), EINVAL);
	CHECK_IS(posix_trace_open(fd, &log), 0);
	CHECK_IS(posix_trace_shutdown(log), EINVAL);
	CHECK_IS(posix_trace_close(log), 0);
	CHECK_IS(posix_trace_shutdown(log), EINVAL);
}

POINT(attributes_are_of_the_type_trace_attr_t)
{
	int (*init)(trace_attr_t *) = posix_trace_attr_init;
	trace_attr_t attr;

	CHECK_IS(init(&attr), 0);
}

/* A flush is complete when the call returns, so it is never observed in progress. */
POINT(flush_is_done_when_it_returns)
{
	int fd = make_file();
	trace_id_t trid = make_log(fd, NULL), log;

	write_numbers(open_id("x"), 1, 3);
	CHECK_IS(posix_trace_flush(trid), 0);
	CHECK_IS(status_of(trid).posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
	CHECK_IS(posix_trace_open(fd, &log), 0);
	CHECK_IS(posix_trace_close(log), 0);
}

/* Cancellation */

struct waiter {
	trace_id_t trid;
	bool has_time;
	bool is_late; /* the thread is asked to end before it waits */
};

static void *wait_for_event(void *argument)
{
	const struct waiter *waiter = argument;
	const struct timespec until = { .tv_sec = (time_t)(now_ns(CLOCK_REALTIME) / 1000000000 +
							   1000) };
	struct seen seen;

	if (waiter->is_late)
		pthread_cancel(pthread_self());
	if (waiter->has_time)
		posix_trace_timedgetnext_event(waiter->trid, &seen.info, NULL, 0, &seen.len,
					       &seen.unavailable, &until);
	else
		posix_trace_getnext_event(waiter->trid, &seen.info, NULL, 0, &seen.len,
					  &seen.unavailable);
	return NULL;
}

static void check_cancelled(struct waiter waiter)
{
	struct pxt_handle *handle = pxt_handle_get(waiter.trid, PT_ANY);
	struct pxt_stream *stream = atomic_load(&handle->view->stream);
	pthread_t thread;
	void *result;

	pxt_handle_put(handle);
	CHECK_IS(pthread_create(&thread, NULL, wait_for_event, &waiter), 0);
	while (!waiter.is_late && !atomic_load(&stream->nr_waiting))
		usleep(1000);
	if (!waiter.is_late)
		CHECK_IS(pthread_cancel(thread), 0);
	CHECK_IS(pthread_join(thread, &result), 0);
	CHECK(result == PTHREAD_CANCELED);
	CHECK_IS(atomic_load(&stream->nr_waiting), 0);
}

/* Check that after a cancelled wait no lock is held, no thread waits, and no event is lost. */
static void check_cancelling(bool has_time)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	struct seen seen;

#ifdef __SANITIZE_ADDRESS__
	return; /* the sanitizer does not see that frames of a cancelled thread are gone */
#endif
	expect(trid, POSIX_TRACE_START, &seen);
	for (int nr = 0; nr < 20; nr++)
		check_cancelled((struct waiter){ trid, has_time, nr % 2 });
	write_numbers(id, 7, 1);
	expect(trid, id, &seen);
	CHECK_IS(number_of(&seen), 7);
	CHECK_IS(posix_trace_shutdown(trid), 0);
}

POINT(thread_that_waits_in_getnext_can_be_cancelled)
{
	check_cancelling(false);
}

POINT(thread_that_waits_in_timedgetnext_can_be_cancelled)
{
	check_cancelling(true);
}

static _Atomic bool has_called_all;

/* Call functions that use files, in a thread that is to be cancelled. */
static void *call_all(void *argument)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	const int *fd = argument;
	trace_event_id_t id;
	struct seen seen;
	trace_id_t trid;

	pthread_cancel(pthread_self());
	trid = make_log(*fd, NULL);
	write_numbers(open_id("x"), 1, 1);
	CHECK_IS(posix_trace_clear(trid), 0);
	write_numbers(open_id("x"), 1, 1);
	CHECK_IS(posix_trace_flush(trid), 0);
	CHECK_IS(posix_trace_shutdown(trid), 0);
	CHECK_IS(posix_trace_open(*fd, &trid), 0);
	CHECK_IS(posix_trace_eventid_get_name(trid, open_id("x"), name), 0);
	CHECK_IS(posix_trace_eventtypelist_getnext_id(trid, &id, &seen.unavailable), 0);
	CHECK_IS(posix_trace_getnext_event(trid, &seen.info, seen.data, sizeof(seen.data),
					   &seen.len, &seen.unavailable),
		 0);
	CHECK(!seen.unavailable);
	CHECK_IS(posix_trace_close(trid), 0);
	atomic_store(&has_called_all, true);
	pthread_testcancel();
	return NULL;
}

POINT(thread_is_not_cancelled_in_functions_that_use_files)
{
	int fd = make_file();
	pthread_t thread;
	void *result;

#ifdef __SANITIZE_ADDRESS__
	return; /* the sanitizer does not see that frames of a cancelled thread are gone */
#endif
	CHECK_IS(pthread_create(&thread, NULL, call_all, &fd), 0);
	CHECK_IS(pthread_join(thread, &result), 0);
	CHECK(atomic_load(&has_called_all));
	CHECK(result == PTHREAD_CANCELED);
	CHECK_IS(posix_trace_shutdown(make_running(NULL)), 0);
}

/* A thread that has disabled cancellation is not cancelled. */
static void *wait_undisturbed(void *argument)
{
	static int was_read;
	const struct waiter *waiter = argument;
	struct seen seen;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	was_read = posix_trace_getnext_event(waiter->trid, &seen.info, NULL, 0, &seen.len,
					     &seen.unavailable);
	return &was_read;
}

POINT(thread_that_cannot_be_cancelled_goes_on_waiting)
{
	struct waiter waiter = { .trid = make_running(NULL) };
	struct seen seen;
	pthread_t thread;
	void *result;

	expect(waiter.trid, POSIX_TRACE_START, &seen);
	CHECK_IS(pthread_create(&thread, NULL, wait_undisturbed, &waiter), 0);
	usleep(10000);
	CHECK_IS(pthread_cancel(thread), 0);
	write_numbers(open_id("x"), 1, 1);
	CHECK_IS(pthread_join(thread, &result), 0);
	CHECK(result != PTHREAD_CANCELED);
	CHECK_IS(*(int *)result, 0);
}
