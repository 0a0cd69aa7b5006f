/*
 * Conformance: logs, made with streams and read later. The file is long because its points share
 * one subject and their helpers.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "point.h"

static trace_id_t open_log(int fd)
{
	trace_id_t trid = -1;

	CHECK_IS(posix_trace_open(fd, &trid), 0);
	return trid;
}

static bool next(trace_id_t trid, struct seen *seen)
{
	memset(seen, 0, sizeof(*seen));
	CHECK_IS(posix_trace_getnext_event(trid, &seen->info, seen->data, sizeof(seen->data),
					   &seen->len, &seen->unavailable),
		 0);
	return !seen->unavailable;
}

static bool next_of(trace_id_t trid, trace_event_id_t id, struct seen *seen)
{
	while (next(trid, seen)) {
		if (seen->info.posix_event_id == id)
			return true;
	}
	return false;
}

static void log_attr(trace_attr_t *attr, int policy, size_t size)
{
	posix_trace_attr_init(attr);
	CHECK_IS(posix_trace_attr_setlogfullpolicy(attr, policy), 0);
	CHECK_IS(posix_trace_attr_setlogsize(attr, size), 0);
}

POINT(create_withlog_makes_a_suspended_stream)
{
	trace_id_t trid = -1;

	CHECK_IS(posix_trace_create_withlog(0, NULL, make_file(), &trid), 0);
	CHECK_IS(status_of(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
}

POINT(create_withlog_of_no_descriptor_is_ebadf)
{
	trace_id_t trid;

	CHECK_IS(posix_trace_create_withlog(0, NULL, -1, &trid), EBADF);
	CHECK_IS(posix_trace_create_withlog(0, NULL, 999, &trid), EBADF);
}

POINT(create_withlog_of_a_descriptor_for_reading_only_is_ebadf)
{
	trace_id_t trid;

	CHECK_IS(posix_trace_create_withlog(0, NULL, open("/dev/null", O_RDONLY), &trid), EBADF);
}

POINT(create_withlog_of_a_nonfile_is_einval)
{
	trace_id_t trid;
	int ends[2];

	CHECK_IS(pipe(ends), 0);
	CHECK_IS(posix_trace_create_withlog(0, NULL, ends[1], &trid), EINVAL);
	CHECK_IS(posix_trace_create_withlog(0, NULL, open("/dev/null", O_RDWR), &trid), EINVAL);
}

POINT(create_withlog_of_a_descriptor_that_appends_is_einval)
{
	int fd = make_file();
	trace_id_t trid;

	fcntl(fd, F_SETFL, O_APPEND);
	CHECK_IS(posix_trace_create_withlog(0, NULL, fd, &trid), EINVAL);
}

POINT(create_withlog_with_bad_arguments_is_as_create)
{
	trace_attr_t attr;
	trace_id_t trid;

	memset(&attr, 0, sizeof(attr));
	CHECK_IS(posix_trace_create_withlog(0, &attr, make_file(), &trid), EINVAL);
	CHECK_IS(posix_trace_create_withlog(0, NULL, make_file(), NULL), EINVAL);
	CHECK_IS(posix_trace_create_withlog(-1, NULL, make_file(), &trid), ESRCH);
}

POINT(create_withlog_empties_the_file)
{
	int fd = make_file();
	struct seen seen;

	CHECK_IS(ftruncate(fd, 1 << 20), 0);
	posix_trace_shutdown(make_log(fd, NULL));
	next_of(open_log(fd), POSIX_TRACE_STOP, &seen);
}

__attribute__((noinline)) static void *end_and_say_where(trace_id_t trid)
{
	CHECK_IS(posix_trace_shutdown(trid), 0);
	__asm__ volatile("" ::: "memory");
	return __extension__(void *) end_and_say_where;
}

POINT(last_stop_in_a_log_says_where_the_program_was)
{
	int fd = make_file();
	char *function = end_and_say_where(make_log(fd, NULL)), *where;
	struct seen seen;

	next_of(open_log(fd), POSIX_TRACE_STOP, &seen);
	where = seen.info.posix_prog_address;
	CHECK(where > function - 1 && where < function + 4096);
}

POINT(shutdown_flushes_all_events_to_the_log)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file();
	trace_id_t trid = make_log(fd, NULL);
	struct seen seen;

	write_numbers(id, 0, 100);
	CHECK_IS(posix_trace_shutdown(trid), 0);
	trid = open_log(fd);
	CHECK(next(trid, &seen));
	CHECK_IS(seen.info.posix_event_id, POSIX_TRACE_START);
	for (int nr = 0; nr < 100; nr++) {
		CHECK(next(trid, &seen));
		CHECK_IS(seen.info.posix_event_id, id);
		CHECK_IS(number_of(&seen), nr);
		CHECK_IS(seen.info.posix_pid, getpid());
		CHECK(pthread_equal(seen.info.posix_thread_id, pthread_self()));
	}
	CHECK(next(trid, &seen));
	CHECK_IS(seen.info.posix_event_id, POSIX_TRACE_STOP);
	CHECK(!next(trid, &seen));
	CHECK(!next(trid, &seen));
}

POINT(log_has_attributes_of_the_stream)
{
	char name[TRACE_NAME_MAX];
	int fd = make_file(), policy;
	trace_attr_t attr;

	log_attr(&attr, POSIX_TRACE_UNTIL_FULL, 54321);
	posix_trace_attr_setname(&attr, "logged");
	posix_trace_shutdown(make_log(fd, &attr));
	CHECK_IS(posix_trace_get_attr(open_log(fd), &attr), 0);
	posix_trace_attr_getname(&attr, name);
	CHECK(!strcmp(name, "logged"));
	posix_trace_attr_getlogfullpolicy(&attr, &policy);
	CHECK_IS(policy, POSIX_TRACE_UNTIL_FULL);
	posix_trace_attr_getstreamfullpolicy(&attr, &policy);
	CHECK_IS(policy, POSIX_TRACE_FLUSH);
}

POINT(log_has_names_of_types)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id = open_id("before"), later;
	int fd = make_file();
	trace_id_t trid = make_log(fd, NULL);

	later = open_id("later");
	posix_trace_shutdown(trid);
	trid = open_log(fd);
	CHECK_IS(posix_trace_eventid_get_name(trid, id, name), 0);
	CHECK(!strcmp(name, "before"));
	CHECK_IS(posix_trace_eventid_get_name(trid, later, name), 0);
	CHECK(!strcmp(name, "later"));
	CHECK_IS(posix_trace_eventid_get_name(trid, later + 1, name), EINVAL);
	CHECK_IS(posix_trace_eventid_get_name(trid, POSIX_TRACE_START, name), 0);
	CHECK(posix_trace_eventid_equal(trid, id, id));
}

POINT(log_has_a_list_of_types)
{
	trace_event_id_t id = open_id("listed"), got;
	int fd = make_file(), unavailable, nr = 0;
	trace_id_t trid = make_log(fd, NULL);

	posix_trace_shutdown(trid);
	trid = open_log(fd);
	do {
		CHECK_IS(posix_trace_eventtypelist_getnext_id(trid, &got, &unavailable), 0);
		nr += !unavailable;
	} while (!unavailable && got != id);
	CHECK_IS(nr, 12);
	CHECK_IS(posix_trace_eventtypelist_rewind(trid), 0);
	CHECK_IS(posix_trace_eventtypelist_getnext_id(trid, &got, &unavailable), 0);
	CHECK_IS(got, POSIX_TRACE_ERROR);
}

POINT(log_has_the_status_and_does_not_reset_it)
{
	int fd = make_file();
	trace_attr_t attr;
	trace_id_t trid;

	small_attr(&attr, POSIX_TRACE_LOOP, 64);
	trid = make_log(fd, &attr);
	write_numbers(open_id("x"), 0, 1000);
	posix_trace_shutdown(trid);
	trid = open_log(fd);
	for (int nr = 0; nr < 2; nr++) {
		CHECK_IS(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
		CHECK_IS(status_of(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
	}
}

POINT(flush_copies_events_to_the_log_and_the_stream_goes_on)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file();
	trace_id_t trid = make_log(fd, NULL), log;
	struct seen seen;

	write_numbers(id, 0, 1);
	CHECK_IS(posix_trace_flush(trid), 0);
	CHECK_IS(status_of(trid).posix_stream_status, POSIX_TRACE_RUNNING);
	log = open_log(fd);
	CHECK(next_of(log, id, &seen));
	CHECK(!next_of(log, id, &seen));
	posix_trace_close(log);
	write_numbers(id, 1, 1);
	posix_trace_shutdown(trid);
	log = open_log(fd);
	for (int nr = 0; nr < 2; nr++) {
		CHECK(next_of(log, id, &seen));
		CHECK_IS(number_of(&seen), nr);
	}
}

POINT(flush_is_recorded_at_its_beginning_and_its_end)
{
	int fd = make_file();
	trace_id_t trid = make_log(fd, NULL);
	struct seen seen;

	posix_trace_flush(trid);
	posix_trace_shutdown(trid);
	trid = open_log(fd);
	CHECK(next_of(trid, POSIX_TRACE_FLUSH_START, &seen));
	CHECK_IS(seen.len, 0);
	CHECK(next_of(trid, POSIX_TRACE_FLUSH_STOP, &seen));
	CHECK_IS(seen.len, 0);
}

POINT(flush_is_complete_when_the_status_says_so)
{
	trace_id_t trid = make_log(make_file(), NULL);

	CHECK_IS(posix_trace_flush(trid), 0);
	CHECK_IS(status_of(trid).posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
	CHECK_IS(status_of(trid).posix_stream_flush_error, 0);
}

POINT(flush_of_a_full_stream_makes_it_run_again)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file(), nr_stops = 0, nr_starts = 0;
	struct seen seen;
	trace_attr_t attr;
	trace_id_t trid;

	small_attr(&attr, POSIX_TRACE_UNTIL_FULL, 64);
	trid = make_log(fd, &attr);
	write_numbers(id, 0, 1000);
	CHECK_IS(status_of(trid).posix_stream_full_status, POSIX_TRACE_FULL);
	CHECK_IS(posix_trace_flush(trid), 0);
	CHECK_IS(status_of(trid).posix_stream_status, POSIX_TRACE_RUNNING);
	CHECK_IS(status_of(trid).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	posix_trace_shutdown(trid);
	trid = open_log(fd);
	while (next(trid, &seen)) {
		nr_stops += seen.info.posix_event_id == POSIX_TRACE_STOP;
		nr_starts += seen.info.posix_event_id == POSIX_TRACE_START;
	}
	CHECK_IS(nr_stops, 2);
	CHECK_IS(nr_starts, 2);
}

POINT(flush_of_a_stream_without_a_log_is_einval)
{
	CHECK_IS(posix_trace_flush(make_stream(NULL)), EINVAL);
	CHECK_IS(posix_trace_flush(4711), EINVAL);
}

/* The limit holds for the whole process. It stays, since the process ends with the point. */
static void limit_files(size_t bytes)
{
	struct rlimit limit = { bytes, bytes };

	CHECK_IS(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

POINT_WITH_ATTR(flush_beyond_the_largest_file_is_efbig_and_no_signal)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid;

	posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_UNTIL_FULL);
	trid = make_log(make_file(), attr);
	write_numbers(id, 0, 1000);
	limit_files(8192);
	CHECK_IS(posix_trace_flush(trid), EFBIG);
	CHECK_IS(status_of(trid).posix_stream_flush_error, EFBIG);
	CHECK_IS(status_of(trid).posix_stream_flush_error, 0);
	CHECK_IS(posix_trace_shutdown(trid), EFBIG);
}

