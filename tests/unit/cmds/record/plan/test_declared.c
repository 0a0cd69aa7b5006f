/* Unit tests of cmds/record/plan/declared.c: events with values, with a recording in memory. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <time.h>

#include "cmds/record/plan/declared.h"
#include "tests/unit/lib/record/store_memory.h"
#include "utils/format/probe/control.h"
#include "utils/format/event_data.h"
#include "utils/format/event_ids.h"
#include "utils/format/fstrace/definition.h"

/*
 * @fails: result of open(), if it is negative; @append_fails: that of append()
 * @open: number of open streams
 */
struct place {
	struct store_memory memory;
	struct event_rules rules;
	struct points points;
	struct declared declared;
	struct record_settings settings;
	struct pattern include, exclude;
	struct store_ops ops, inner;
	int fails;
	int append_fails;
	int open;
};

static struct place *place;

static int open_or_fail(struct store *store, const char *name)
{
	if (place->fails < 0)
		return place->fails;
	place->open++;
	return place->inner.open(store, name);
}

static int append_or_fail(struct store *store, int stream, const struct iovec *parts, int nr)
{
	if (place->append_fails < 0)
		return place->append_fails;
	return place->inner.append(store, stream, parts, nr);
}

static void close_one(struct store *store, int stream)
{
	place->open--;
}

static int setup(void **state)
{
	struct place *p = place = calloc(1, sizeof(*p));

	assert_non_null(p);
	store_memory_init(&p->memory);
	p->inner = p->ops = *p->memory.store.ops;
	p->ops.open = open_or_fail;
	p->ops.append = append_or_fail;
	p->ops.close = close_one;
	p->memory.store.ops = &p->ops;
	p->settings = (struct record_settings){ .events = &p->rules, .clock_id = CLOCK_MONOTONIC };
	points_init(&p->points, &p->rules, &p->memory.store);
	declared_init(&p->declared, &p->settings, &p->points);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	assert_int_equal(p->open, 0);
	declared_deinit(&p->declared);
	points_deinit(&p->points);
	event_rules_deinit(&p->rules);
	pattern_deinit(&p->include);
	pattern_deinit(&p->exclude);
	store_memory_deinit(&p->memory);
	free(p);
	return 0;
}

/* The caller frees the result. */
static struct strbuf content_of(struct place *p, const char *name)
{
	struct strbuf content = { 0 };

	store_read(&p->memory.store, name, SIZE_MAX, &content);
	return content;
}

static void check_file(struct place *p, const char *name, const char *expected)
{
	struct strbuf content cleanup_strbuf = content_of(p, name);

	assert_string_equal(strbuf_str(&content), expected);
}

/* Check events.def without its first line, which is about the clock. */
static void check_definitions(struct place *p, const char *expected)
{
	struct strbuf content cleanup_strbuf = content_of(p, EVENT_DEFS_FILE);
	const char *text = strbuf_str(&content);

	assert_memory_equal(text, "CLOCK: ", 7);
	text = strchr(text, '\n');
	assert_non_null(text);
	assert_string_equal(text + 1, expected);
}

static const char *warned(const struct declared *declared, unsigned long long nr_untold, bool has)
{
	static char text[2048];
	struct msg msg = { .file = fmemopen(text, sizeof(text), "w") };

	assert_non_null(msg.file);
	text[0] = '\0';
	declared_warn(declared, nr_untold, has, &msg);
	fclose(msg.file);
	return text;
}

