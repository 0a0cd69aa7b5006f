/* Conformance: attributes objects. */
#include "point.h"

POINT(attr_init_makes_an_object_that_can_be_used)
{
	trace_attr_t attr;
	size_t size;

	memset(&attr, 0xa5, sizeof(attr));
	CHECK_IS(posix_trace_attr_init(&attr), 0);
	CHECK_IS(posix_trace_attr_getstreamsize(&attr, &size), 0);
	CHECK(size > 0);
}

POINT(attr_init_of_nothing_is_einval)
{
	CHECK_IS(posix_trace_attr_init(NULL), EINVAL);
}

POINT_WITH_ATTR(attr_destroy_makes_the_object_unusable)
{
	trace_id_t trid;
	size_t size;

	CHECK_IS(posix_trace_attr_destroy(attr), 0);
	CHECK_IS(posix_trace_attr_getstreamsize(attr, &size), EINVAL);
	CHECK_IS(posix_trace_create(0, attr, &trid), EINVAL);
	CHECK_IS(posix_trace_attr_destroy(attr), EINVAL);
}

POINT(attr_destroyed_object_can_be_initialized_again)
{
	trace_attr_t attr;
	int policy;

	posix_trace_attr_init(&attr);
	posix_trace_attr_destroy(&attr);
	CHECK_IS(posix_trace_attr_init(&attr), 0);
	CHECK_IS(posix_trace_attr_getstreamfullpolicy(&attr, &policy), 0);
}

POINT(attr_destroy_of_nothing_is_einval)
{
	CHECK_IS(posix_trace_attr_destroy(NULL), EINVAL);
}

POINT_WITH_ATTR(attr_one_object_makes_many_streams)
{
	trace_id_t one, other;

	one = make_stream(attr);
	other = make_stream(attr);
	CHECK(one != other);
	CHECK_IS(posix_trace_shutdown(one), 0);
	CHECK_IS(posix_trace_shutdown(other), 0);
}

POINT_WITH_ATTR(attr_a_change_after_creation_has_no_effect_on_the_stream)
{
	trace_attr_t of_stream;
	char name[TRACE_NAME_MAX];
	trace_id_t trid;

	posix_trace_attr_setname(attr, "before");
	trid = make_stream(attr);
	posix_trace_attr_setname(attr, "behind");
	posix_trace_attr_destroy(attr);
	CHECK_IS(posix_trace_get_attr(trid, &of_stream), 0);
	posix_trace_attr_getname(&of_stream, name);
	CHECK(!strcmp(name, "before"));
}

/* Identification */

POINT_WITH_ATTR(getgenversion_tells_who_made_the_stream_within_the_limit)
{
	char version[TRACE_NAME_MAX];

	memset(version, 'x', sizeof(version));
	CHECK_IS(posix_trace_attr_getgenversion(attr, version), 0);
	CHECK(memchr(version, 0, sizeof(version)));
	CHECK(version[0]);
}

POINT_WITH_ATTR(getgenversion_of_bad_arguments_is_einval)
{
	trace_attr_t other;
	char version[TRACE_NAME_MAX];

	memset(&other, 0, sizeof(other));
	CHECK_IS(posix_trace_attr_getgenversion(&other, version), EINVAL);
	CHECK_IS(posix_trace_attr_getgenversion(NULL, version), EINVAL);
	CHECK_IS(posix_trace_attr_getgenversion(attr, NULL), EINVAL);
}

POINT_WITH_ATTR(getname_is_empty_by_default)
{
	char name[TRACE_NAME_MAX] = "x";

	CHECK_IS(posix_trace_attr_getname(attr, name), 0);
	CHECK_IS(strlen(name), 0);
}

POINT_WITH_ATTR(setname_is_what_getname_says)
{
	char name[TRACE_NAME_MAX];

	CHECK_IS(posix_trace_attr_setname(attr, "a longer name"), 0);
	CHECK_IS(posix_trace_attr_setname(attr, "stream"), 0);
	CHECK_IS(posix_trace_attr_getname(attr, name), 0);
	CHECK(!strcmp(name, "stream"));
}