POINT_WITH_ATTR(flush_that_failed_loses_nothing_when_it_works_later)
{
	struct rlimit limit;
	trace_event_id_t id = open_id("x");
	int fd = make_file();
	struct seen seen;
	trace_id_t trid;

	getrlimit(RLIMIT_FSIZE, &limit);
	posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_UNTIL_FULL);
	trid = make_log(fd, attr);
	write_numbers(id, 0, 2000);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 8192, limit.rlim_max });
	CHECK_IS(posix_trace_flush(trid), EFBIG);
	setrlimit(RLIMIT_FSIZE, &limit);
	CHECK_IS(posix_trace_shutdown(trid), 0);
	trid = open_log(fd);
	for (int nr = 0; nr < 2000; nr++) {
		CHECK(next_of(trid, id, &seen));
		CHECK_IS(number_of(&seen), nr);
	}
}

static off_t size_of(int fd)
{
	struct stat st;

	CHECK_IS(fstat(fd, &st), 0);
	return st.st_size;
}

POINT(policy_flush_flushes_by_itself)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file(), nr_read = 0;
	struct posix_trace_status_info status;
	struct seen seen;
	trace_attr_t attr;
	trace_id_t trid;

	small_attr(&attr, POSIX_TRACE_FLUSH, 256);
	posix_trace_attr_setlogsize(&attr, 10 << 20);
	trid = make_log(fd, &attr);
	for (int nr = 0; nr < 100; nr++) {
		off_t size = size_of(fd);

		write_numbers(id, 100 * nr, 100);
		/*
		 * Wait until some of the last two hundred events were flushed: on a busy machine
		 * that may take long.
		 */
		for (int tries = 0; nr % 2 && tries < 1000 && size_of(fd) == size; tries++)
			usleep(100);
	}
	status = status_of(trid);
	CHECK_IS(status.posix_stream_status, POSIX_TRACE_RUNNING);
	posix_trace_shutdown(trid);
	trid = open_log(fd);
	while (next_of(trid, id, &seen))
		nr_read++;
	CHECK(nr_read > 1000);
	nr_read += (int)status_of(trid).posix_stream_lost_events;
	/* The STOP event may find no room, either. */
	CHECK(nr_read == 10000 || nr_read == 10001);
}