TEST_WITH(an_event_gets_a_number_a_definition_and_a_name, setup, teardown)
{
	struct place *p = *state;

	assert_ptr_equal(p->points.declared, &p->declared);
	assert_int_equal(declared_add(&p->declared, "my id", "%d", NULL), EVENT_ID_USER);
	assert_int_equal(declared_add(&p->declared, "other", "%s", "%u "), EVENT_ID_USER + 1);
	check_definitions(p, "DECLARED: 1000000 fstrace my+id %00 %25d\n"
			     "DECLARED: 1000001 fstrace other %25u+ %25s\n");
	check_file(p, "events.txt", "EVENT: 1000000 trace:my_id\nEVENT: 1000001 trace:other\n");
	assert_true(strbuf_list_has(&p->points.names, "trace:my_id"));
	assert_true(strbuf_list_has(&p->points.names, "trace:other"));
	assert_int_equal(p->declared.nr, 2);
	assert_int_equal(p->declared.nr_events, 2);
	assert_string_equal(p->declared.events[0].id, "my id");
	assert_int_equal(p->declared.events[0].number, EVENT_ID_USER);
	assert_string_equal(p->declared.events[1].id, "other");
	assert_int_equal(p->declared.events[1].number, EVENT_ID_USER + 1);
	assert_int_equal(p->declared.bytes,
			 strlen(" fstrace my+id %00 %25d") + strlen(" fstrace other %25u+ %25s"));
	assert_int_equal(p->declared.nr_refused, 0);
	assert_string_equal(warned(&p->declared, 0, true), "");
}

TEST_WITH(the_same_event_has_the_same_number, setup, teardown)
{
	struct place *p = *state;

	assert_int_equal(declared_add(&p->declared, "id", "%d", NULL), EVENT_ID_USER);
	assert_int_equal(declared_add(&p->declared, "id", "%d", NULL), EVENT_ID_USER);
	assert_int_equal(p->declared.nr, 1);
	assert_int_equal(p->declared.nr_events, 1);
	check_definitions(p, "DECLARED: 1000000 fstrace id %00 %25d\n");
	/* An event with another name, format or second text is another event. */
	assert_int_equal(declared_add(&p->declared, "id", "%u", NULL), EVENT_ID_USER + 1);
	assert_int_equal(declared_add(&p->declared, "id", "%d", "x"), EVENT_ID_USER + 2);
	assert_int_equal(declared_add(&p->declared, "di", "%d", NULL), EVENT_ID_USER + 3);
	assert_int_equal(declared_add(&p->declared, "id", "%d", NULL), EVENT_ID_USER);
	assert_int_equal(p->declared.nr_refused, 0);
}

TEST_WITH(a_static_probe_is_no_event_that_can_be_chosen, setup, teardown)
{
	struct place *p = *state;

	assert_int_equal(declared_add_probe(&p->declared, "app:one", "i4,u8"), EVENT_ID_USER);
	assert_int_equal(declared_add_probe(&p->declared, "app:one", "i4"), EVENT_ID_USER + 1);
	assert_int_equal(declared_add_probe(&p->declared, "app:one", "i4,u8"), EVENT_ID_USER);
	check_definitions(p, "DECLARED: 1000000 sdt app%3Aone i4%2Cu8\n"
			     "DECLARED: 1000001 sdt app%3Aone i4\n");
	check_file(p, "events.txt", "EVENT: 1000000 app:one\nEVENT: 1000001 app:one\n");
	assert_int_equal(p->declared.nr, 2);
	assert_int_equal(p->declared.nr_events, 0);
	assert_int_equal(p->points.names.len, 0);
}

static int64_t offset_ns(void)
{
	struct timespec people, records;

	clock_gettime(CLOCK_REALTIME, &people);
	clock_gettime(CLOCK_MONOTONIC, &records);
	return (people.tv_sec - records.tv_sec) * 1000000000LL + people.tv_nsec - records.tv_nsec;
}

/*
 * The first line, and no other, states the offset of the real-time clock from the clock of records.
 * The test reads both clocks less than a minute before.
 */
TEST_WITH(the_clock_of_people_is_said_once, setup, teardown)
{
	struct place *p = *state;
	long long before = offset_ns();

	declared_add(&p->declared, "id", "%d", NULL);
	declared_add(&p->declared, "id", "%u", NULL);

	struct strbuf content cleanup_strbuf = content_of(p, EVENT_DEFS_FILE);
	char *end;
	long long said = strtoll(strbuf_str(&content) + strlen("CLOCK: "), &end, 10);

	assert_int_equal(*end, '\n');
	assert_true(said > before - 60000000000LL && said < before + 60000000000LL);
	assert_null(strstr(end, "CLOCK"));
}

