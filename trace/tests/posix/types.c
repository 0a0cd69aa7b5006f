/* Conformance: event types, their names, and sets of them. */
#include "point.h"

POINT(eventid_open_of_the_same_name_is_the_same_id)
{
	CHECK_IS(open_id("name"), open_id("name"));
}

POINT(eventid_open_of_different_names_are_different_ids)
{
	CHECK(open_id("one") != open_id("other"));
}

POINT(eventid_open_needs_no_stream)
{
	trace_event_id_t id = open_id("early");
	char name[TRACE_EVENT_NAME_MAX + 1];

	CHECK_IS(posix_trace_eventid_get_name(make_stream(NULL), id, name), 0);
	CHECK(!strcmp(name, "early"));
}

POINT(eventid_open_takes_a_name_of_the_longest_length)
{
	char longest[TRACE_EVENT_NAME_MAX + 1], name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;

	memset(longest, 'n', TRACE_EVENT_NAME_MAX);
	longest[TRACE_EVENT_NAME_MAX] = '\0';
	id = open_id(longest);
	CHECK_IS(posix_trace_eventid_get_name(make_stream(NULL), id, name), 0);
	CHECK(!strcmp(name, longest));
}

POINT(eventid_open_of_a_longer_name_is_enametoolong)
{
	char longer[TRACE_EVENT_NAME_MAX + 2];
	trace_event_id_t id;

	memset(longer, 'n', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	CHECK_IS(posix_trace_eventid_open(longer, &id), ENAMETOOLONG);
	CHECK_IS(posix_trace_trid_eventid_open(make_stream(NULL), longer, &id), ENAMETOOLONG);
}

POINT(eventid_open_beyond_the_limit_is_the_unnamed_event)
{
	trace_event_id_t last = 0;
	char name[32];

	/* The unnamed event is one of TRACE_USER_EVENT_MAX. */
	for (int nr = 0; nr < TRACE_USER_EVENT_MAX - 1; nr++) {
		snprintf(name, sizeof(name), "event %d", nr);
		last = open_id(name);
		CHECK(last != POSIX_TRACE_UNNAMED_USER_EVENT);
	}
	CHECK_IS(open_id("one more"), POSIX_TRACE_UNNAMED_USER_EVENT);
	CHECK_IS(open_id(name), last);
}

POINT(eventid_open_of_bad_arguments_is_einval)
{
	trace_event_id_t id;

	CHECK_IS(posix_trace_eventid_open(NULL, &id), EINVAL);
	CHECK_IS(posix_trace_eventid_open("x", NULL), EINVAL);
}

POINT(trid_eventid_open_shares_its_names_with_the_traced_process)
{
	trace_id_t trid = make_stream(NULL);
	trace_event_id_t id;

	CHECK_IS(posix_trace_trid_eventid_open(trid, "of the controller", &id), 0);
	CHECK_IS(open_id("of the controller"), id);
	CHECK_IS(posix_trace_trid_eventid_open(trid, "of the controller", &id), 0);
	CHECK_IS(open_id("of the controller"), id);
}

POINT(trid_eventid_open_of_a_bad_trid_is_einval)
{
	trace_event_id_t id;

	CHECK_IS(posix_trace_trid_eventid_open(4711, "x", &id), EINVAL);
}

POINT(trid_eventid_open_of_bad_arguments_is_einval)
{
	trace_id_t trid = make_stream(NULL);
	trace_event_id_t id;

	CHECK_IS(posix_trace_trid_eventid_open(trid, NULL, &id), EINVAL);
	CHECK_IS(posix_trace_trid_eventid_open(trid, "x", NULL), EINVAL);
}

static const struct {
	trace_event_id_t id;
	const char *name;
} fixed[] = {
	{ POSIX_TRACE_ERROR, "posix_trace_error" },
	{ POSIX_TRACE_START, "posix_trace_start" },
	{ POSIX_TRACE_STOP, "posix_trace_stop" },
	{ POSIX_TRACE_OVERFLOW, "posix_trace_overflow" },
	{ POSIX_TRACE_RESUME, "posix_trace_resume" },
	{ POSIX_TRACE_FILTER, "posix_trace_filter" },
	{ POSIX_TRACE_FLUSH_START, "posix_trace_flush_start" },
	{ POSIX_TRACE_FLUSH_STOP, "posix_trace_flush_stop" },
	{ POSIX_TRACE_UNNAMED_USER_EVENT, "posix_trace_unnamed_userevent" },
};

#define NR_FIXED     (sizeof(fixed) / sizeof(fixed[0]))
#define NR_FUNCTIONS 2 /* the system events of functions.c, which are an extension */

POINT(eventid_get_name_of_system_events_is_as_the_standard_says)
{
	trace_id_t trid = make_stream(NULL);
	char name[TRACE_EVENT_NAME_MAX + 1];

	for (size_t nr = 0; nr < NR_FIXED; nr++) {
		CHECK_IS(posix_trace_eventid_get_name(trid, fixed[nr].id, name), 0);
		CHECK(!strcmp(name, fixed[nr].name));
	}
}

POINT(eventid_get_name_of_a_bad_trid_is_einval)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	CHECK_IS(posix_trace_eventid_get_name(4711, POSIX_TRACE_START, name), EINVAL);
}

