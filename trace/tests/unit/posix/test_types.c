/* Types of events: their names and numbers, and the list of them. */
#include <errno.h>

#include "posix/posix.h"
#include "tests/unit/lib/trace_place.h"

static trace_id_t trid;

static int begin_all(void **state)
{
	return trace_place_make(state) < 0 || posix_trace_create(0, NULL, &trid) ? -1 : 0;
}

static int end_all(void **state)
{
	return posix_trace_shutdown(trid);
}

TEST(names_have_a_longest_length)
{
	char name[TRACE_EVENT_NAME_MAX + 2], back[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id = 4711, other = 4712;

	memset(name, 'x', sizeof(name));
	name[TRACE_EVENT_NAME_MAX + 1] = '\0';
	assert_int_equal(posix_trace_eventid_open(name, &id), ENAMETOOLONG);
	assert_int_equal(posix_trace_trid_eventid_open(trid, name, &other), ENAMETOOLONG);
	assert_int_equal(id, 4711);
	assert_int_equal(other, 4712);
	name[TRACE_EVENT_NAME_MAX] = '\0';
	assert_int_equal(posix_trace_eventid_open(name, &id), 0);
	assert_int_equal(posix_trace_trid_eventid_open(trid, name, &other), 0);
	assert_int_equal(id, other);
	assert_int_equal(posix_trace_eventid_get_name(trid, id, back), 0);
	assert_string_equal(back, name);
	assert_int_equal(posix_trace_eventid_open(NULL, &id), EINVAL);
	assert_int_equal(posix_trace_eventid_open("x", NULL), EINVAL);
	assert_int_equal(posix_trace_trid_eventid_open(trid, NULL, &id), EINVAL);
	assert_int_equal(posix_trace_trid_eventid_open(trid, "x", NULL), EINVAL);
	assert_int_equal(posix_trace_trid_eventid_open(trid + 1, "x", &id), EINVAL);
	assert_int_equal(posix_trace_eventid_get_name(trid, PT_END_NAMED - 1, back), EINVAL);
	assert_int_equal(posix_trace_eventid_get_name(trid, id, NULL), EINVAL);
	assert_int_equal(posix_trace_eventid_get_name(trid + 1, id, back), EINVAL);
	assert_true(posix_trace_eventid_equal(trid, 5, 5));
	assert_false(posix_trace_eventid_equal(trid, 5, 6));
}

TEST(the_list_has_each_type_once)
{
	trace_event_id_t last = 0, id, mine;
	int unavailable, nr = 0;

	assert_int_equal(posix_trace_eventid_open("mine", &mine), 0);
	assert_int_equal(posix_trace_eventtypelist_rewind(trid), 0);
	for (;;) {
		assert_int_equal(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable), 0);
		if (unavailable)
			break;
		assert_true(id > last);
		last = id;
		nr++;
	}
	/* These are the system's events, the unnamed one, and two with names so far. */
	assert_int_equal(nr, PT_NR_SYSTEM - 1 + 1 + 2);
	assert_int_equal(last, PT_FIRST_NAMED + 1);
	assert_int_equal(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable), 0);
	assert_int_equal(unavailable, 1);
	assert_int_equal(posix_trace_eventtypelist_rewind(trid), 0);
	assert_int_equal(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable), 0);
	assert_int_equal(unavailable, 0);
	assert_int_equal(id, 1);
	assert_int_equal(posix_trace_eventtypelist_getnext_id(trid, NULL, &unavailable), EINVAL);
	assert_int_equal(posix_trace_eventtypelist_getnext_id(trid, &id, NULL), EINVAL);
	assert_int_equal(posix_trace_eventtypelist_getnext_id(trid + 1, &id, &unavailable), EINVAL);
	assert_int_equal(posix_trace_eventtypelist_rewind(trid + 1), EINVAL);
}

TEST_GROUP(begin_all, end_all)
