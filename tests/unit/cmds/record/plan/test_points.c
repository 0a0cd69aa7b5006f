/* Events of the program: their numbers and lines, and what the user is told at the end. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "cmds/record/plan/points.h"
#include "tests/unit/lib/store_memory.h"
#include "utils/format/event_ids.h"
#include "utils/spec/filters.h"

struct place {
	struct store_memory memory;
	struct event_rules rules;
	struct points points;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	store_memory_init(&p->memory);
	points_init(&p->points, &p->rules, &p->memory.store);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	points_deinit(&p->points);
	event_rules_deinit(&p->rules);
	store_memory_deinit(&p->memory);
	free(p);
	return 0;
}

/* This, and what was asked for before no more. */
static void ask_for(struct place *p, const char *text)
{
	event_rules_deinit(&p->rules);
	p->rules = (struct event_rules){ 0 };
	assert_int_equal(event_rules_parse(text, MATCH_GLOB, &p->rules, NULL), 0);
}

static const char *events_txt(struct place *p)
{
	static char text[4096];
	struct strbuf content cleanup_strbuf = { 0 };

	assert_int_equal(store_read(&p->memory.store, "events.txt", sizeof(text) - 1, &content), 0);
	strcpy(text, strbuf_str(&content));
	return text;
}

/* Events of Linux are known without the program; a pattern that is about all is about the program's as well. */
static void who_is_asked_for(void **state)
{
	struct place *p = *state;
	struct record_settings settings = { .events = &p->rules };
	struct filters filters = { 0 };

	settings.filters = &filters;
	assert_false(points_are_wanted(&p->rules));
	assert_false(points_have_file(&settings));
	ask_for(p, "linux:schedule");
	assert_false(points_are_wanted(&p->rules));
	filters.counters.nr = 1;
	assert_true(points_have_file(&settings));
	filters.counters.nr = 0;
	assert_false(points_have_file(&settings));
	ask_for(p, "a:b");
	assert_true(points_are_wanted(&p->rules));
	assert_true(points_have_file(&settings));
}

static void everything_is_asked_for(void **state)
{
	struct place *p = *state;

	ask_for(p, "*");
	assert_true(points_are_wanted(&p->rules));
}

static void the_kernels_alone(void **state)
{
	struct place *p = *state;

	ask_for(p, "sched:sched_switch@kernel");
	assert_false(points_are_wanted(&p->rules));
}

static void numbers_and_lines(void **state)
{
	struct place *p = *state;
	struct filters filters = { .counters = { .list = { { .name = "faults" } }, .nr = 1 } };
	const struct record_settings settings = { .events = &p->rules, .filters = &filters };
	char expected[512];
	uint32_t one;
	uint32_t two;

	assert_int_equal(points_make_file(&p->memory.store, &settings, NULL), 0);
	assert_int_equal(points_new_event(&p->points, "a:one", &one), 0);
	assert_int_equal(points_new_event(&p->points, "a:two", &two), 0);
	assert_int_equal(one, EVENT_ID_USER);
	assert_int_equal(two, EVENT_ID_USER + 1);
	/* A name alone does not make it the same event. */
	assert_int_equal(points_new_event(&p->points, "a:one", &two), 0);
	assert_int_equal(two, EVENT_ID_USER + 2);
	assert_string_equal(p->points.events[2].name, "a:one");

	/* Each has its line when it is written, in any order. */
	points_write_event(&p->points, two);
	points_write_event(&p->points, one);
	snprintf(expected, sizeof(expected),
		 "EVENT: %u read:faults\nEVENT: %u diff:faults\nEVENT: %u a:one\nEVENT: %u a:one\n",
		 (unsigned)EVENT_ID_COUNTER, (unsigned)EVENT_ID_COUNTER + 1, two, one);
	assert_string_equal(events_txt(p), expected);
	assert_int_equal(p->points.error, 0);
}

static void numbers_come_to_an_end(void **state)
{
	struct place *p = *state;
	size_t nr = p->points.nr_events;
	uint32_t id = 77;

	p->points.nr_events = EVENT_USER_MAX;
	assert_int_equal(points_new_event(&p->points, "a:b", &id), -ERANGE);
	assert_int_equal(id, 77);
	p->points.nr_events = nr;
}

static int refuse(struct store *store, const char *name)
{
	static int nr;

	assert_string_equal(name, "events.txt");
	return nr++ ? -EIO : -ENOSPC;
}

static const char *warned(const struct points *points, unsigned long long nr_failed, bool has)
{
	static char text[2048];
	struct msg msg = { .file = fmemopen(text, sizeof(text), "w") };

	assert_non_null(msg.file);
	text[0] = '\0';
	points_warn(points, nr_failed, has, &msg);
	fclose(msg.file);
	return text;
}

/* The first failure is the one that is told. */
static void lines_that_cannot_be_written(void **state)
{
	const struct store_ops ops = { .open = refuse };
	struct store store = { .ops = &ops };
	struct points points;
	uint32_t id;

	points_init(&points, NULL, &store);
	assert_int_equal(points_new_event(&points, "a:b", &id), 0);
	points_write_event(&points, id);
	points_write_event(&points, id);
	assert_int_equal(points.error, -ENOSPC);
	assert_string_equal(warned(&points, 0, true),
			    "WARN: cannot write 'events.txt': No space left on device\n");
	points_deinit(&points);
}

static void rules_about_nothing(void **state)
{
	struct place *p = *state;

	ask_for(p, "app:begin");
	assert_string_equal(warned(&p->points, 0, false), "");
	assert_string_equal(warned(&p->points, 0, true),
			    "WARN: option '--Event': the program has no event 'app:begin' "
			    "(--list-event shows those that it has)\n");
	strbuf_list_add(&p->points.names, "other:thing");
	assert_non_null(strstr(warned(&p->points, 0, true), "(--list-event"));
	strbuf_list_add(&p->points.names, "app:begun");
	assert_string_equal(warned(&p->points, 0, true),
			    "WARN: option '--Event': the program has no event 'app:begin'; the "
			    "nearest: app:begun\n");
	strbuf_list_add(&p->points.names, "app:begin");
	assert_string_equal(warned(&p->points, 0, true), "");
}

/* Rules about Linux and the kernel find their own judge. */
static void rules_of_others(void **state)
{
	struct place *p = *state;

	ask_for(p, "linux:schedule;sched:*@kernel");
	assert_string_equal(warned(&p->points, 0, true), "");
}

static void complaints_come_first(void **state)
{
	struct place *p = *state;

	strbuf_list_add(&p->points.complaints, "first");
	strbuf_list_add(&p->points.complaints, "second");
	assert_string_equal(warned(&p->points, 0, false), "WARN: first\nWARN: second\n");
	assert_non_null(strstr(warned(&p->points, 1, false),
			       "WARN: second\nWARN: 1 functions or probes of the program"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define POINTS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		POINTS_TEST(who_is_asked_for),	     POINTS_TEST(everything_is_asked_for),
		POINTS_TEST(the_kernels_alone),	     POINTS_TEST(numbers_and_lines),
		POINTS_TEST(numbers_come_to_an_end), POINTS_TEST(lines_that_cannot_be_written),
		POINTS_TEST(rules_about_nothing),    POINTS_TEST(rules_of_others),
		POINTS_TEST(complaints_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
