/*
 * Events of POSIX Trace that go to a recorder: the calls that it gets, and their bytes. This file
 * plays the recorder.
 */
#include <errno.h>

#include "events/door.h"
#include "posix/posix.h"
#include "seam/recorder.h"
#include "tests/unit/lib/trace_place.h"

static struct {
	unsigned nr_asked, nr_declared, nr_chosen, nr_begun, nr_ended, nr_emitted;
	char names[8][PT_NAME_MAX + 16];
	uint32_t next_number; /* 0: no event can be recorded */
	uint32_t number;
	int choice, found;
	unsigned char room[66000];
	size_t room_bytes;
	size_t len;
	bool goes_meanwhile;
} seen;

static uint32_t declare(const char *id, const char *format, const char *common)
{
	assert_string_equal(format, "DATA=%B");
	assert_null(common);
	strcpy(seen.names[seen.nr_declared++], id);
	return seen.next_number ? seen.next_number++ : 0;
}

static int choose(uint32_t event, const char *id)
{
	assert_string_equal(id, "posix");
	seen.nr_chosen++;
	seen.number = event;
	return seen.choice;
}

static bool emit(uint32_t event, const void *payload, size_t len)
{
	seen.nr_emitted++;
	assert_int_equal(event, seen.number);
	memcpy(seen.room, payload, len);
	seen.len = len;
	errno = 5;
	return true;
}

static int begin_record(uint32_t event, struct utrail_trace_place *place)
{
	seen.nr_begun++;
	assert_int_equal(event, seen.number);
	place->at = seen.room;
	place->room = seen.room_bytes;
	if (seen.goes_meanwhile)
		pxt_recorded_went();
	errno = 5;
	return seen.found;
}

static bool end_record(uint32_t event, const struct utrail_trace_place *place, size_t len)
{
	assert_int_equal(event, seen.number);
	assert_ptr_equal(place->at, seen.room);
	seen.nr_ended++;
	seen.len = len;
	return true;
}

static struct utrail_trace_recorder recorder = {
	.abi = UTRAIL_TRACE_ABI,
	.size = sizeof(recorder),
	.declare = declare,
	.choose = choose,
	.emit = emit,
	.begin = begin_record,
	.end = end_record,
};
static bool is_nobody;
/* While the recorder is looked for, another thread opens a name. */
static bool opens_meanwhile;

#define ID (PT_FIRST_NAMED + 3)

const struct utrail_trace_recorder *utrail_trace_recorder(uint32_t abi)
{
	assert_int_equal(abi, UTRAIL_TRACE_ABI);
	seen.nr_asked++;
	if (opens_meanwhile) {
		opens_meanwhile = false;
		pxt_recorded_declare(ID + 1, "yours");
	}
	return is_nobody ? NULL : &recorder;
}

static int known_result;
static struct pxt_names *known;

int __wrap_pxt_known_names(struct pxt_names **names);

int __wrap_pxt_known_names(struct pxt_names **names)
{
	*names = known;
	return known_result;
}

static int begin(void **state)
{
	memset(&seen, 0, sizeof(seen));
	seen.next_number = 10;
	seen.found = 1;
	seen.room_bytes = sizeof(seen.room);
	known = NULL;
	known_result = 0;
	assert_int_equal(pxt_recorded_came(&recorder), 0);
	return 0;
}

static int end(void **state)
{
	pxt_recorded_went();
	return 0;
}

static uint32_t is_recorded(void)
{
	return atomic_load(&pxt_process.is_recorded);
}

/* --- a recorder from the beginning --- */

static int asks_once(void *arg)
{
	pxt_recorded_declare(ID, "mine");
	pxt_recorded_declare(ID + 1, "yours");
	pxt_recorded_declare(ID, "mine");
	CHILD_CHECK(seen.nr_asked == 1 && seen.nr_declared == 3 && is_recorded() == 1);
	CHILD_CHECK(!strcmp(seen.names[0], "posix:unnamed") &&
		    !strcmp(seen.names[1], "posix:mine") && !strcmp(seen.names[2], "posix:yours"));
	return 0;
}