POINT(eventid_get_name_of_an_id_without_a_name_is_einval)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_id_t trid = make_stream(NULL);

	CHECK_IS(posix_trace_eventid_get_name(trid, 0, name), EINVAL);
	CHECK_IS(posix_trace_eventid_get_name(trid, open_id("x") + 1, name), EINVAL);
	CHECK_IS(posix_trace_eventid_get_name(trid, ~0u, name), EINVAL);
	CHECK_IS(posix_trace_eventid_get_name(trid, POSIX_TRACE_START, NULL), EINVAL);
}

POINT(eventid_equal_is_not_zero_for_the_same_type_only)
{
	trace_id_t trid = make_stream(NULL);
	trace_event_id_t one = open_id("one"), other = open_id("other");

	CHECK(posix_trace_eventid_equal(trid, one, open_id("one")));
	CHECK_IS(posix_trace_eventid_equal(trid, one, other), 0);
	CHECK_IS(posix_trace_eventid_equal(trid, one, POSIX_TRACE_START), 0);
}

POINT(unnamed_event_has_both_spellings)
{
	CHECK_IS(POSIX_TRACE_UNNAMED_USER_EVENT, POSIX_TRACE_UNNAMED_USEREVENT);
}

/* The list of types */

static int count_types(trace_id_t trid, trace_event_id_t wanted, int *nr_wanted)
{
	trace_event_id_t id;
	int nr = 0, unavailable;

	*nr_wanted = 0;
	for (;;) {
		CHECK_IS(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable), 0);
		if (unavailable)
			return nr;
		nr++;
		*nr_wanted += id == wanted;
	}
}

POINT(eventtypelist_has_each_type_once)
{
	trace_event_id_t id = open_id("listed");
	trace_id_t trid = make_stream(NULL);
	int nr_wanted;

	CHECK_IS(count_types(trid, id, &nr_wanted), NR_FIXED + NR_FUNCTIONS + 1);
	CHECK_IS(nr_wanted, 1);
}

POINT(eventtypelist_has_all_system_events)
{
	int nr_wanted;

	for (size_t nr = 0; nr < NR_FIXED; nr++) {
		count_types(make_stream(NULL), fixed[nr].id, &nr_wanted);
		CHECK_IS(nr_wanted, 1);
	}
}

POINT(eventtypelist_goes_on_with_types_that_come_later)
{
	trace_id_t trid = make_stream(NULL);
	int nr_wanted;

	count_types(trid, 0, &nr_wanted);
	CHECK_IS(count_types(trid, open_id("later"), &nr_wanted), 1);
	CHECK_IS(nr_wanted, 1);
}

POINT(eventtypelist_rewind_begins_again)
{
	trace_id_t trid = make_stream(NULL);
	int nr_wanted, nr = count_types(trid, 0, &nr_wanted);

	CHECK_IS(count_types(trid, 0, &nr_wanted), 0);
	CHECK_IS(posix_trace_eventtypelist_rewind(trid), 0);
	CHECK_IS(count_types(trid, 0, &nr_wanted), nr);
}

POINT(eventtypelist_of_each_stream_is_at_a_place_of_its_own)
{
	trace_id_t one = make_stream(NULL), other = make_stream(NULL);
	int nr_wanted, nr = count_types(one, 0, &nr_wanted);

	CHECK_IS(count_types(other, 0, &nr_wanted), nr);
}

POINT(eventtypelist_of_bad_arguments_is_einval)
{
	trace_id_t trid = make_stream(NULL);
	trace_event_id_t id;
	int unavailable;

	CHECK_IS(posix_trace_eventtypelist_getnext_id(4711, &id, &unavailable), EINVAL);
	CHECK_IS(posix_trace_eventtypelist_getnext_id(trid, NULL, &unavailable), EINVAL);
	CHECK_IS(posix_trace_eventtypelist_getnext_id(trid, &id, NULL), EINVAL);
	CHECK_IS(posix_trace_eventtypelist_rewind(4711), EINVAL);
}

/* Sets */

static int has(const trace_event_set_t *set, trace_event_id_t id)
{
	int ismember = -1;

	CHECK_IS(posix_trace_eventset_ismember(id, set, &ismember), 0);
	return ismember;
}

