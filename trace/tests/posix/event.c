/*
 * Conformance: recording and reading of events, and the policies of a full stream. The file is long
 * because its points share one subject and their helpers.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "point.h"

POINT(event_is_recorded_with_its_data)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	posix_trace_event(id, "some data", 9);
	expect_started(trid, id, &seen);
	CHECK_IS(seen.len, 9);
	CHECK(!memcmp(seen.data, "some data", 9));
}

POINT_WITH_ATTR(event_of_each_length_has_all_of_its_bytes)
{
	trace_event_id_t id = open_id("x");
	unsigned char data[512];
	struct seen seen;
	trace_id_t trid;

	posix_trace_attr_setmaxdatasize(attr, sizeof(data));
	trid = make_running(attr);
	expect(trid, POSIX_TRACE_START, &seen);
	for (size_t nr = 0; nr < sizeof(data); nr++)
		data[nr] = (unsigned char)(nr * 7 + 1);
	for (size_t len = 0; len <= sizeof(data) - 1; len++) {
		posix_trace_event(id, data + 1, len);
		expect(trid, id, &seen);
		CHECK_IS(seen.len, len);
		CHECK(!memcmp(seen.data, data + 1, len));
		CHECK_IS(seen.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	}
}

POINT(event_without_data_has_length_zero)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	posix_trace_event(id, NULL, 0);
	expect_started(trid, id, &seen);
	CHECK_IS(seen.len, 0);
}

POINT(event_says_the_process_and_the_thread)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	posix_trace_event(id, NULL, 0);
	expect_started(trid, id, &seen);
	CHECK_IS(seen.info.posix_pid, getpid());
	CHECK(pthread_equal(seen.info.posix_thread_id, pthread_self()));
}

static void *write_one(void *id)
{
	posix_trace_event(*(trace_event_id_t *)id, NULL, 0);
	return NULL;
}

POINT(event_of_another_thread_says_that_thread)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	struct seen seen;
	pthread_t thread;

	CHECK_IS(pthread_create(&thread, NULL, write_one, &id), 0);
	pthread_join(thread, NULL);
	expect_started(trid, id, &seen);
	CHECK(pthread_equal(seen.info.posix_thread_id, thread));
}

static uint64_t time_of(const struct seen *seen)
{
	return (uint64_t)seen->info.posix_timestamp.tv_sec * 1000000000 +
	       (uint64_t)seen->info.posix_timestamp.tv_nsec;
}

POINT(event_says_the_time_in_order)
{
	uint64_t before = now_ns(CLOCK_REALTIME), time;
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	write_numbers(id, 0, 100);
	while (try_next(trid, &seen)) {
		time = time_of(&seen);
		/*
		 * A small difference is allowed: the real-time clock may be set, and the two clocks
		 * are not read at the same time.
		 */
		CHECK(time + 1000000 >= before);
		before = time;
	}
}

/*
 * The point takes long enough for a few comparisons of the CPU's counter with the kernel's clock.
 */
POINT(event_time_is_when_it_was_called)
{
	struct timespec step = { 0, 100000 };
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	uint64_t before, after, time, last = 0;
	struct seen seen;

	expect(trid, POSIX_TRACE_START, &seen);
	for (int nr = 0; nr < 300; nr++) {
		before = now_ns(CLOCK_REALTIME);
		posix_trace_event(id, NULL, 0);
		after = now_ns(CLOCK_REALTIME);
		expect(trid, id, &seen);
		time = time_of(&seen);
		CHECK(time >= last);
		/*
		 * A small difference is allowed: the two clocks are read one after the other, and a
		 * reading may be interrupted.
		 */
		CHECK(time + 1000000 >= before && time <= after + 1000000);
		last = time;
		nanosleep(&step, NULL);
	}
}

__attribute__((noinline)) static void *write_and_say_where(trace_event_id_t id)
{
	posix_trace_event(id, NULL, 0);
	__asm__ volatile("" ::: "memory");
	return __extension__(void *) write_and_say_where;
}

POINT(event_says_where_the_program_was)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	char *function = write_and_say_where(id), *where;
	struct seen seen;

	expect_started(trid, id, &seen);
	where = seen.info.posix_prog_address;
	CHECK(where > function - 1 && where < function + 4096);
}

