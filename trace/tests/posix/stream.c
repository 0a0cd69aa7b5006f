/* Conformance: streams are made, started, stopped, cleared, filtered and ended. */
#include <sys/wait.h>
#include <unistd.h>

#include "point.h"

POINT(create_makes_a_suspended_stream)
{
	struct posix_trace_status_info status = status_of(make_stream(NULL));

	CHECK_IS(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	CHECK_IS(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	CHECK_IS(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
}

POINT(create_makes_a_stream_without_a_filter)
{
	trace_event_set_t set;
	int ismember;

	memset(&set, -1, sizeof(set));
	CHECK_IS(posix_trace_get_filter(make_stream(NULL), &set), 0);
	for (trace_event_id_t id = POSIX_TRACE_ERROR; id <= POSIX_TRACE_FLUSH_STOP; id++) {
		posix_trace_eventset_ismember(id, &set, &ismember);
		CHECK_IS(ismember, 0);
	}
}

POINT(create_for_pid_zero_and_for_the_own_pid_is_the_same)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = -1;
	struct seen seen;

	CHECK_IS(posix_trace_create(getpid(), NULL, &trid), 0);
	posix_trace_start(trid);
	posix_trace_event(id, NULL, 0);
	expect_started(trid, id, &seen);
}

POINT(create_for_a_process_that_does_not_exist_is_esrch)
{
	trace_id_t trid;
	pid_t pid = make_child();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	CHECK_IS(posix_trace_create(pid, NULL, &trid), ESRCH);
}

POINT(create_for_a_negative_pid_is_esrch)
{
	trace_id_t trid;

	CHECK_IS(posix_trace_create(-1, NULL, &trid), ESRCH);
}

POINT(create_for_a_process_of_another_user_is_eperm)
{
	trace_id_t trid;

	if (getuid() == 0 && setuid(12345) != 0)
		return;
	setenv("UTRAIL_TRACE_DIR", "/tmp", 1);
	CHECK_IS(posix_trace_create(1, NULL, &trid), EPERM);
}

POINT(create_with_bad_attributes_is_einval)
{
	trace_attr_t attr;
	trace_id_t trid;

	memset(&attr, 0, sizeof(attr));
	CHECK_IS(posix_trace_create(0, &attr, &trid), EINVAL);
	CHECK_IS(posix_trace_create(0, NULL, NULL), EINVAL);
}

POINT_WITH_ATTR(create_with_policy_flush_and_no_log_is_einval)
{
	trace_id_t trid;

	posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_FLUSH);
	CHECK_IS(posix_trace_create(0, attr, &trid), EINVAL);
}

POINT(create_of_more_streams_than_the_system_has_is_eagain)
{
	trace_id_t trids[TRACE_SYS_MAX], one_more;

	for (int nr = 0; nr < TRACE_SYS_MAX; nr++)
		trids[nr] = make_running(NULL);
	CHECK_IS(posix_trace_create(0, NULL, &one_more), EAGAIN);
	CHECK_IS(posix_trace_shutdown(trids[7]), 0);
	CHECK_IS(posix_trace_create(0, NULL, &one_more), 0);
}

POINT(create_of_all_streams_of_the_system_and_an_event_is_in_each)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trids[TRACE_SYS_MAX];
	struct seen seen;

	for (int nr = 0; nr < TRACE_SYS_MAX; nr++)
		trids[nr] = make_running(NULL);
	posix_trace_event(id, "abc", 3);
	for (int nr = 0; nr < TRACE_SYS_MAX; nr++) {
		expect(trids[nr], POSIX_TRACE_START, &seen);
		expect(trids[nr], id, &seen);
		CHECK_IS(seen.len, 3);
		expect_nothing(trids[nr]);
	}
}

POINT(create_gives_streams_different_trids)
{
	trace_id_t one = make_stream(NULL), other = make_stream(NULL);

	CHECK(one != other);
}