static int finds_nobody(void *arg)
{
	pxt_recorded_declare(ID, "mine");
	pxt_recorded_declare(ID, "mine");
	CHILD_CHECK(seen.nr_asked == 1 && seen.nr_declared == 0 && is_recorded() == 0);
	return 0;
}

static int declares_both(void *arg)
{
	opens_meanwhile = true;
	pxt_recorded_declare(ID, "mine");
	CHILD_CHECK(seen.nr_declared == 3);
	CHILD_CHECK(!strcmp(seen.names[1], "posix:yours") && !strcmp(seen.names[2], "posix:mine"));
	return 0;
}

static int begin_before(void **state)
{
	memset(&seen, 0, sizeof(seen));
	seen.next_number = 10;
	return 0;
}

TEST_WITH(who_is_there_is_asked_for_once, begin_before, NULL)
{
	assert_int_equal(trace_place_in_child(asks_once, NULL), 0);
}

TEST_WITH(a_name_that_is_opened_meanwhile_is_declared, begin_before, NULL)
{
	assert_int_equal(trace_place_in_child(declares_both, NULL), 0);
}

TEST_WITH(who_is_too_old_is_nobody, begin_before, NULL)
{
	recorder.size--;
	assert_int_equal(trace_place_in_child(finds_nobody, NULL), 0);
	recorder.size += 2;
	assert_int_equal(trace_place_in_child(asks_once, NULL), 0);
	recorder.size--;
	recorder.abi++;
	assert_int_equal(trace_place_in_child(finds_nobody, NULL), 0);
	recorder.abi--;
	is_nobody = true;
	assert_int_equal(trace_place_in_child(finds_nobody, NULL), 0);
	is_nobody = false;
}

/* --- a recorder that comes later --- */

TEST_WITH(the_unnamed_event_is_declared_with_the_first_stream, begin, end)
{
	pxt_recorded_declare(PT_UNNAMED, NULL);
	assert_int_equal(seen.nr_declared, 1);
	assert_string_equal(seen.names[0], "posix:unnamed");
	assert_int_equal(is_recorded(), 1);
	pxt_recorded_declare(PT_FIRST_NAMED, "first");
	assert_int_equal(seen.nr_declared, 2);
	assert_string_equal(seen.names[1], "posix:first");
}

TEST_WITH(what_cannot_be_recorded_is_not, begin, end)
{
	seen.next_number = 0;
	pxt_recorded_declare(PT_UNNAMED, NULL);
	assert_int_equal(is_recorded(), 0);
	pxt_recorded_emit(PT_UNNAMED, "abc", 3);
	assert_int_equal(seen.nr_chosen, 0);
	pxt_recorded_declare(PT_UNNAMED, NULL);
	assert_int_equal(seen.nr_declared, 2);
}

TEST_WITH(the_longest_name_is_whole, begin, end)
{
	char name[PT_NAME_MAX + 1];

	memset(name, 'x', PT_NAME_MAX);
	name[PT_NAME_MAX] = '\0';
	pxt_recorded_declare(ID, name);
	assert_int_equal(strlen(seen.names[1]), 6 + PT_NAME_MAX);
	assert_string_equal(seen.names[1] + 6, name);
}

TEST_WITH(names_that_are_there_are_declared, begin, end)
{
	known = calloc(1, sizeof(*known));
	for (int nr = 0; nr < 3; nr++) {
		snprintf(known->names[nr].text, sizeof(known->names[nr].text), "name%d", nr);
		atomic_store(&known->names[nr].state, nr < 2 ? PT_NAME_READY : 5);
	}
	assert_int_equal(pxt_recorded_came(&recorder), 0);
	assert_int_equal(seen.nr_declared, 3);
	assert_string_equal(seen.names[0], "posix:unnamed");
	assert_string_equal(seen.names[1], "posix:name0");
	assert_string_equal(seen.names[2], "posix:name1");
	pxt_recorded_emit(PT_FIRST_NAMED + 1, "", 0);
	assert_int_equal(seen.number, 12);
	/* Names are unknown at the moment. */
	known_result = -EAGAIN;
	assert_int_equal(pxt_recorded_came(&recorder), -EAGAIN);
	assert_int_equal(seen.nr_declared, 3);
	free(known);
}