POINT(event_before_a_start_is_not_recorded)
{
	trace_id_t trid = make_stream(NULL);

	write_numbers(open_id("x"), 0, 1);
	expect_nothing(trid);
}

POINT(event_without_any_stream_has_no_effect)
{
	write_numbers(open_id("x"), 0, 1);
	expect_nothing(make_stream(NULL));
}

POINT(event_of_the_unnamed_type_needs_no_name)
{
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, "u", 1);
	expect_started(trid, POSIX_TRACE_UNNAMED_USER_EVENT, &seen);
	CHECK_IS(seen.len, 1);
}

POINT(event_of_a_system_type_or_none_has_no_effect)
{
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	posix_trace_event(POSIX_TRACE_STOP, NULL, 0);
	posix_trace_event(0, NULL, 0);
	posix_trace_event(~0u, NULL, 0);
	expect(trid, POSIX_TRACE_START, &seen);
	expect_nothing(trid);
}

POINT(event_leaves_errno)
{
	trace_event_id_t id = open_id("x");

	make_running(NULL);
	errno = 77;
	posix_trace_event(id, NULL, 0);
	CHECK_IS(errno, 77);
}

POINT(event_goes_to_all_streams_that_run)
{
	trace_event_id_t id = open_id("x");
	trace_id_t one = make_running(NULL), suspended = make_stream(NULL);
	trace_id_t other = make_running(NULL);
	struct seen seen;

	write_numbers(id, 4, 1);
	expect_started(one, id, &seen);
	expect_started(other, id, &seen);
	CHECK_IS(number_of(&seen), 4);
	expect_nothing(suspended);
}