POINT_WITH_ATTR(setname_cuts_a_long_name_without_an_error)
{
	char name[TRACE_NAME_MAX], longer[TRACE_NAME_MAX + 100];

	memset(longer, 'n', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	CHECK_IS(posix_trace_attr_setname(attr, longer), 0);
	CHECK_IS(posix_trace_attr_getname(attr, name), 0);
	CHECK_IS(strlen(name), TRACE_NAME_MAX - 1);
}

POINT_WITH_ATTR(setname_takes_a_name_of_the_longest_length_whole)
{
	char name[TRACE_NAME_MAX], longest[TRACE_NAME_MAX];

	memset(longest, 'n', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	CHECK_IS(posix_trace_attr_setname(attr, longest), 0);
	CHECK_IS(posix_trace_attr_getname(attr, name), 0);
	CHECK(!strcmp(name, longest));
}

POINT_WITH_ATTR(setname_and_getname_of_bad_arguments_are_einval)
{
	char name[TRACE_NAME_MAX];

	CHECK_IS(posix_trace_attr_setname(attr, NULL), EINVAL);
	CHECK_IS(posix_trace_attr_setname(NULL, "x"), EINVAL);
	CHECK_IS(posix_trace_attr_getname(attr, NULL), EINVAL);
	CHECK_IS(posix_trace_attr_getname(NULL, name), EINVAL);
}

POINT(getcreatetime_is_the_time_when_the_stream_was_made)
{
	uint64_t before = now_ns(CLOCK_REALTIME), created;
	struct timespec time;
	trace_attr_t attr;

	CHECK_IS(posix_trace_get_attr(make_stream(NULL), &attr), 0);
	CHECK_IS(posix_trace_attr_getcreatetime(&attr, &time), 0);
	created = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
	CHECK(created >= before && created <= now_ns(CLOCK_REALTIME));
}

POINT_WITH_ATTR(getcreatetime_of_bad_arguments_is_einval)
{
	struct timespec time;

	CHECK_IS(posix_trace_attr_getcreatetime(attr, NULL), EINVAL);
	CHECK_IS(posix_trace_attr_getcreatetime(NULL, &time), EINVAL);
}

POINT_WITH_ATTR(getclockres_is_the_resolution_of_the_clock_from_the_beginning)
{
	struct timespec resolution, real;

	CHECK_IS(posix_trace_attr_getclockres(attr, &resolution), 0);
	clock_getres(CLOCK_MONOTONIC, &real);
	CHECK_IS(resolution.tv_sec, real.tv_sec);
	CHECK_IS(resolution.tv_nsec, real.tv_nsec);
}

POINT_WITH_ATTR(getclockres_of_bad_arguments_is_einval)
{
	struct timespec resolution;

	CHECK_IS(posix_trace_attr_getclockres(attr, NULL), EINVAL);
	CHECK_IS(posix_trace_attr_getclockres(NULL, &resolution), EINVAL);
}

/* Policies */

POINT_WITH_ATTR(getinherited_is_close_for_child_by_default)
{
	int inherited;

	CHECK_IS(posix_trace_attr_getinherited(attr, &inherited), 0);
	CHECK_IS(inherited, POSIX_TRACE_CLOSE_FOR_CHILD);
}

POINT_WITH_ATTR(setinherited_is_what_getinherited_says)
{
	int inherited;

	CHECK_IS(posix_trace_attr_setinherited(attr, POSIX_TRACE_INHERITED), 0);
	CHECK_IS(posix_trace_attr_getinherited(attr, &inherited), 0);
	CHECK_IS(inherited, POSIX_TRACE_INHERITED);
	CHECK_IS(posix_trace_attr_setinherited(attr, POSIX_TRACE_CLOSE_FOR_CHILD), 0);
	CHECK_IS(posix_trace_attr_getinherited(attr, &inherited), 0);
	CHECK_IS(inherited, POSIX_TRACE_CLOSE_FOR_CHILD);
}

POINT_WITH_ATTR(setinherited_and_getinherited_of_bad_arguments_are_einval)
{
	int inherited;

	CHECK_IS(posix_trace_attr_setinherited(attr, 77), EINVAL);
	CHECK_IS(posix_trace_attr_setinherited(NULL, POSIX_TRACE_INHERITED), EINVAL);
	CHECK_IS(posix_trace_attr_getinherited(attr, NULL), EINVAL);
	CHECK_IS(posix_trace_attr_getinherited(NULL, &inherited), EINVAL);
}

static int policy_of(trace_id_t trid)
{
	trace_attr_t attr;
	int policy = -1;

	CHECK_IS(posix_trace_get_attr(trid, &attr), 0);
	CHECK_IS(posix_trace_attr_getstreamfullpolicy(&attr, &policy), 0);
	return policy;
}

POINT(streamfullpolicy_is_loop_by_default_without_a_log)
{
	CHECK_IS(policy_of(make_stream(NULL)), POSIX_TRACE_LOOP);
}

POINT(streamfullpolicy_is_flush_by_default_with_a_log)
{
	CHECK_IS(policy_of(make_log(make_file(), NULL)), POSIX_TRACE_FLUSH);
}

POINT_WITH_ATTR(setstreamfullpolicy_is_what_getstreamfullpolicy_says)
{
	static const int all[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };
	int policy;

	for (int nr = 0; nr < 3; nr++) {
		CHECK_IS(posix_trace_attr_setstreamfullpolicy(attr, all[nr]), 0);
		CHECK_IS(posix_trace_attr_getstreamfullpolicy(attr, &policy), 0);
		CHECK_IS(policy, all[nr]);
	}
}

POINT_WITH_ATTR(streamfullpolicy_append_is_einval)
{
	CHECK_IS(posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_APPEND), EINVAL);
}

POINT_WITH_ATTR(streamfullpolicy_of_bad_arguments_is_einval)
{
	int policy;

	CHECK_IS(posix_trace_attr_setstreamfullpolicy(attr, 0), EINVAL);
	CHECK_IS(posix_trace_attr_setstreamfullpolicy(attr, -1), EINVAL);
	CHECK_IS(posix_trace_attr_setstreamfullpolicy(NULL, POSIX_TRACE_LOOP), EINVAL);
	CHECK_IS(posix_trace_attr_getstreamfullpolicy(NULL, &policy), EINVAL);
	CHECK_IS(posix_trace_attr_getstreamfullpolicy(attr, NULL), EINVAL);
}

POINT_WITH_ATTR(logfullpolicy_is_loop_by_default)
{
	int policy;

	CHECK_IS(posix_trace_attr_getlogfullpolicy(attr, &policy), 0);
	CHECK_IS(policy, POSIX_TRACE_LOOP);
}

POINT_WITH_ATTR(setlogfullpolicy_is_what_getlogfullpolicy_says)
{
	static const int all[] = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND, POSIX_TRACE_LOOP };
	int policy;

	for (int nr = 0; nr < 3; nr++) {
		CHECK_IS(posix_trace_attr_setlogfullpolicy(attr, all[nr]), 0);
		CHECK_IS(posix_trace_attr_getlogfullpolicy(attr, &policy), 0);
		CHECK_IS(policy, all[nr]);
	}
}