POINT(policy_flush_that_loses_events_has_overrun_and_says_where)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file(), nr_overflows = 0, nr_resumes = 0;
	struct posix_trace_status_info status;
	struct seen seen;
	trace_attr_t attr;
	trace_id_t trid;

	small_attr(&attr, POSIX_TRACE_FLUSH, 64);
	/*
	 * There is room for all events: a log that drops its oldest ones may keep a RESUME without
	 * its OVERFLOW.
	 */
	posix_trace_attr_setlogsize(&attr, 10 << 20);
	trid = make_log(fd, &attr);
	write_numbers(id, 0, 100000);
	status = status_of(trid);
	posix_trace_shutdown(trid);
	trid = open_log(fd);
	while (next(trid, &seen)) {
		nr_overflows += seen.info.posix_event_id == POSIX_TRACE_OVERFLOW;
		nr_resumes += seen.info.posix_event_id == POSIX_TRACE_RESUME;
	}
	CHECK_IS(nr_overflows, nr_resumes);
	CHECK_IS(status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN, nr_overflows > 0);
}

POINT(events_lost_at_the_end_are_said_in_the_log)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file(), nr_overflows = 0, nr_resumes = 0;
	struct seen seen;
	trace_attr_t attr;
	trace_id_t trid;

	/* The stream is full, and stopped before it can go on: no event follows the lost ones. */
	small_attr(&attr, POSIX_TRACE_UNTIL_FULL, 64);
	trid = make_log(fd, &attr);
	write_numbers(id, 0, 1000);
	CHECK_IS(posix_trace_stop(trid), 0);
	CHECK_IS(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	posix_trace_shutdown(trid);
	trid = open_log(fd);
	while (next(trid, &seen)) {
		nr_resumes += seen.info.posix_event_id == POSIX_TRACE_RESUME;
		CHECK_IS(nr_overflows, nr_resumes);
		nr_overflows += seen.info.posix_event_id == POSIX_TRACE_OVERFLOW;
	}
	CHECK_IS(nr_overflows, 1);
	CHECK_IS(nr_resumes, 1);
}