POINT_WITH_ATTR(event_longer_than_the_largest_data_is_cut_and_says_so)
{
	trace_event_id_t id = open_id("x");
	struct seen seen;
	trace_id_t trid;

	posix_trace_attr_setmaxdatasize(attr, 10);
	trid = make_running(attr);
	posix_trace_event(id, "0123456789abcdef", 16);
	posix_trace_event(id, "0123456789", 10);
	expect_started(trid, id, &seen);
	CHECK_IS(seen.len, 10);
	CHECK(!memcmp(seen.data, "0123456789", 10));
	CHECK_IS(seen.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	expect(trid, id, &seen);
	CHECK_IS(seen.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
}

POINT_WITH_ATTR(event_cut_by_one_stream_is_whole_in_another_one)
{
	trace_event_id_t id = open_id("x");
	struct seen seen;
	trace_id_t one, other;

	posix_trace_attr_setmaxdatasize(attr, 4);
	one = make_running(attr);
	other = make_running(NULL);
	posix_trace_event(id, "0123456789", 10);
	expect_started(one, id, &seen);
	CHECK_IS(seen.len, 4);
	expect_started(other, id, &seen);
	CHECK_IS(seen.len, 10);
	CHECK_IS(seen.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
}

static trace_event_id_t id_of_handler;

static void handler(int signal_number)
{
	posix_trace_event(id_of_handler, &signal_number, sizeof(signal_number));
}

POINT(event_can_be_written_in_signal_handlers)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_small(POSIX_TRACE_LOOP, 4096);
	struct seen seen;
	int nr_of_handler = 0, next = 0;

	id_of_handler = open_id("handler");
	signal(SIGUSR1, handler);
	for (int nr = 0; nr < 500; nr++) {
		write_numbers(id, nr, 1);
		raise(SIGUSR1);
	}
	while (try_next(trid, &seen)) {
		if (seen.info.posix_event_id == id)
			CHECK_IS(number_of(&seen), next++);
		else if (seen.info.posix_event_id == id_of_handler)
			CHECK_IS((nr_of_handler++, number_of(&seen)), SIGUSR1);
	}
	CHECK_IS(next, 500);
	CHECK_IS(nr_of_handler, 500);
}

static void *write_many(void *argument)
{
	trace_event_id_t id = *(trace_event_id_t *)argument;

	for (int nr = 0; nr < 2000; nr++)
		posix_trace_event(id, &nr, sizeof(nr));
	return NULL;
}

POINT(event_of_many_threads_are_all_there_and_in_order_of_each)
{
	trace_id_t trid = make_small(POSIX_TRACE_UNTIL_FULL, 10000);
	trace_event_id_t ids[4];
	pthread_t threads[4];
	int next[4] = { 0 };
	struct seen seen;

	for (int nr = 0; nr < 4; nr++) {
		char name[32];

		snprintf(name, sizeof(name), "thread %d", nr);
		ids[nr] = open_id(name);
	}
	for (int nr = 0; nr < 4; nr++)
		CHECK_IS(pthread_create(&threads[nr], NULL, write_many, &ids[nr]), 0);
	for (int nr = 0; nr < 4; nr++)
		pthread_join(threads[nr], NULL);
	while (try_next(trid, &seen)) {
		for (int nr = 0; nr < 4; nr++) {
			if (seen.info.posix_event_id == ids[nr])
				CHECK_IS(number_of(&seen), next[nr]++);
		}
	}
	for (int nr = 0; nr < 4; nr++)
		CHECK_IS(next[nr], 2000);
}

POINT(event_of_many_threads_while_it_is_read_are_read_or_counted_as_lost)
{
	trace_id_t trid = make_small(POSIX_TRACE_LOOP, 128);
	int nr_read = 0, last[4] = { -1, -1, -1, -1 };
	trace_event_id_t ids[4];
	pthread_t threads[4];
	struct seen seen;

	for (int nr = 0; nr < 4; nr++) {
		char name[32];

		snprintf(name, sizeof(name), "thread %d", nr);
		ids[nr] = open_id(name);
	}
	for (int nr = 0; nr < 4; nr++)
		CHECK_IS(pthread_create(&threads[nr], NULL, write_many, &ids[nr]), 0);
	for (int round = 0; round < 2; round++) {
		for (int left = round ? 1 << 20 : 4000; left > 0; left--) {
			if (!try_next(trid, &seen)) {
				if (round)
					break;
				continue;
			}
			for (int nr = 0; nr < 4; nr++) {
				if (seen.info.posix_event_id != ids[nr])
					continue;
				nr_read++;
				CHECK(number_of(&seen) > last[nr]);
				last[nr] = number_of(&seen);
			}
			nr_read += seen.info.posix_event_id == POSIX_TRACE_START;
		}
		for (int nr = 0; nr < 4 && !round; nr++)
			pthread_join(threads[nr], NULL);
	}
	CHECK_IS(nr_read + (int)status_of(trid).posix_stream_lost_events, 4 * 2000 + 1);
}

/* Reading */

POINT(trygetnext_of_an_empty_stream_says_so)
{
	struct posix_trace_event_info info;
	int unavailable = 0;
	size_t len;

	CHECK_IS(
		posix_trace_trygetnext_event(make_stream(NULL), &info, NULL, 0, &len, &unavailable),
		0);
	CHECK(unavailable);
}

POINT(trygetnext_of_an_event_says_that_it_is_there)
{
	struct posix_trace_event_info info;
	int unavailable = 1;
	size_t len;

	CHECK_IS(posix_trace_trygetnext_event(make_running(NULL), &info, NULL, 0, &len,
					      &unavailable),
		 0);
	CHECK_IS(unavailable, 0);
}

POINT(getnext_gives_each_event_once_and_the_oldest_first)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	write_numbers(id, 0, 100);
	expect(trid, POSIX_TRACE_START, &seen);
	for (int nr = 0; nr < 100; nr++) {
		CHECK_IS(posix_trace_getnext_event(trid, &seen.info, seen.data, sizeof(seen.data),
						   &seen.len, &seen.unavailable),
			 0);
		CHECK_IS(seen.unavailable, 0);
		CHECK_IS(seen.info.posix_event_id, id);
		CHECK_IS(number_of(&seen), nr);
	}
	expect_nothing(trid);
}

POINT(getnext_into_less_room_gives_the_first_bytes_and_says_so)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	posix_trace_event(id, "0123456789", 10);
	expect(trid, POSIX_TRACE_START, &seen);
	memset(seen.data, 'x', sizeof(seen.data));
	CHECK_IS(posix_trace_getnext_event(trid, &seen.info, seen.data, 4, &seen.len,
					   &seen.unavailable),
		 0);
	CHECK_IS(seen.len, 4);
	CHECK(!memcmp(seen.data, "0123xx", 6));
	CHECK_IS(seen.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
}

POINT(getnext_into_exactly_enough_room_is_not_truncated)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	posix_trace_event(id, "0123456789", 10);
	expect(trid, POSIX_TRACE_START, &seen);
	CHECK_IS(posix_trace_getnext_event(trid, &seen.info, seen.data, 10, &seen.len,
					   &seen.unavailable),
		 0);
	CHECK_IS(seen.len, 10);
	CHECK_IS(seen.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
}

POINT_WITH_ATTR(getnext_of_a_cut_event_into_less_room_is_truncated_by_reading)
{
	trace_event_id_t id = open_id("x");
	struct seen seen;
	trace_id_t trid;

	posix_trace_attr_setmaxdatasize(attr, 8);
	trid = make_running(attr);
	posix_trace_event(id, "0123456789", 10);
	expect(trid, POSIX_TRACE_START, &seen);
	CHECK_IS(posix_trace_getnext_event(trid, &seen.info, seen.data, 4, &seen.len,
					   &seen.unavailable),
		 0);
	CHECK_IS(seen.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
}

POINT(getnext_of_bad_arguments_is_einval)
{
	struct posix_trace_event_info info;
	trace_id_t trid = make_running(NULL);
	int unavailable;
	char data[4];
	size_t len;

	CHECK_IS(posix_trace_getnext_event(4711, &info, data, 4, &len, &unavailable), EINVAL);
	CHECK_IS(posix_trace_trygetnext_event(4711, &info, data, 4, &len, &unavailable), EINVAL);
	CHECK_IS(posix_trace_getnext_event(trid, NULL, data, 4, &len, &unavailable), EINVAL);
	CHECK_IS(posix_trace_getnext_event(trid, &info, NULL, 4, &len, &unavailable), EINVAL);
	CHECK_IS(posix_trace_getnext_event(trid, &info, data, 4, NULL, &unavailable), EINVAL);
	CHECK_IS(posix_trace_getnext_event(trid, &info, data, 4, &len, NULL), EINVAL);
	CHECK_IS(posix_trace_timedgetnext_event(trid, &info, data, 4, &len, &unavailable, NULL),
		 EINVAL);
}

static void *write_soon(void *id)
{
	usleep(20000);
	return write_one(id);
}

POINT(getnext_waits_until_there_is_an_event)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	struct seen seen;
	pthread_t thread;

	expect(trid, POSIX_TRACE_START, &seen);
	pthread_create(&thread, NULL, write_soon, &id);
	CHECK_IS(posix_trace_getnext_event(trid, &seen.info, NULL, 0, &seen.len, &seen.unavailable),
		 0);
	CHECK_IS(seen.info.posix_event_id, id);
	pthread_join(thread, NULL);
}

static void *shut_down_soon(void *trid)
{
	usleep(20000);
	posix_trace_shutdown(*(trace_id_t *)trid);
	return NULL;
}

POINT(getnext_that_waits_is_einval_when_the_stream_is_shut_down)
{
	trace_id_t trid = make_stream(NULL);
	struct seen seen;
	pthread_t thread;

	pthread_create(&thread, NULL, shut_down_soon, &trid);
	CHECK_IS(posix_trace_getnext_event(trid, &seen.info, NULL, 0, &seen.len, &seen.unavailable),
		 EINVAL);
	pthread_join(thread, NULL);
}

static void do_nothing(int signal_number)
{
	(void)signal_number;
}

static void *signal_until_done(void *thread)
{
	/* A signal that comes before the wait would have no effect, so it is repeated. */
	for (;;) {
		usleep(10000);
		pthread_kill(*(pthread_t *)thread, SIGUSR1);
	}
	return NULL;
}

static void be_interrupted(void)
{
	static pthread_t self;
	struct sigaction action = { .sa_handler = do_nothing };
	pthread_t thread;

	self = pthread_self();
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&thread, NULL, signal_until_done, &self);
}