POINT_WITH_ATTR(logfullpolicy_flush_is_einval)
{
	CHECK_IS(posix_trace_attr_setlogfullpolicy(attr, POSIX_TRACE_FLUSH), EINVAL);
}

POINT_WITH_ATTR(logfullpolicy_of_bad_arguments_is_einval)
{
	int policy;

	CHECK_IS(posix_trace_attr_setlogfullpolicy(attr, 99), EINVAL);
	CHECK_IS(posix_trace_attr_setlogfullpolicy(NULL, POSIX_TRACE_LOOP), EINVAL);
	CHECK_IS(posix_trace_attr_getlogfullpolicy(NULL, &policy), EINVAL);
	CHECK_IS(posix_trace_attr_getlogfullpolicy(attr, NULL), EINVAL);
}

/* Sizes */

POINT_WITH_ATTR(setstreamsize_is_what_getstreamsize_says)
{
	size_t size;

	CHECK_IS(posix_trace_attr_setstreamsize(attr, 123456), 0);
	CHECK_IS(posix_trace_attr_getstreamsize(attr, &size), 0);
	CHECK_IS(size, 123456);
}

POINT_WITH_ATTR(streamsize_of_bad_arguments_is_einval)
{
	size_t size;

	CHECK_IS(posix_trace_attr_setstreamsize(attr, 0), EINVAL);
	CHECK_IS(posix_trace_attr_setstreamsize(attr, SIZE_MAX), EINVAL);
	CHECK_IS(posix_trace_attr_setstreamsize(NULL, 4096), EINVAL);
	CHECK_IS(posix_trace_attr_getstreamsize(NULL, &size), EINVAL);
	CHECK_IS(posix_trace_attr_getstreamsize(attr, NULL), EINVAL);
}

POINT_WITH_ATTR(setlogsize_is_what_getlogsize_says)
{
	size_t size;

	CHECK_IS(posix_trace_attr_setlogsize(attr, 65432), 0);
	CHECK_IS(posix_trace_attr_getlogsize(attr, &size), 0);
	CHECK_IS(size, 65432);
}

POINT_WITH_ATTR(logsize_of_bad_arguments_is_einval)
{
	size_t size;

	CHECK_IS(posix_trace_attr_setlogsize(attr, 0), EINVAL);
	CHECK_IS(posix_trace_attr_setlogsize(NULL, 4096), EINVAL);
	CHECK_IS(posix_trace_attr_getlogsize(NULL, &size), EINVAL);
	CHECK_IS(posix_trace_attr_getlogsize(attr, NULL), EINVAL);
}