TEST_WITH(the_first_failure_to_write_is_the_one_that_is_told, setup, teardown)
{
	struct place *p = *state;

	p->append_fails = -ENOSPC;
	assert_int_equal(declared_add(&p->declared, "id", "%d", NULL), EVENT_ID_USER);
	assert_int_equal(p->declared.error, -ENOSPC);
	p->fails = -EIO;
	assert_int_equal(declared_add(&p->declared, "id", "%u", NULL), EVENT_ID_USER + 1);
	assert_int_equal(p->declared.error, -ENOSPC);
	assert_string_equal(warned(&p->declared, 0, true),
			    "WARN: cannot write 'events.def': No space left on device\n");
}

TEST_WITH(a_file_that_cannot_be_opened_is_told, setup, teardown)
{
	struct place *p = *state;

	p->fails = -EIO;
	declared_add(&p->declared, "id", "%d", NULL);
	assert_int_equal(p->declared.error, -EIO);
	p->fails = 0;
	/* The first error stays, although writing works now. */
	declared_add(&p->declared, "id", "%u", NULL);
	assert_int_equal(p->declared.error, -EIO);
	assert_string_equal(warned(&p->declared, 0, true),
			    "WARN: cannot write 'events.def': Input/output error\n");
}

#define REFUSED                                                                                \
	" events that the program declares are not recorded: there is room for 65536 events, " \
	"with names and formats of 8 MB in all\n"

TEST_WITH(there_is_room_for_65536_events, setup, teardown)
{
	struct place *p = *state;
	char id[16];

	for (unsigned i = 0; i < 65535; i++) {
		snprintf(id, sizeof(id), "%u", i);
		if (declared_add_probe(&p->declared, id, "i4") != EVENT_ID_USER + i)
			fail_msg("%u", i);
	}
	assert_int_equal(declared_add(&p->declared, "last", "", NULL), EVENT_ID_USER + 65535);
	assert_int_equal(declared_add(&p->declared, "more", "", NULL), 0);
	assert_int_equal(declared_add(&p->declared, "most", "", NULL), 0);
	assert_int_equal(p->declared.nr, 65536);
	assert_int_equal(p->declared.nr_events, 1);
	assert_int_equal(p->points.nr_events, 65536);
	assert_int_equal(declared_add(&p->declared, "last", "", NULL), EVENT_ID_USER + 65535);
	assert_int_equal(p->declared.nr_refused, 2);
	assert_string_equal(warned(&p->declared, 0, true), "WARN: 2" REFUSED);
}

TEST_WITH(definitions_may_have_8_megabytes_in_all, setup, teardown)
{
	struct place *p = *state;
	size_t half = FST_DEFINITIONS_MAX / 2;
	size_t words = strlen(" fstrace a %00 ");
	char *format = malloc(half + 2);

	assert_non_null(format);
	memset(format, 'x', half + 1);
	format[half - words] = '\0';
	assert_int_equal(declared_add(&p->declared, "a", format, NULL), EVENT_ID_USER);
	assert_int_equal(p->declared.bytes, half);
	format[half - words] = 'x';
	format[half - words + 1] = '\0';
	assert_int_equal(declared_add(&p->declared, "b", format, NULL), 0);
	assert_int_equal(p->declared.nr, 1);
	format[half - words] = '\0';
	assert_int_equal(declared_add(&p->declared, "b", format, NULL), EVENT_ID_USER + 1);
	assert_int_equal(p->declared.bytes, 2 * half);
	assert_int_equal(declared_add(&p->declared, "c", "", NULL), 0);
	assert_int_equal(p->declared.nr_refused, 2);
	free(format);
}

TEST_WITH(an_event_without_a_number_is_refused, setup, teardown)
{
	struct place *p = *state;
	size_t nr = p->points.nr_events;

	p->points.nr_events = EVENT_USER_MAX;
	assert_int_equal(declared_add(&p->declared, "id", "%d", NULL), 0);
	p->points.nr_events = nr;
	assert_int_equal(p->declared.nr_refused, 1);
	assert_int_equal(p->declared.nr, 0);
	assert_int_equal(p->points.names.len, 0);
	check_file(p, EVENT_DEFS_FILE, "");
	check_file(p, "events.txt", "");
}