POINT(getnext_that_a_signal_interrupts_is_eintr)
{
	trace_id_t trid = make_stream(NULL);
	struct seen seen;

	be_interrupted();
	CHECK_IS(posix_trace_getnext_event(trid, &seen.info, NULL, 0, &seen.len, &seen.unavailable),
		 EINTR);
	signal(SIGUSR1, SIG_IGN);
}

POINT(timedgetnext_that_a_signal_interrupts_is_eintr)
{
	trace_id_t trid = make_stream(NULL);
	struct timespec far;
	struct seen seen;

	clock_gettime(CLOCK_REALTIME, &far);
	far.tv_sec += 1000;
	be_interrupted();
	CHECK_IS(posix_trace_timedgetnext_event(trid, &seen.info, NULL, 0, &seen.len,
						&seen.unavailable, &far),
		 EINTR);
	signal(SIGUSR1, SIG_IGN);
}

POINT(timedgetnext_without_an_event_times_out)
{
	trace_id_t trid = make_stream(NULL);
	struct timespec soon;
	struct seen seen;

	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_nsec += 10000000;
	if (soon.tv_nsec >= 1000000000) {
		soon.tv_nsec -= 1000000000;
		soon.tv_sec++;
	}
	CHECK_IS(posix_trace_timedgetnext_event(trid, &seen.info, NULL, 0, &seen.len,
						&seen.unavailable, &soon),
		 ETIMEDOUT);
}