POINT(eventset_empty_has_no_type)
{
	trace_event_set_t set;

	memset(&set, -1, sizeof(set));
	CHECK_IS(posix_trace_eventset_empty(&set), 0);
	CHECK_IS(has(&set, POSIX_TRACE_START), 0);
	CHECK_IS(has(&set, open_id("x")), 0);
}

POINT(eventset_add_adds_one_type)
{
	trace_event_id_t id = open_id("x");
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	CHECK_IS(posix_trace_eventset_add(id, &set), 0);
	CHECK(has(&set, id));
	CHECK_IS(has(&set, POSIX_TRACE_START), 0);
}

POINT(eventset_add_of_a_member_is_no_error)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	CHECK_IS(posix_trace_eventset_add(POSIX_TRACE_STOP, &set), 0);
	CHECK_IS(posix_trace_eventset_add(POSIX_TRACE_STOP, &set), 0);
	CHECK(has(&set, POSIX_TRACE_STOP));
}

POINT(eventset_del_takes_one_type_out)
{
	trace_event_set_t set;

	posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS);
	CHECK_IS(posix_trace_eventset_del(POSIX_TRACE_STOP, &set), 0);
	CHECK_IS(has(&set, POSIX_TRACE_STOP), 0);
	CHECK(has(&set, POSIX_TRACE_START));
}

POINT(eventset_del_of_what_is_no_member_is_no_error)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	CHECK_IS(posix_trace_eventset_del(POSIX_TRACE_STOP, &set), 0);
}

POINT(eventset_fill_all_has_system_and_user_events)
{
	trace_event_set_t set;

	CHECK_IS(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS), 0);
	for (size_t nr = 0; nr < NR_FIXED; nr++)
		CHECK(has(&set, fixed[nr].id));
	CHECK(has(&set, open_id("x")));
}

POINT(eventset_fill_all_has_types_that_get_a_name_later)
{
	trace_event_set_t set;

	posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS);
	CHECK(has(&set, open_id("later")));
}

POINT(eventset_fill_system_has_no_user_events)
{
	trace_event_set_t set;

	CHECK_IS(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS), 0);
	CHECK(has(&set, POSIX_TRACE_START));
	CHECK(has(&set, POSIX_TRACE_FLUSH_STOP));
	CHECK_IS(has(&set, POSIX_TRACE_UNNAMED_USER_EVENT), 0);
	CHECK_IS(has(&set, open_id("x")), 0);
}

POINT(eventset_fill_wopid_has_no_event_of_a_process)
{
	trace_event_set_t set;

	CHECK_IS(posix_trace_eventset_fill(&set, POSIX_TRACE_WOPID_EVENTS), 0);
	CHECK_IS(has(&set, POSIX_TRACE_START), 0);
	CHECK_IS(has(&set, open_id("x")), 0);
}

POINT(eventset_fill_takes_out_what_was_there)
{
	trace_event_set_t set;

	posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS);
	CHECK_IS(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS), 0);
	CHECK_IS(has(&set, POSIX_TRACE_UNNAMED_USER_EVENT), 0);
}

POINT(eventset_can_be_assigned)
{
	trace_event_set_t set, copy;

	posix_trace_eventset_empty(&set);
	posix_trace_eventset_add(POSIX_TRACE_STOP, &set);
	copy = set;
	posix_trace_eventset_empty(&set);
	CHECK(has(&copy, POSIX_TRACE_STOP));
}

POINT(eventset_functions_of_bad_arguments_are_einval)
{
	trace_event_set_t set;
	int ismember;

	posix_trace_eventset_empty(&set);
	CHECK_IS(posix_trace_eventset_empty(NULL), EINVAL);
	CHECK_IS(posix_trace_eventset_fill(NULL, POSIX_TRACE_ALL_EVENTS), EINVAL);
	CHECK_IS(posix_trace_eventset_fill(&set, 99), EINVAL);
	CHECK_IS(posix_trace_eventset_add(POSIX_TRACE_STOP, NULL), EINVAL);
	CHECK_IS(posix_trace_eventset_add(~0u, &set), EINVAL);
	CHECK_IS(posix_trace_eventset_del(POSIX_TRACE_STOP, NULL), EINVAL);
	CHECK_IS(posix_trace_eventset_del(~0u, &set), EINVAL);
	CHECK_IS(posix_trace_eventset_ismember(POSIX_TRACE_STOP, NULL, &ismember), EINVAL);
	CHECK_IS(posix_trace_eventset_ismember(POSIX_TRACE_STOP, &set, NULL), EINVAL);
	CHECK_IS(posix_trace_eventset_ismember(0, &set, &ismember), EINVAL);
	CHECK_IS(posix_trace_eventset_ismember(~0u, &set, &ismember), EINVAL);
}