POINT_WITH_ATTR(get_attr_is_what_the_stream_was_made_with)
{
	char name[TRACE_NAME_MAX];
	trace_attr_t got;
	size_t size;
	int value;

	posix_trace_attr_setname(attr, "mine");
	posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED);
	posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_UNTIL_FULL);
	posix_trace_attr_setstreamsize(attr, 98765);
	posix_trace_attr_setmaxdatasize(attr, 77);
	CHECK_IS(posix_trace_get_attr(make_stream(attr), &got), 0);
	posix_trace_attr_getname(&got, name);
	CHECK(!strcmp(name, "mine"));
	posix_trace_attr_getinherited(&got, &value);
	CHECK_IS(value, POSIX_TRACE_INHERITED);
	posix_trace_attr_getstreamfullpolicy(&got, &value);
	CHECK_IS(value, POSIX_TRACE_UNTIL_FULL);
	posix_trace_attr_getstreamsize(&got, &size);
	CHECK_IS(size, 98765);
	posix_trace_attr_getmaxdatasize(&got, &size);
	CHECK_IS(size, 77);
}

POINT(get_attr_of_bad_arguments_is_einval)
{
	trace_attr_t attr;

	CHECK_IS(posix_trace_get_attr(4711, &attr), EINVAL);
	CHECK_IS(posix_trace_get_attr(make_stream(NULL), NULL), EINVAL);
}

/* Start and stop */

POINT(start_makes_the_stream_run)
{
	CHECK_IS(status_of(make_running(NULL)).posix_stream_status, POSIX_TRACE_RUNNING);
}

POINT(start_is_recorded_with_the_filter)
{
	trace_id_t trid = make_stream(NULL);
	trace_event_set_t set, in_event;
	struct seen seen;

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USER_EVENT, &set);
	posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
	posix_trace_start(trid);
	expect(trid, POSIX_TRACE_START, &seen);
	CHECK_IS(seen.len, sizeof(in_event));
	CHECK(!memcmp(seen.data, &set, sizeof(set)));
}

POINT(start_of_a_running_stream_changes_nothing)
{
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	CHECK_IS(posix_trace_start(trid), 0);
	expect(trid, POSIX_TRACE_START, &seen);
	expect_nothing(trid);
}

POINT(start_of_a_bad_trid_is_einval)
{
	CHECK_IS(posix_trace_start(4711), EINVAL);
	CHECK_IS(posix_trace_start(-1), EINVAL);
	CHECK_IS(posix_trace_start(0), EINVAL);
}