TEST_WITH(who_has_gone_gets_nothing, begin, end)
{
	pxt_recorded_declare(PT_END_NAMED - 1, "last");
	pxt_recorded_went();
	assert_int_equal(is_recorded(), 0);
	pxt_recorded_emit(PT_UNNAMED, "abc", 3);
	pxt_recorded_emit(PT_END_NAMED - 1, "abc", 3);
	assert_int_equal(seen.nr_chosen, 0);
}

/* --- events --- */

static void check_payload(const void *data, uint32_t len)
{
	uint32_t found;

	memcpy(&found, seen.room, sizeof(found));
	assert_int_equal(found, len);
	assert_memory_equal(seen.room + 4, data, len);
	assert_int_equal(seen.len, 4 + len);
}

TEST_WITH(an_event_is_written_where_the_recorder_says, begin, end)
{
	pxt_recorded_declare(ID, "mine");
	errno = 77;
	pxt_recorded_emit(ID, "abcde", 5);
	assert_int_equal(errno, 77);
	assert_int_equal(seen.number, 11);
	assert_int_equal(seen.nr_begun, 1);
	assert_int_equal(seen.nr_ended, 1);
	assert_int_equal(seen.nr_emitted, 0);
	check_payload("abcde", 5);
	pxt_recorded_emit(PT_UNNAMED, NULL, 0);
	assert_int_equal(seen.number, 10);
	check_payload("", 0);
}

TEST_WITH(an_event_that_nobody_wants_is_not_begun, begin, end)
{
	pxt_recorded_declare(ID, "mine");
	seen.choice = -1;
	pxt_recorded_emit(ID, "abcde", 5);
	assert_int_equal(seen.nr_begun, 0);
	seen.choice = 1;
	seen.found = 0;
	pxt_recorded_emit(ID, "abcde", 5);
	assert_int_equal(seen.nr_begun, 1);
	assert_int_equal(seen.nr_ended, 0);
	assert_int_equal(seen.nr_emitted, 0);
}

TEST_WITH(an_event_that_is_longer_than_its_place_is_copied, begin, end)
{
	pxt_recorded_declare(ID, "mine");
	seen.room_bytes = 9;
	pxt_recorded_emit(ID, "abcde", 5);
	assert_int_equal(seen.nr_emitted, 0);
	check_payload("abcde", 5);
	for (seen.room_bytes = 0; seen.room_bytes < 9; seen.room_bytes++) {
		memset(seen.room, 0, sizeof(seen.room));
		pxt_recorded_emit(ID, "abcde", 5);
		assert_int_equal(seen.nr_emitted, seen.room_bytes + 1);
		assert_int_equal(seen.nr_ended, seen.room_bytes + 2);
		check_payload("abcde", 5);
	}
}

TEST_WITH(without_a_place_there_is_a_copy, begin, end)
{
	static char data[65540];
	uint32_t len;

	memset(data, 'y', sizeof(data));
	pxt_recorded_declare(ID, "mine");
	seen.found = -1;
	pxt_recorded_emit(ID, "abcde", 5);
	assert_int_equal(seen.nr_emitted, 1);
	assert_int_equal(seen.nr_ended, 0);
	check_payload("abcde", 5);
	pxt_recorded_emit(ID, data, 1025);
	check_payload(data, 1025);
	pxt_recorded_emit(ID, data, 65536);
	check_payload(data, 65536);
	/* Readers see by the length that bytes are missing. */
	pxt_recorded_emit(ID, data, 65537);
	memcpy(&len, seen.room, sizeof(len));
	assert_int_equal(len, 65537);
	assert_int_equal(seen.len, 4 + 65536);
	assert_memory_equal(seen.room + 4, data, 65536);
}

TEST_WITH(what_has_begun_with_who_has_gone_is_nothing, begin, end)
{
	pxt_recorded_declare(ID, "mine");
	seen.goes_meanwhile = true;
	pxt_recorded_emit(ID, "abcde", 5);
	assert_int_equal(seen.nr_ended, 1);
	assert_int_equal(seen.len, SIZE_MAX);
}

TEST_GROUP(trace_place_make, NULL)