/* Policies of logs */

static trace_id_t write_full_log(int fd, int policy, trace_event_id_t id)
{
	trace_attr_t attr;
	trace_id_t trid;

	log_attr(&attr, policy, 16384);
	posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL);
	trid = make_log(fd, &attr);
	for (int nr = 0; nr < 18; nr++) {
		write_numbers(id, 100 * nr, 100);
		CHECK_IS(posix_trace_flush(trid), 0);
	}
	return trid;
}

POINT(log_policy_loop_keeps_the_newest_events)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file(), expected = -1, nr = 0;
	trace_id_t trid = write_full_log(fd, POSIX_TRACE_LOOP, id);
	struct posix_trace_status_info status = status_of(trid);
	struct seen seen;

	CHECK_IS(status.posix_log_full_status, POSIX_TRACE_FULL);
	CHECK_IS(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
	CHECK_IS(status_of(trid).posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	posix_trace_shutdown(trid);
	trid = open_log(fd);
	for (; next_of(trid, id, &seen); nr++) {
		if (expected >= 0)
			CHECK_IS(number_of(&seen), expected);
		expected = number_of(&seen) + 1;
	}
	CHECK_IS(expected, 1800);
	/*
	 * The log has as many events as fit into 16 KiB, 56 bytes each, less the events about
	 * flushes.
	 */
	CHECK(nr >= 240 && nr <= 16384 / 56);
}

POINT(log_policy_until_full_keeps_the_oldest_events_and_ends_with_a_stop)
{
	trace_event_id_t id = open_id("x"), last = 0;
	int fd = make_file(), nr = 0;
	trace_id_t trid = write_full_log(fd, POSIX_TRACE_UNTIL_FULL, id);
	struct posix_trace_status_info status = status_of(trid);
	struct seen seen;

	CHECK_IS(status.posix_log_full_status, POSIX_TRACE_FULL);
	CHECK_IS(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	CHECK_IS(posix_trace_shutdown(trid), 0);
	trid = open_log(fd);
	while (next(trid, &seen)) {
		last = seen.info.posix_event_id;
		if (last == id)
			CHECK_IS(number_of(&seen), nr++);
	}
	CHECK(nr > 100 && nr < 500);
	CHECK_IS(last, POSIX_TRACE_STOP);
}

POINT(log_overrun_status_tells_of_lost_events_once)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = write_full_log(make_file(), POSIX_TRACE_LOOP, id);

	/* The STOP takes the place of the oldest event. */
	CHECK_IS(posix_trace_stop(trid), 0);
	CHECK_IS(posix_trace_flush(trid), 0);
	CHECK_IS(status_of(trid).posix_log_overrun_status, POSIX_TRACE_OVERRUN);
	CHECK_IS(posix_trace_flush(trid), 0);
	CHECK_IS(status_of(trid).posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	CHECK_IS(posix_trace_start(trid), 0);
	CHECK_IS(posix_trace_flush(trid), 0);
	CHECK_IS(status_of(trid).posix_log_overrun_status, POSIX_TRACE_OVERRUN);
	CHECK_IS(posix_trace_shutdown(trid), 0);

	trid = write_full_log(make_file(), POSIX_TRACE_UNTIL_FULL, id);
	CHECK_IS(status_of(trid).posix_log_overrun_status, POSIX_TRACE_OVERRUN);
	CHECK_IS(posix_trace_flush(trid), 0);
	CHECK_IS(status_of(trid).posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	CHECK_IS(posix_trace_shutdown(trid), 0);
}

POINT(log_policy_append_takes_all_events_whatever_its_size)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file(), nr = 0;
	trace_id_t trid = write_full_log(fd, POSIX_TRACE_APPEND, id);
	struct seen seen;

	CHECK_IS(status_of(trid).posix_log_full_status, POSIX_TRACE_NOT_FULL);
	posix_trace_shutdown(trid);
	trid = open_log(fd);
	while (next_of(trid, id, &seen))
		CHECK_IS(number_of(&seen), nr++);
	CHECK_IS(nr, 1800);
}

POINT(clear_of_a_stream_with_a_log_clears_both)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file();
	trace_id_t trid = write_full_log(fd, POSIX_TRACE_LOOP, id);
	struct seen seen;

	write_numbers(id, 5000, 10);
	CHECK_IS(posix_trace_clear(trid), 0);
	CHECK_IS(status_of(trid).posix_log_full_status, POSIX_TRACE_NOT_FULL);
	write_numbers(id, 7000, 1);
	posix_trace_shutdown(trid);
	trid = open_log(fd);
	CHECK(next(trid, &seen));
	CHECK_IS(seen.info.posix_event_id, id);
	CHECK_IS(number_of(&seen), 7000);
}

/* Active streams with a log */

POINT(getnext_of_a_stream_with_a_log_removes_nothing)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file();
	trace_id_t trid = make_log(fd, NULL);
	struct timespec past = { 0, 0 };
	struct seen seen;

	write_numbers(id, 8, 1);
	CHECK(next(trid, &seen));
	CHECK_IS(seen.info.posix_event_id, POSIX_TRACE_START);
	CHECK_IS(posix_trace_timedgetnext_event(trid, &seen.info, seen.data, sizeof(seen.data),
						&seen.len, &seen.unavailable, &past),
		 0);
	CHECK_IS(number_of(&seen), 8);
	CHECK_IS(posix_trace_timedgetnext_event(trid, &seen.info, seen.data, sizeof(seen.data),
						&seen.len, &seen.unavailable, &past),
		 ETIMEDOUT);
	posix_trace_shutdown(trid);
	CHECK(next_of(open_log(fd), id, &seen));
}