POINT(start_of_a_stream_that_is_suspended_and_full_changes_nothing)
{
	trace_id_t trid = make_small(POSIX_TRACE_UNTIL_FULL, 64);

	write_numbers(open_id("x"), 0, 200);
	CHECK_IS(posix_trace_start(trid), 0);
	CHECK_IS(status_of(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
	CHECK_IS(status_of(trid).posix_stream_full_status, POSIX_TRACE_FULL);
}

POINT(stop_suspends_the_stream)
{
	trace_id_t trid = make_running(NULL);

	CHECK_IS(posix_trace_stop(trid), 0);
	CHECK_IS(status_of(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
	CHECK_IS(status_of(trid).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
}

POINT(stop_is_recorded_as_not_automatic)
{
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	posix_trace_stop(trid);
	expect_started(trid, POSIX_TRACE_STOP, &seen);
	CHECK_IS(number_of(&seen), 0);
}

POINT(stop_of_a_suspended_stream_changes_nothing)
{
	trace_id_t trid = make_stream(NULL);

	CHECK_IS(posix_trace_stop(trid), 0);
	expect_nothing(trid);
}

POINT(stop_of_a_bad_trid_is_einval)
{
	CHECK_IS(posix_trace_stop(4711), EINVAL);
}

POINT(stop_of_a_stream_that_is_suspended_and_full_adds_no_event)
{
	trace_id_t trid = make_small(POSIX_TRACE_UNTIL_FULL, 64);
	int nr_stops = 0;
	struct seen seen;

	write_numbers(open_id("x"), 0, 200);
	CHECK_IS(posix_trace_stop(trid), 0);
	CHECK_IS(status_of(trid).posix_stream_full_status, POSIX_TRACE_FULL);
	while (try_next(trid, &seen)) {
		if (seen.info.posix_event_id != POSIX_TRACE_STOP)
			continue;
		CHECK(number_of(&seen) != 0);
		nr_stops++;
	}
	CHECK_IS(nr_stops, 1);
}

POINT(stop_of_a_full_stream_means_that_it_does_not_begin_again)
{
	trace_id_t trid = make_small(POSIX_TRACE_UNTIL_FULL, 64);
	struct seen seen;

	write_numbers(open_id("x"), 0, 200);
	posix_trace_stop(trid);
	while (try_next(trid, &seen))
		;
	CHECK_IS(status_of(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
	CHECK_IS(status_of(trid).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	CHECK_IS(posix_trace_start(trid), 0);
	CHECK_IS(status_of(trid).posix_stream_status, POSIX_TRACE_RUNNING);
}

POINT(stop_of_a_full_loop_is_recorded_over_the_oldest_event)
{
	trace_id_t trid = make_small(POSIX_TRACE_LOOP, 64);
	trace_event_id_t last = 0;
	struct seen seen;

	write_numbers(open_id("x"), 0, 1000);
	CHECK_IS(posix_trace_stop(trid), 0);
	CHECK_IS(status_of(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
	while (try_next(trid, &seen))
		last = seen.info.posix_event_id;
	CHECK_IS(last, POSIX_TRACE_STOP);
}

POINT(stop_and_start_again_go_on_in_the_same_stream)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	write_numbers(id, 1, 1);
	posix_trace_stop(trid);
	write_numbers(id, 2, 1);
	posix_trace_start(trid);
	write_numbers(id, 3, 1);
	expect_started(trid, id, &seen);
	CHECK_IS(number_of(&seen), 1);
	expect(trid, POSIX_TRACE_STOP, &seen);
	expect_started(trid, id, &seen);
	CHECK_IS(number_of(&seen), 3);
	expect_nothing(trid);
}

/* Clear */

POINT(clear_loses_all_events)
{
	trace_id_t trid = make_running(NULL);

	write_numbers(open_id("x"), 0, 10);
	CHECK_IS(posix_trace_clear(trid), 0);
	expect_nothing(trid);
}

POINT(clear_leaves_a_running_stream_running)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	posix_trace_clear(trid);
	CHECK_IS(status_of(trid).posix_stream_status, POSIX_TRACE_RUNNING);
	write_numbers(id, 5, 1);
	expect(trid, id, &seen);
	CHECK_IS(number_of(&seen), 5);
}

POINT(clear_leaves_a_suspended_stream_suspended)
{
	trace_id_t trid = make_running(NULL);

	posix_trace_stop(trid);
	CHECK_IS(posix_trace_clear(trid), 0);
	CHECK_IS(status_of(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
	expect_nothing(trid);
}

POINT(clear_makes_a_full_stream_not_full)
{
	trace_id_t trid = make_small(POSIX_TRACE_UNTIL_FULL, 64);

	write_numbers(open_id("x"), 0, 200);
	CHECK_IS(posix_trace_clear(trid), 0);
	CHECK_IS(status_of(trid).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	CHECK_IS(status_of(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
	expect_nothing(trid);
}

POINT(clear_makes_a_full_loop_not_full_and_without_overrun)
{
	trace_id_t trid = make_small(POSIX_TRACE_LOOP, 64);

	write_numbers(open_id("x"), 0, 1000);
	CHECK_IS(posix_trace_clear(trid), 0);
	CHECK_IS(status_of(trid).posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	CHECK_IS(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	expect_nothing(trid);
}

POINT(clear_leaves_names_and_ids)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id = open_id("kept");
	trace_id_t trid = make_running(NULL);

	posix_trace_clear(trid);
	CHECK_IS(posix_trace_eventid_get_name(trid, id, name), 0);
	CHECK(!strcmp(name, "kept"));
	CHECK_IS(open_id("kept"), id);
}

POINT(clear_leaves_attributes)
{
	trace_id_t trid = make_small(POSIX_TRACE_UNTIL_FULL, 64);
	trace_attr_t before, behind;

	posix_trace_get_attr(trid, &before);
	posix_trace_clear(trid);
	posix_trace_get_attr(trid, &behind);
	CHECK(!memcmp(&before, &behind, sizeof(before)));
}

POINT(clear_makes_room_for_as_many_events_as_before)
{
	trace_event_id_t id = open_id("x");
	trace_id_t trid = make_small(POSIX_TRACE_UNTIL_FULL, 100);
	struct seen seen;

	for (int round = 0; round < 10; round++) {
		write_numbers(id, 0, 90);
		CHECK_IS(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
		CHECK_IS(posix_trace_clear(trid), 0);
	}
	write_numbers(id, 0, 90);
	for (int nr = 0; nr < 90; nr++) {
		expect(trid, id, &seen);
		CHECK_IS(number_of(&seen), nr);
	}
}

POINT(clear_of_a_bad_trid_is_einval)
{
	CHECK_IS(posix_trace_clear(4711), EINVAL);
}

/* Filters */

static trace_event_set_t set_of(trace_event_id_t one, trace_event_id_t other)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(one, &set);
	posix_trace_eventset_add(other, &set);
	return set;
}

static bool is_filtered(trace_id_t trid, trace_event_id_t id)
{
	trace_event_set_t set;
	int ismember = -1;

	CHECK_IS(posix_trace_get_filter(trid, &set), 0);
	CHECK_IS(posix_trace_eventset_ismember(id, &set, &ismember), 0);
	return ismember;
}

POINT(set_filter_leaves_out_the_types_in_the_set)
{
	trace_event_id_t out = open_id("out"), in = open_id("in");
	trace_event_set_t set = set_of(out, out);
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	CHECK_IS(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	posix_trace_event(out, NULL, 0);
	posix_trace_event(in, NULL, 0);
	expect_started(trid, POSIX_TRACE_FILTER, &seen);
	expect(trid, in, &seen);
	expect_nothing(trid);
}

POINT(set_filter_set_takes_the_place_of_the_filter)
{
	trace_event_id_t one = open_id("one"), other = open_id("other");
	trace_event_set_t first = set_of(one, one), second = set_of(other, other);
	trace_id_t trid = make_stream(NULL);

	posix_trace_set_filter(trid, &first, POSIX_TRACE_SET_EVENTSET);
	CHECK_IS(posix_trace_set_filter(trid, &second, POSIX_TRACE_SET_EVENTSET), 0);
	CHECK(!is_filtered(trid, one));
	CHECK(is_filtered(trid, other));
}

POINT(set_filter_add_is_the_union)
{
	trace_event_id_t one = open_id("one"), other = open_id("other");
	trace_event_set_t first = set_of(one, one), second = set_of(other, other);
	trace_id_t trid = make_stream(NULL);

	posix_trace_set_filter(trid, &first, POSIX_TRACE_SET_EVENTSET);
	CHECK_IS(posix_trace_set_filter(trid, &second, POSIX_TRACE_ADD_EVENTSET), 0);
	CHECK(is_filtered(trid, one));
	CHECK(is_filtered(trid, other));
}

POINT(set_filter_sub_takes_out)
{
	trace_event_id_t one = open_id("one"), other = open_id("other");
	trace_event_set_t first = set_of(one, other), second = set_of(other, other);
	trace_id_t trid = make_stream(NULL);

	posix_trace_set_filter(trid, &first, POSIX_TRACE_SET_EVENTSET);
	CHECK_IS(posix_trace_set_filter(trid, &second, POSIX_TRACE_SUB_EVENTSET), 0);
	CHECK(is_filtered(trid, one));
	CHECK(!is_filtered(trid, other));
}

POINT(set_filter_of_a_running_stream_is_recorded_with_the_old_and_the_new_one)
{
	trace_event_id_t one = open_id("one"), other = open_id("other");
	trace_event_set_t first = set_of(one, one), second = set_of(other, other);
	trace_id_t trid = make_running(NULL);
	struct seen seen;

	posix_trace_set_filter(trid, &first, POSIX_TRACE_SET_EVENTSET);
	posix_trace_set_filter(trid, &second, POSIX_TRACE_SET_EVENTSET);
	expect_started(trid, POSIX_TRACE_FILTER, &seen);
	CHECK_IS(seen.len, 2 * sizeof(first));
	CHECK(!memcmp(seen.data + sizeof(first), &first, sizeof(first)));
	expect(trid, POSIX_TRACE_FILTER, &seen);
	CHECK(!memcmp(seen.data, &first, sizeof(first)));
	CHECK(!memcmp(seen.data + sizeof(first), &second, sizeof(second)));
}

POINT(set_filter_of_a_suspended_stream_is_not_recorded)
{
	trace_event_set_t set = set_of(POSIX_TRACE_ERROR, POSIX_TRACE_ERROR);
	trace_id_t trid = make_stream(NULL);

	posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
	expect_nothing(trid);
}

POINT(set_filter_is_for_system_events_too)
{
	trace_event_set_t set = set_of(POSIX_TRACE_START, POSIX_TRACE_STOP);
	trace_id_t trid = make_stream(NULL);

	posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
	posix_trace_start(trid);
	posix_trace_stop(trid);
	expect_nothing(trid);
}

POINT(set_filter_of_one_stream_is_not_that_of_another_one)
{
	trace_event_id_t id = open_id("x");
	trace_event_set_t set = set_of(id, id);
	trace_id_t one = make_running(NULL), other = make_running(NULL);
	struct seen seen;

	posix_trace_set_filter(one, &set, POSIX_TRACE_SET_EVENTSET);
	posix_trace_event(id, NULL, 0);
	expect_started(one, POSIX_TRACE_FILTER, &seen);
	expect_nothing(one);
	expect_started(other, id, &seen);
}

POINT(set_filter_all_leaves_out_types_that_get_a_name_later)
{
	trace_id_t trid = make_running(NULL);
	trace_event_set_t set;
	struct seen seen;

	posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS);
	posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET);
	posix_trace_event(open_id("later"), NULL, 0);
	expect(trid, POSIX_TRACE_START, &seen);
	expect_nothing(trid);
}

POINT(filters_of_bad_arguments_are_einval)
{
	trace_id_t trid = make_stream(NULL);
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	CHECK_IS(posix_trace_set_filter(4711, &set, POSIX_TRACE_SET_EVENTSET), EINVAL);
	CHECK_IS(posix_trace_set_filter(trid, NULL, POSIX_TRACE_SET_EVENTSET), EINVAL);
	CHECK_IS(posix_trace_set_filter(trid, &set, 0), EINVAL);
	CHECK_IS(posix_trace_set_filter(trid, &set, 4), EINVAL);
	CHECK_IS(posix_trace_get_filter(4711, &set), EINVAL);
	CHECK_IS(posix_trace_get_filter(trid, NULL), EINVAL);
}

/* Shutdown */

POINT(shutdown_makes_the_trid_invalid)
{
	struct posix_trace_status_info status;
	trace_id_t trid = make_running(NULL);

	CHECK_IS(posix_trace_shutdown(trid), 0);
	CHECK_IS(posix_trace_shutdown(trid), EINVAL);
	CHECK_IS(posix_trace_start(trid), EINVAL);
	CHECK_IS(posix_trace_get_status(trid, &status), EINVAL);
}

POINT(shutdown_of_a_bad_trid_is_einval)
{
	CHECK_IS(posix_trace_shutdown(4711), EINVAL);
}

POINT(shutdown_of_one_stream_leaves_the_others)
{
	trace_event_id_t id = open_id("x");
	trace_id_t one = make_running(NULL), other = make_running(NULL);
	struct seen seen;

	posix_trace_shutdown(one);
	posix_trace_event(id, NULL, 0);
	expect_started(other, id, &seen);
}

POINT(shutdown_trid_is_not_that_of_the_next_stream)
{
	trace_id_t first = make_stream(NULL), next;

	posix_trace_shutdown(first);
	next = make_stream(NULL);
	CHECK(first != next);
	CHECK_IS(posix_trace_start(first), EINVAL);
}

POINT(shutdown_and_creation_a_thousand_times_leak_nothing)
{
	trace_event_id_t id = open_id("x");
	int fd = dup(0), again;
	trace_id_t trid;
	struct seen seen;
	FILE *maps;
	int nr_before = 0, nr_behind = 0, c;

	for (int nr = 0; nr < 1001; nr++) {
		trid = make_small(POSIX_TRACE_LOOP, 64);
		posix_trace_event(id, NULL, 0);
		expect_started(trid, id, &seen);
		CHECK_IS(posix_trace_shutdown(trid), 0);
		/*
		 * Mappings are counted only twice, since sanitizers map memory of their own now and
		 * then.
		 */
		if (nr != 0 && nr != 1000)
			continue;
		maps = fopen("/proc/self/maps", "r");
		while (maps && (c = fgetc(maps)) != EOF)
			*(nr ? &nr_behind : &nr_before) += c == '\n';
		if (maps)
			fclose(maps);
	}
	again = dup(0);
	CHECK_IS(again, fd + 1);
	CHECK(nr_behind < nr_before + 50);
}

POINT(calls_for_streams_with_the_trid_of_a_log_are_einval)
{
	struct posix_trace_event_info info;
	int fd = make_file(), unavailable;
	struct timespec time = { 0, 0 };
	trace_event_set_t set;
	trace_event_id_t id;
	trace_id_t trid;
	size_t len;

	posix_trace_eventset_empty(&set);
	CHECK_IS(posix_trace_shutdown(make_log(fd, NULL)), 0);
	CHECK_IS(posix_trace_open(fd, &trid), 0);
	CHECK_IS(posix_trace_start(trid), EINVAL);
	CHECK_IS(posix_trace_stop(trid), EINVAL);
	CHECK_IS(posix_trace_clear(trid), EINVAL);
	CHECK_IS(posix_trace_flush(trid), EINVAL);
	CHECK_IS(posix_trace_shutdown(trid), EINVAL);
	CHECK_IS(posix_trace_get_filter(trid, &set), EINVAL);
	CHECK_IS(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), EINVAL);
	CHECK_IS(posix_trace_trid_eventid_open(trid, "x", &id), EINVAL);
	CHECK_IS(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &unavailable), EINVAL);
	CHECK_IS(posix_trace_timedgetnext_event(trid, &info, NULL, 0, &len, &unavailable, &time),
		 EINVAL);
}

POINT(calls_for_logs_with_the_trid_of_a_stream_are_einval)
{
	trace_id_t trid = make_stream(NULL);

	CHECK_IS(posix_trace_close(trid), EINVAL);
	CHECK_IS(posix_trace_rewind(trid), EINVAL);
	CHECK_IS(posix_trace_flush(trid), EINVAL);
}

/* Limits */

POINT(limits_are_at_least_what_the_standard_says)
{
	CHECK(TRACE_EVENT_NAME_MAX >= _POSIX_TRACE_EVENT_NAME_MAX);
	CHECK(TRACE_NAME_MAX >= _POSIX_TRACE_NAME_MAX);
	CHECK(TRACE_SYS_MAX >= _POSIX_TRACE_SYS_MAX);
	CHECK(TRACE_USER_EVENT_MAX >= _POSIX_TRACE_USER_EVENT_MAX);
	CHECK_IS(_POSIX_TRACE_EVENT_NAME_MAX, 30);
	CHECK_IS(_POSIX_TRACE_NAME_MAX, 8);
	CHECK_IS(_POSIX_TRACE_SYS_MAX, 8);
	CHECK_IS(_POSIX_TRACE_USER_EVENT_MAX, 32);
}

POINT(sysconf_knows_options_and_limits)
{
	CHECK_IS(utrail_sysconf(_SC_TRACE), 200809);
	CHECK_IS(utrail_sysconf(_SC_TRACE_EVENT_FILTER), 200809);
	CHECK_IS(utrail_sysconf(_SC_TRACE_INHERIT), 200809);
	CHECK_IS(utrail_sysconf(_SC_TRACE_LOG), 200809);
	CHECK_IS(utrail_sysconf(_SC_TRACE_EVENT_NAME_MAX), TRACE_EVENT_NAME_MAX);
	CHECK_IS(utrail_sysconf(_SC_TRACE_NAME_MAX), TRACE_NAME_MAX);
	CHECK_IS(utrail_sysconf(_SC_TRACE_SYS_MAX), TRACE_SYS_MAX);
	CHECK_IS(utrail_sysconf(_SC_TRACE_USER_EVENT_MAX), TRACE_USER_EVENT_MAX);
	CHECK_IS(utrail_sysconf(_SC_PAGESIZE), sysconf(_SC_PAGESIZE));
}

POINT(option_macros_are_defined)
{
	CHECK_IS(_POSIX_TRACE, 200809);
	CHECK_IS(_POSIX_TRACE_EVENT_FILTER, 200809);
	CHECK_IS(_POSIX_TRACE_INHERIT, 200809);
	CHECK_IS(_POSIX_TRACE_LOG, 200809);
}