static const struct pattern *ask(struct pattern *pattern, const char *text)
{
	assert_int_equal(pattern_init(pattern, MATCH_GLOB, text, strlen(text), NULL), 0);
	return pattern;
}

TEST_WITH(nothing_said_leaves_it_to_the_program, setup, teardown)
{
	struct place *p = *state;

	assert_int_equal(declared_choice(&p->declared, "id"), 0);
	assert_false(p->declared.include_matched);
}

TEST_WITH(what_is_included_is_on_and_all_else_off, setup, teardown)
{
	struct place *p = *state;

	p->settings.trace_include = ask(&p->include, "app-*");
	assert_true(declared_choice(&p->declared, "other") < 0);
	assert_false(p->declared.include_matched);
	assert_true(declared_choice(&p->declared, "app-x") > 0);
	assert_true(p->declared.include_matched);
	assert_true(declared_choice(&p->declared, "other") < 0);
	assert_true(p->declared.include_matched);
}

TEST_WITH(what_is_excluded_is_off_whatever_else_is_said, setup, teardown)
{
	struct place *p = *state;

	p->settings.trace_exclude = ask(&p->exclude, "*-x");
	assert_true(declared_choice(&p->declared, "app-x") < 0);
	assert_int_equal(declared_choice(&p->declared, "app-y"), 0);
	p->settings.trace_include = ask(&p->include, "app-*");
	assert_true(declared_choice(&p->declared, "app-x") < 0);
	assert_true(p->declared.include_matched);
	assert_true(declared_choice(&p->declared, "app-y") > 0);
}

TEST_WITH(a_rule_of_events_puts_it_on_by_its_name, setup, teardown)
{
	struct place *p = *state;

	assert_int_equal(event_rules_parse("trace:a_b", MATCH_GLOB, &p->rules, NULL), 0);
	assert_true(declared_choice(&p->declared, "a b") > 0);
	assert_int_equal(declared_choice(&p->declared, "other"), 0);
	p->settings.trace_include = ask(&p->include, "z*");
	assert_true(declared_choice(&p->declared, "a b") > 0);
	assert_true(declared_choice(&p->declared, "other") < 0);
	assert_false(p->declared.include_matched);
}

TEST_WITH(a_pattern_is_about_the_events_that_are_known, setup, teardown)
{
	struct place *p = *state;

	ask(&p->include, "*-x");
	assert_false(declared_have(&p->declared, &p->include));
	declared_add(&p->declared, "app-y", "", NULL);
	assert_false(declared_have(&p->declared, &p->include));
	declared_add(&p->declared, "app-x", "", NULL);
	assert_true(declared_have(&p->declared, &p->include));
	assert_false(declared_have(&p->declared, NULL));
}

#define INCLUDE "WARN: option '--trace-include': "

TEST_WITH(an_include_that_is_about_nothing_is_told, setup, teardown)
{
	struct place *p = *state;

	assert_string_equal(warned(&p->declared, 0, true), "");
	p->settings.trace_include = ask(&p->include, "app-*");
	assert_string_equal(warned(&p->declared, 0, false), "");
	assert_string_equal(warned(&p->declared, 0, true),
			    INCLUDE "the program declares no events\n");
	declared_add(&p->declared, "id", "", NULL);
	assert_string_equal(warned(&p->declared, 0, true),
			    INCLUDE "no event that the program declares matches\n");
	declared_choice(&p->declared, "app-x");
	assert_string_equal(warned(&p->declared, 0, true), "");
}

TEST_WITH(events_that_nobody_could_tell_are_counted, setup, teardown)
{
	struct place *p = *state;
	char expected[512];

	snprintf(expected, sizeof(expected),
		 "WARN: 3 events that the program declares are not recorded: their names and "
		 "formats are longer than %u bytes, or the program could not tell the recorder (a "
		 "seccomp filter, or no descriptor left?)\n",
		 CONTROL_MSG_MAX);
	assert_string_equal(warned(&p->declared, 3, false), expected);
}