POINT(trygetnext_of_a_stream_with_a_log_is_einval)
{
	trace_id_t trid = make_log(make_file(), NULL);
	struct seen seen;

	CHECK_IS(posix_trace_trygetnext_event(trid, &seen.info, NULL, 0, &seen.len,
					      &seen.unavailable),
		 EINVAL);
}

/* Reading logs */

static int fd_of_log(trace_event_id_t id, int nr)
{
	int fd = make_file();
	trace_id_t trid = make_log(fd, NULL);

	write_numbers(id, 0, nr);
	posix_trace_shutdown(trid);
	return fd;
}

POINT(rewind_begins_again)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = open_log(fd_of_log(id, 10));
	struct seen seen;

	for (int round = 0; round < 3; round++) {
		for (int nr = 0; nr < 10; nr++) {
			CHECK(next_of(trid, id, &seen));
			CHECK_IS(number_of(&seen), nr);
		}
		CHECK(!next_of(trid, id, &seen));
		CHECK_IS(posix_trace_rewind(trid), 0);
	}
}

POINT(close_makes_the_trid_invalid)
{
	trace_id_t trid = open_log(fd_of_log(open_id("x"), 1));
	struct seen seen;

	CHECK_IS(posix_trace_close(trid), 0);
	CHECK_IS(posix_trace_close(trid), EINVAL);
	CHECK_IS(posix_trace_rewind(trid), EINVAL);
	CHECK_IS(posix_trace_getnext_event(trid, &seen.info, NULL, 0, &seen.len, &seen.unavailable),
		 EINVAL);
}