POINT_WITH_ATTR(setmaxdatasize_is_what_getmaxdatasize_says)
{
	size_t size;

	CHECK_IS(posix_trace_attr_setmaxdatasize(attr, 1000), 0);
	CHECK_IS(posix_trace_attr_getmaxdatasize(attr, &size), 0);
	CHECK_IS(size, 1000);
}

POINT_WITH_ATTR(maxdatasize_of_bad_arguments_is_einval)
{
	size_t size;

	CHECK_IS(posix_trace_attr_setmaxdatasize(attr, SIZE_MAX), EINVAL);
	CHECK_IS(posix_trace_attr_setmaxdatasize(NULL, 100), EINVAL);
	CHECK_IS(posix_trace_attr_getmaxdatasize(NULL, &size), EINVAL);
	CHECK_IS(posix_trace_attr_getmaxdatasize(attr, NULL), EINVAL);
}

POINT_WITH_ATTR(getmaxusereventsize_grows_with_the_data_up_to_the_largest_data)
{
	size_t none, some, most, more;

	posix_trace_attr_setmaxdatasize(attr, 1000);
	CHECK_IS(posix_trace_attr_getmaxusereventsize(attr, 0, &none), 0);
	CHECK_IS(posix_trace_attr_getmaxusereventsize(attr, 500, &some), 0);
	CHECK_IS(posix_trace_attr_getmaxusereventsize(attr, 1000, &most), 0);
	CHECK_IS(posix_trace_attr_getmaxusereventsize(attr, 100000, &more), 0);
	CHECK(none > 0 && some > none && some >= 500 && most > some);
	CHECK_IS(more, most);
}

POINT_WITH_ATTR(getmaxusereventsize_of_bad_arguments_is_einval)
{
	size_t size;

	CHECK_IS(posix_trace_attr_getmaxusereventsize(NULL, 0, &size), EINVAL);
	CHECK_IS(posix_trace_attr_getmaxusereventsize(attr, 0, NULL), EINVAL);
}

POINT_WITH_ATTR(getmaxsystemeventsize_has_room_for_two_sets)
{
	size_t size;

	CHECK_IS(posix_trace_attr_getmaxsystemeventsize(attr, &size), 0);
	CHECK(size >= 2 * sizeof(trace_event_set_t));
}

POINT_WITH_ATTR(getmaxsystemeventsize_of_bad_arguments_is_einval)
{
	size_t size;

	CHECK_IS(posix_trace_attr_getmaxsystemeventsize(NULL, &size), EINVAL);
	CHECK_IS(posix_trace_attr_getmaxsystemeventsize(attr, NULL), EINVAL);
}

POINT_WITH_ATTR(streamsize_of_the_sum_of_largest_sizes_takes_all_events)
{
	size_t small, large, system, nr = 500;
	trace_event_id_t id = open_id("event");
	unsigned char data[200] = "data";
	struct seen seen;
	trace_id_t trid;

	posix_trace_attr_setstreamfullpolicy(attr, POSIX_TRACE_UNTIL_FULL);
	posix_trace_attr_getmaxusereventsize(attr, 1, &small);
	posix_trace_attr_getmaxusereventsize(attr, sizeof(data), &large);
	posix_trace_attr_getmaxsystemeventsize(attr, &system);
	posix_trace_attr_setstreamsize(attr, nr * (small + large) + system);
	trid = make_running(attr);
	for (size_t at = 0; at < nr; at++) {
		posix_trace_event(id, data, 1);
		posix_trace_event(id, data, sizeof(data));
	}
	CHECK_IS(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	expect(trid, POSIX_TRACE_START, &seen);
	for (size_t at = 0; at < 2 * nr; at++) {
		expect(trid, id, &seen);
		CHECK_IS(seen.len, at % 2 ? sizeof(data) : 1);
	}
	expect_nothing(trid);
}

POINT_WITH_ATTR(streamsize_that_is_too_small_for_one_event_is_raised)
{
	trace_event_id_t id = open_id("event");
	unsigned char data[1000] = "data";
	struct seen seen;
	trace_id_t trid;

	posix_trace_attr_setstreamsize(attr, 1);
	posix_trace_attr_setmaxdatasize(attr, sizeof(data));
	trid = make_running(attr);
	posix_trace_event(id, data, sizeof(data));
	expect_started(trid, id, &seen);
	CHECK_IS(seen.len, sizeof(data));
}