POINT(timedgetnext_of_a_time_that_has_passed_times_out_at_once)
{
	static const struct timespec times[] = { { 0, 0 }, { 1, 999999999 }, { -5, 0 } };
	trace_id_t trid = make_stream(NULL);
	struct seen seen;

	for (int nr = 0; nr < 3; nr++)
		CHECK_IS(posix_trace_timedgetnext_event(trid, &seen.info, NULL, 0, &seen.len,
							&seen.unavailable, &times[nr]),
			 ETIMEDOUT);
}

POINT(timedgetnext_never_times_out_when_there_is_an_event)
{
	trace_id_t trid = make_running(NULL);
	struct timespec past = { 0, 0 };
	struct seen seen;

	CHECK_IS(posix_trace_timedgetnext_event(trid, &seen.info, NULL, 0, &seen.len,
						&seen.unavailable, &past),
		 0);
	CHECK_IS(seen.info.posix_event_id, POSIX_TRACE_START);
	CHECK_IS(seen.unavailable, 0);
}

POINT(timedgetnext_of_a_bad_time_is_einval_when_it_would_wait)
{
	struct timespec bad[2] = { { 0, 1000000000 }, { 0, -1 } };
	trace_id_t trid = make_stream(NULL);
	struct seen seen;

	for (int nr = 0; nr < 2; nr++)
		CHECK_IS(posix_trace_timedgetnext_event(trid, &seen.info, NULL, 0, &seen.len,
							&seen.unavailable, &bad[nr]),
			 EINVAL);
}

POINT(timedgetnext_does_not_look_at_the_time_when_there_is_an_event)
{
	struct timespec bad = { 0, 1000000000 };
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	CHECK_IS(posix_trace_timedgetnext_event(trid, &seen.info, NULL, 0, &seen.len,
						&seen.unavailable, &bad),
		 0);
}

POINT(timedgetnext_waits_until_there_is_an_event)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	struct timespec far;
	struct seen seen;
	pthread_t thread;

	clock_gettime(CLOCK_REALTIME, &far);
	far.tv_sec += 1000;
	expect(trid, POSIX_TRACE_START, &seen);
	pthread_create(&thread, NULL, write_soon, &id);
	CHECK_IS(posix_trace_timedgetnext_event(trid, &seen.info, NULL, 0, &seen.len,
						&seen.unavailable, &far),
		 0);
	CHECK_IS(seen.info.posix_event_id, id);
	pthread_join(thread, NULL);
}

POINT(reading_by_many_threads_gives_each_event_to_one)
{
	/* One reader is this thread, the other a thread that takes the events that it gets. */
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_small(POSIX_TRACE_UNTIL_FULL, 4096);
	pthread_t thread;
	struct seen seen;
	int nr = 0;

	pthread_create(&thread, NULL, write_many, &id);
	while (nr < 2000) {
		if (try_next(trid, &seen) && seen.info.posix_event_id == id)
			CHECK_IS(number_of(&seen), nr++);
	}
	pthread_join(thread, NULL);
}