POINT(open_twice_reads_twice)
{
	trace_event_id_t id = open_id("x");
	int fd = fd_of_log(id, 2);
	trace_id_t one = open_log(fd), other = open_log(fd);
	struct seen seen;

	CHECK(next_of(one, id, &seen));
	CHECK(next_of(one, id, &seen));
	CHECK(!next_of(one, id, &seen));
	CHECK(next_of(other, id, &seen));
	CHECK_IS(number_of(&seen), 0);
}

POINT(open_of_the_log_while_it_is_written_reads_what_was_flushed)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file();
	trace_id_t trid = make_log(fd, NULL), log;
	struct seen seen;

	write_numbers(id, 0, 1);
	posix_trace_flush(trid);
	write_numbers(id, 1, 1);
	log = open_log(fd);
	CHECK(next_of(log, id, &seen));
	CHECK(!next_of(log, id, &seen));
}

POINT(log_getnext_into_less_room_says_so)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file();
	trace_id_t trid = make_log(fd, NULL);
	struct seen seen;

	posix_trace_event(id, "0123456789", 10);
	posix_trace_shutdown(trid);
	trid = open_log(fd);
	CHECK(next(trid, &seen));
	CHECK_IS(posix_trace_getnext_event(trid, &seen.info, seen.data, 4, &seen.len,
					   &seen.unavailable),
		 0);
	CHECK_IS(seen.len, 4);
	CHECK(!memcmp(seen.data, "0123", 4));
	CHECK_IS(seen.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
}

POINT(open_of_no_descriptor_is_an_error)
{
	trace_id_t trid;

	CHECK_IS(posix_trace_open(-1, &trid), EBADF);
	CHECK_IS(posix_trace_open(make_file(), NULL), EINVAL);
	CHECK_IS(posix_trace_open(open("/dev/null", O_WRONLY), &trid), EBADF);
}

POINT(open_of_what_is_no_log_is_einval)
{
	int fd = make_file();
	trace_id_t trid;

	CHECK_IS(posix_trace_open(fd, &trid), EINVAL);
	CHECK(write(fd, "no log", 6) == 6);
	CHECK_IS(posix_trace_open(fd, &trid), EINVAL);
	CHECK_IS(ftruncate(fd, 1 << 20), 0);
	CHECK_IS(posix_trace_open(fd, &trid), EINVAL);
	CHECK_IS(posix_trace_open(open("/dev/null", O_RDONLY), &trid), EINVAL);
}

