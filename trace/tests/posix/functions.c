/*
 * Conformance of entries and exits of functions as system events. test_programs.py has a program
 * that was compiled for them.
 */
#include "point.h"

static char code[2];

static trace_id_t make_with_functions(void)
{
	trace_attr_t attr;

	CHECK_IS(posix_trace_attr_init(&attr), 0);
	CHECK_IS(utrail_trace_attr_setfunctions(&attr, 1), 0);
	return make_running(&attr);
}

static void expect_function(trace_id_t trid, trace_event_id_t id)
{
	struct utrail_trace_function said;
	struct seen seen;

	expect(trid, id, &seen);
	CHECK_IS(seen.len, sizeof(said));
	memcpy(&said, seen.data, sizeof(said));
	CHECK(said.function == &code[0]);
	CHECK(said.call_site == &code[1]);
	CHECK(seen.info.posix_prog_address == &code[0]);
	CHECK_IS(seen.info.posix_pid, getpid());
	CHECK(pthread_equal(seen.info.posix_thread_id, pthread_self()));
}

POINT(functions_are_system_events_of_streams_that_ask_for_them)
{
	trace_id_t trid = make_with_functions();
	struct seen seen;

	utrail_trace_function_entry(&code[0], &code[1]);
	write_numbers(open_id("x"), 1, 1);
	utrail_trace_function_exit(&code[0], &code[1]);
	expect(trid, POSIX_TRACE_START, &seen);
	expect_function(trid, UTRAIL_TRACE_FUNCTION_ENTRY);
	expect(trid, open_id("x"), &seen);
	expect_function(trid, UTRAIL_TRACE_FUNCTION_EXIT);
	expect_nothing(trid);
}

POINT(functions_are_in_no_other_stream)
{
	trace_id_t other = make_running(NULL), trid = make_with_functions();
	struct seen seen;

	utrail_trace_function_entry(&code[0], &code[1]);
	expect(other, POSIX_TRACE_START, &seen);
	expect_nothing(other);
	expect(trid, POSIX_TRACE_START, &seen);
	expect_function(trid, UTRAIL_TRACE_FUNCTION_ENTRY);
}

POINT(functions_are_filtered_as_other_events)
{
	trace_id_t trid = make_with_functions();
	trace_event_set_t set;
	struct seen seen;

	CHECK_IS(posix_trace_eventset_empty(&set), 0);
	CHECK_IS(posix_trace_eventset_add(UTRAIL_TRACE_FUNCTION_EXIT, &set), 0);
	CHECK_IS(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	utrail_trace_function_entry(&code[0], &code[1]);
	utrail_trace_function_exit(&code[0], &code[1]);
	expect_started(trid, POSIX_TRACE_FILTER, &seen);
	expect_function(trid, UTRAIL_TRACE_FUNCTION_ENTRY);
	expect_nothing(trid);
}

POINT(functions_are_not_cut_by_the_data_size_of_user_events)
{
	trace_attr_t attr;
	trace_id_t trid;
	struct seen seen;

	CHECK_IS(posix_trace_attr_init(&attr), 0);
	CHECK_IS(utrail_trace_attr_setfunctions(&attr, 1), 0);
	CHECK_IS(posix_trace_attr_setmaxdatasize(&attr, 1), 0);
	trid = make_running(&attr);
	utrail_trace_function_entry(&code[0], &code[1]);
	expect(trid, POSIX_TRACE_START, &seen);
	expect_function(trid, UTRAIL_TRACE_FUNCTION_ENTRY);
	CHECK_IS(seen.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
}

POINT(functions_have_names_and_are_in_the_set_of_system_events)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_id_t trid = make_stream(NULL);
	trace_event_set_t set;
	int is_in = 0;

	CHECK_IS(posix_trace_eventid_get_name(trid, UTRAIL_TRACE_FUNCTION_ENTRY, name), 0);
	CHECK(!strcmp(name, "utrail_function_entry"));
	CHECK_IS(posix_trace_eventid_get_name(trid, UTRAIL_TRACE_FUNCTION_EXIT, name), 0);
	CHECK(!strcmp(name, "utrail_function_exit"));
	CHECK_IS(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS), 0);
	CHECK_IS(posix_trace_eventset_ismember(UTRAIL_TRACE_FUNCTION_EXIT, &set, &is_in), 0);
	CHECK(is_in);
}

POINT(attr_functions_is_off_at_first_and_is_what_was_set)
{
	trace_attr_t attr;
	int is_on = -1;

	CHECK_IS(utrail_trace_attr_setfunctions(NULL, 1), EINVAL);
	CHECK_IS(posix_trace_attr_init(&attr), 0);
	CHECK_IS(utrail_trace_attr_getfunctions(&attr, NULL), EINVAL);
	CHECK_IS(utrail_trace_attr_getfunctions(&attr, &is_on), 0);
	CHECK_IS(is_on, 0);
	CHECK_IS(utrail_trace_attr_setfunctions(&attr, 2), EINVAL);
	CHECK_IS(utrail_trace_attr_setfunctions(&attr, 1), 0);
	CHECK_IS(utrail_trace_attr_getfunctions(&attr, &is_on), 0);
	CHECK_IS(is_on, 1);
	CHECK_IS(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	CHECK_IS(utrail_trace_attr_getfunctions(&attr, &is_on), 0);
	CHECK_IS(is_on, 1);
}