/* Full streams */

POINT(loop_overwrites_the_oldest_events)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_small(POSIX_TRACE_LOOP, 64);
	int first = -1, last = -1;
	struct seen seen;

	write_numbers(id, 0, 1000);
	while (try_next(trid, &seen)) {
		if (seen.info.posix_event_id != id)
			continue;
		if (first < 0)
			first = number_of(&seen);
		else
			CHECK_IS(number_of(&seen), last + 1);
		last = number_of(&seen);
	}
	CHECK_IS(last, 999);
	CHECK(first > 0 && last - first + 1 >= 64);
}

POINT(loop_that_overwrites_is_running_and_full)
{
	trace_id_t trid = make_small(POSIX_TRACE_LOOP, 64);
	struct posix_trace_status_info status;

	write_numbers(open_id("x"), 0, 1000);
	status = status_of(trid);
	CHECK_IS(status.posix_stream_status, POSIX_TRACE_RUNNING);
	CHECK_IS(status.posix_stream_full_status, POSIX_TRACE_FULL);
	CHECK_IS(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
}

POINT(loop_that_is_read_is_not_full_any_more)
{
	trace_id_t trid = make_small(POSIX_TRACE_LOOP, 64);
	struct seen seen;

	write_numbers(open_id("x"), 0, 1000);
	while (try_next(trid, &seen))
		;
	CHECK_IS(status_of(trid).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
}

POINT(loop_that_is_not_full_has_no_overrun)
{
	trace_id_t trid = make_small(POSIX_TRACE_LOOP, 64);
	struct posix_trace_status_info status;

	write_numbers(open_id("x"), 0, 50);
	status = status_of(trid);
	CHECK_IS(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	CHECK_IS(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
}

POINT(loop_reports_overflow_and_resume_before_the_first_event_that_is_left)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_small(POSIX_TRACE_LOOP, 64);
	struct seen overflow, resume, first;

	write_numbers(id, 0, 1000);
	expect(trid, POSIX_TRACE_OVERFLOW, &overflow);
	expect(trid, POSIX_TRACE_RESUME, &resume);
	expect(trid, id, &first);
	CHECK_IS(overflow.len, 0);
	CHECK_IS(resume.len, 0);
	CHECK_IS(resume.info.posix_timestamp.tv_nsec, first.info.posix_timestamp.tv_nsec);
	CHECK(overflow.info.posix_timestamp.tv_sec < first.info.posix_timestamp.tv_sec ||
	      overflow.info.posix_timestamp.tv_nsec < first.info.posix_timestamp.tv_nsec);
	expect(trid, id, &first);
}

POINT(overflow_and_resume_are_of_no_process_and_no_thread)
{
	trace_id_t trid = make_small(POSIX_TRACE_LOOP, 64);
	struct seen seen;

	write_numbers(open_id("x"), 0, 1000);
	expect(trid, POSIX_TRACE_OVERFLOW, &seen);
	CHECK_IS(seen.info.posix_pid, 0);
	CHECK_IS((long)seen.info.posix_thread_id, 0);
	expect(trid, POSIX_TRACE_RESUME, &seen);
	CHECK_IS(seen.info.posix_pid, 0);
}

POINT(overflow_is_reported_once_for_each_gap)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_small(POSIX_TRACE_LOOP, 64);
	int nr_overflows = 0;
	struct seen seen;

	for (int round = 0; round < 3; round++) {
		write_numbers(id, 0, 1000);
		while (try_next(trid, &seen))
			nr_overflows += seen.info.posix_event_id == POSIX_TRACE_OVERFLOW;
	}
	CHECK_IS(nr_overflows, 3);
}

POINT(until_full_keeps_the_oldest_events_and_suspends_itself)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_small(POSIX_TRACE_UNTIL_FULL, 64);
	struct posix_trace_status_info status;
	struct seen seen;
	int next = 0;

	write_numbers(id, 0, 1000);
	status = status_of(trid);
	CHECK_IS(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	CHECK_IS(status.posix_stream_full_status, POSIX_TRACE_FULL);
	expect(trid, POSIX_TRACE_START, &seen);
	while (try_next(trid, &seen) && seen.info.posix_event_id == id)
		CHECK_IS(number_of(&seen), next++);
	CHECK(next >= 60);
	CHECK_IS(seen.info.posix_event_id, POSIX_TRACE_STOP);
}

POINT(until_full_reports_an_automatic_stop_last)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_small(POSIX_TRACE_UNTIL_FULL, 64);
	struct seen seen;

	write_numbers(id, 0, 1000);
	do
		CHECK(try_next(trid, &seen));
	while (seen.info.posix_event_id != POSIX_TRACE_STOP);
	CHECK(number_of(&seen) != 0);
}

POINT(until_full_has_overrun_when_an_event_comes_while_it_is_full)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_small(POSIX_TRACE_UNTIL_FULL, 64);

	write_numbers(id, 0, 1000);
	CHECK_IS(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	CHECK_IS(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	write_numbers(id, 0, 1);
	CHECK_IS(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
}

POINT(until_full_begins_again_when_all_was_read)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_small(POSIX_TRACE_UNTIL_FULL, 64);
	struct seen seen;

	write_numbers(id, 0, 1000);
	do
		CHECK(try_next(trid, &seen));
	while (seen.info.posix_event_id != POSIX_TRACE_STOP);
	CHECK_IS(status_of(trid).posix_stream_status, POSIX_TRACE_RUNNING);
	CHECK_IS(status_of(trid).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	write_numbers(id, 5000, 1);
	expect(trid, POSIX_TRACE_OVERFLOW, &seen);
	expect(trid, POSIX_TRACE_RESUME, &seen);
	expect_started(trid, id, &seen);
	CHECK_IS(number_of(&seen), 5000);
	expect_nothing(trid);
}

POINT(until_full_with_room_again_records_as_before)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_small(POSIX_TRACE_UNTIL_FULL, 64);
	int nr[2] = { 0, 0 };
	struct seen seen;

	for (int round = 0; round < 2; round++) {
		write_numbers(id, 0, 1000);
		do {
			CHECK(try_next(trid, &seen));
			nr[round] += seen.info.posix_event_id == id;
		} while (seen.info.posix_event_id != POSIX_TRACE_STOP);
	}
	CHECK_IS(nr[0], nr[1]);
}

POINT(events_that_are_filtered_are_no_overrun)
{
	trace_event_id_t id = open_id("x"), out = open_id("out");
	trace_id_t trid = make_small(POSIX_TRACE_UNTIL_FULL, 64);
	trace_event_set_t set;

	write_numbers(id, 0, 1000);
	status_of(trid);
	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(out, &set);
	posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
	write_numbers(out, 0, 10);
	CHECK_IS(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
}

POINT(lost_events_are_counted)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_small(POSIX_TRACE_LOOP, 64);
	unsigned long nr_read = 0;
	struct seen seen;

	write_numbers(id, 0, 1000);
	while (try_next(trid, &seen))
		nr_read += seen.info.posix_event_id == id;
	/* The START event was overwritten, too. */
	CHECK_IS(status_of(trid).posix_stream_lost_events, 1000 + 1 - nr_read);
}

/* Status */

POINT(get_status_resets_the_overrun_status)
{
	trace_id_t trid = make_small(POSIX_TRACE_LOOP, 64);

	write_numbers(open_id("x"), 0, 1000);
	CHECK_IS(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	CHECK_IS(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
}

POINT(get_status_of_a_stream_without_a_log_says_nothing_of_logs)
{
	struct posix_trace_status_info status = status_of(make_running(NULL));

	CHECK_IS(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	CHECK_IS(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
	CHECK_IS(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
	CHECK_IS(status.posix_stream_flush_error, 0);
}

POINT(get_status_of_bad_arguments_is_einval)
{
	struct posix_trace_status_info status;

	CHECK_IS(posix_trace_get_status(4711, &status), EINVAL);
	CHECK_IS(posix_trace_get_status(make_stream(NULL), NULL), EINVAL);
}

POINT(no_overrun_is_zero)
{
	CHECK_IS(POSIX_TRACE_NO_OVERRUN, 0);
}