POINT(close_and_rewind_of_a_bad_trid_are_einval)
{
	CHECK_IS(posix_trace_close(4711), EINVAL);
	CHECK_IS(posix_trace_rewind(4711), EINVAL);
}

static void read_all(int fd)
{
	struct posix_trace_status_info status;
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_attr_t attr;
	struct seen seen;
	trace_id_t trid;

	if (posix_trace_open(fd, &trid) != 0)
		return;
	posix_trace_get_attr(trid, &attr);
	posix_trace_get_status(trid, &status);
	posix_trace_attr_getname(&attr, name);
	for (int nr = 0; nr < 100; nr++) {
		if (posix_trace_getnext_event(trid, &seen.info, seen.data, sizeof(seen.data),
					      &seen.len, &seen.unavailable))
			break;
	}
	posix_trace_eventid_get_name(trid, POSIX_TRACE_UNNAMED_USER_EVENT + 1, name);
	CHECK_IS(posix_trace_close(trid), 0);
}

POINT(log_that_is_cut_anywhere_does_no_harm)
{
	int fd = fd_of_log(open_id("x"), 20);
	struct stat st;

	fstat(fd, &st);
	for (off_t size = st.st_size; size > 0; size -= size > 5000 ? 997 : 41) {
		CHECK_IS(ftruncate(fd, size), 0);
		read_all(fd);
	}
}

POINT(log_with_any_byte_changed_does_no_harm)
{
	int fd = fd_of_log(open_id("x"), 20);
	unsigned char byte, other;
	struct stat st;

	fstat(fd, &st);
	for (off_t at = 0; at < st.st_size; at += at < 700 ? 1 : at < 130000 ? 9973 : 7) {
		CHECK_IS(pread(fd, &byte, 1, at), 1);
		other = (unsigned char)(byte ^ 0xa5);
		CHECK_IS(pwrite(fd, &other, 1, at), 1);
		read_all(fd);
		CHECK_IS(pwrite(fd, &byte, 1, at), 1);
	}
}

POINT(log_of_a_process_that_was_killed_has_all_that_was_flushed)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file(), nr = 0;
	struct seen seen;
	trace_id_t trid;
	pid_t pid = make_child();

	if (pid == 0) {
		id = open_id("x");
		trid = make_log(fd, NULL);
		write_numbers(id, 0, 500);
		posix_trace_flush(trid);
		write_numbers(id, 500, 100);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
	trid = open_log(fd);
	while (next_of(trid, id, &seen))
		CHECK_IS(number_of(&seen), nr++);
	CHECK(nr >= 500);
}

POINT(log_of_a_process_that_exits_is_flushed)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file(), nr = 0;
	struct seen seen;
	trace_id_t trid;
	pid_t pid = make_child();

	if (pid == 0) {
		make_log(fd, NULL);
		write_numbers(open_id("x"), 0, 50);
		exit(0);
	}
	waitpid(pid, NULL, 0);
	trid = open_log(fd);
	while (next_of(trid, id, &seen))
		CHECK_IS(number_of(&seen), nr++);
	CHECK_IS(nr, 50);
}

POINT(log_whose_descriptor_was_closed_is_written_all_the_same)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file(), other = dup(fd);
	trace_id_t trid = make_log(fd, NULL);
	struct seen seen;

	close(fd);
	write_numbers(id, 0, 1);
	CHECK_IS(posix_trace_shutdown(trid), 0);
	CHECK(next_of(open_log(other), id, &seen));
}

POINT(log_is_not_written_to_a_file_that_took_its_descriptors_number)
{
	int fd = make_file(), stranger = make_file();
	trace_id_t trid = make_log(fd, NULL);
	struct stat st;

	/* All descriptors that the library has open now refer to another file. */
	for (int nr = 3; nr < 64; nr++) {
		if (nr != stranger && fcntl(nr, F_GETFD) >= 0)
			dup2(stranger, nr);
	}
	write_numbers(open_id("x"), 0, 10);
	CHECK_IS(posix_trace_shutdown(trid), EBADF);
	fstat(stranger, &st);
	CHECK_IS(st.st_size, 0);
}
