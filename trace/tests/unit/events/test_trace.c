/* Logs and their events: how they are declared and chosen, for all processes at once. */
#include "events/trace.h"
#include "tests/unit/lib/trace_place.h"

static fstrace_t *trace;
static FILE *stream;
static char *text;
static size_t text_len;

static int begin(void **state)
{
	stream = open_memstream(&text, &text_len);
	trace = fstrace_direct(stream);
	return !stream || !trace;
}

static int end(void **state)
{
	int ret = fstrace_close(trace);

	fclose(stream);
	free(text);
	return ret;
}

static fstrace_event_t *declare(const char *id)
{
	fstrace_event_t *event = fstrace_declare(trace, id, "N=%d");

	assert_non_null(event);
	return event;
}

TEST_WITH(a_new_log_has_no_limits_and_no_file, begin, end)
{
	assert_int_equal(atomic_load(&trace->limits.files), -1);
	assert_int_equal(atomic_load(&trace->limits.seconds), -1);
	assert_int_equal(atomic_load(&trace->limits.bytes), -1);
	assert_int_equal(trace->rotate_size, -1);
	assert_int_equal(atomic_load(&trace->fd), -1);
	assert_int_equal(atomic_load(&trace->file), FST_NO_FILE);
	assert_ptr_equal(trace->stream, stream);
}

TEST_WITH(limits_are_as_they_are_set, begin, end)
{
	fstrace_limit_rotation_file_count(trace, 5);
	fstrace_limit_rotation_file_age(trace, 6);
	fstrace_limit_rotation_byte_count(trace, 7LL << 40);
	assert_int_equal(atomic_load(&trace->limits.files), 5);
	assert_int_equal(atomic_load(&trace->limits.seconds), 6);
	assert_int_equal(atomic_load(&trace->limits.bytes), 7LL << 40);
	fstrace_limit_rotation_file_count(trace, 0);
	fstrace_limit_rotation_file_age(trace, -7);
	fstrace_limit_rotation_byte_count(trace, -1);
	assert_int_equal(atomic_load(&trace->limits.files), 0);
	assert_int_equal(atomic_load(&trace->limits.seconds), -1);
	assert_int_equal(atomic_load(&trace->limits.bytes), -1);
	fstrace_limit_rotation_file_count(trace, -2);
	assert_int_equal(atomic_load(&trace->limits.files), -1);
}

TEST_WITH(events_are_in_their_order_and_off, begin, end)
{
	fstrace_event_t *one = declare("ONE"), *two = declare("TWO");

	assert_ptr_equal(&atomic_load(&trace->first)->event->public, one);
	assert_ptr_equal(atomic_load(&one->impl->next), two->impl);
	assert_null(atomic_load(&two->impl->next));
	assert_ptr_equal(trace->last, two->impl);
	assert_ptr_equal(one->impl->trace, trace);
	assert_string_equal(one->impl->id, "ONE");
	assert_string_equal(one->impl->head, " ONE ");
	assert_int_equal(one->impl->head_len, 5);
	assert_false(one->enabled);
	assert_false(two->enabled);
	assert_null(fstrace_declare(trace, "BAD", "%"));
	assert_ptr_equal(trace->last, two->impl);
}

TEST_WITH(there_may_be_many_events, begin, end)
{
	enum {
		NR = 9000
	};
	fstrace_event_t **events = calloc(NR, sizeof(*events));

	for (int nr = 0; nr < NR; nr++)
		events[nr] = declare("MANY");
	for (int nr = 0; nr < NR; nr += 3)
		fstrace_select_event(events[nr], 1);
	for (int nr = 0; nr < NR; nr++) {
		assert_int_equal(events[nr]->enabled, nr % 3 == 0);
		assert_ptr_equal(&events[nr]->impl->event->public, events[nr]);
	}
	free(events);
}

static fstrace_event_t *shared;

static int turns_it_on(void *arg)
{
	fstrace_select_event(shared, 1);
	/*
	 * The child also declares an event, which must not take the place of the parent's next one.
	 */
	fstrace_select_event(declare("CHILD"), 1);
	_exit(0);
}

TEST_WITH(all_processes_choose_together, begin, end)
{
	shared = declare("SHARED");
	assert_int_equal(trace_place_in_child(turns_it_on, NULL), 0);
	assert_true(shared->enabled);
	assert_false(declare("PARENT")->enabled);
}

TEST_WITH(an_event_is_turned_on_and_off, begin, end)
{
	fstrace_event_t *event = declare("ONE");

	fstrace_select_event(NULL, 1);
	fstrace_select_event(event, 0);
	assert_false(event->enabled);
	fstrace_select_event(event, 5);
	assert_true(event->enabled);
	assert_int_equal(atomic_load(&event->impl->event->consumers), FST_TO_TEXT);
	fstrace_select_event(event, 0);
	assert_true(event->enabled);
	fstrace_select_event(event, -1);
	assert_false(event->enabled);
	assert_int_equal(atomic_load(&event->impl->event->consumers), 0);
}

static char asked[64];
static bool is_locked;

static int choose_two(void *data, const char *id)
{
	struct fst_held held;

	assert_ptr_equal(data, asked);
	strcat(asked, id);
	is_locked = !fst_try_lock_threads(&held);
	if (!is_locked)
		fst_unlock_threads(&held);
	return strcmp(id, "TWO") == 0 ? 1 : strcmp(id, "THREE") == 0 ? -1 : 0;
}

TEST_WITH(a_function_chooses, begin, end)
{
	fstrace_event_t *one = declare("ONE"), *two = declare("TWO"), *three = declare("THREE");
	struct fst_held held;

	fstrace_select_event(one, 1);
	fstrace_select_event(three, 1);
	asked[0] = '\0';
	fstrace_select(trace, choose_two, asked);
	assert_string_equal(asked, "ONETWOTHREE");
	assert_false(is_locked);
	assert_true(one->enabled);
	assert_true(two->enabled);
	assert_false(three->enabled);
	asked[0] = '\0';
	fstrace_select_event(two, -1);
	fstrace_select_safe(trace, choose_two, asked);
	assert_string_equal(asked, "ONETWOTHREE");
	assert_true(is_locked);
	assert_true(two->enabled);
	assert_true(fst_try_lock_threads(&held));
	fst_unlock_threads(&held);
}

TEST_WITH(expressions_choose, begin, end)
{
	fstrace_event_t *events[] = { declare("AB"), declare("AC"), declare("BC") };
	static const struct {
		const char *include, *exclude;
		bool is_good;
		const char *wanted;
	} cases[] = {
		{ "A", NULL, true, "110" },  { "^(AC|BC)$", NULL, true, "011" },
		{ "A", "B", true, "010" },   { "C", "^B", true, "010" },
		{ "(", NULL, false, "010" }, { ".", "(", false, "010" },
		{ NULL, "(", false, "010" }, { NULL, NULL, true, "000" },
		{ ".", "x", true, "111" },   { NULL, "A", true, "000" },
		{ "a", NULL, true, "000" },
	};

	for (unsigned nr = 0; nr < sizeof(cases) / sizeof(cases[0]); nr++) {
		assert_int_equal(fstrace_select_regex(trace, cases[nr].include, cases[nr].exclude),
				 cases[nr].is_good);
		for (int i = 0; i < 3; i++)
			assert_int_equal(events[i]->enabled, cases[nr].wanted[i] == '1');
	}
}

/* Returns the text that was written since the last call, without its time. */
static const char *line(void)
{
	static char copy[256];

	fflush(stream);
	snprintf(copy, sizeof(copy), "%.*s", text_len > 26 ? (int)text_len - 26 : 0, text + 26);
	fseeko(stream, 0, SEEK_SET);
	return copy;
}

TEST_WITH(what_is_common_is_in_front, begin, end)
{
	fstrace_event_t *event = declare("ONE");
	char wanted[64];

	fstrace_select_event(event, 1);
	FSTRACE(event, 7);
	assert_string_equal(line(), " ONE N=7\n");
	fstrace_set_common_format(trace, "PID=%P");
	FSTRACE(event, 8);
	snprintf(wanted, sizeof(wanted), " ONE PID=%d N=8\n", (int)getpid());
	assert_string_equal(line(), wanted);
	assert_non_null(atomic_load(&trace->common));
	/* A common format must not have values of its own. */
	fstrace_set_common_format(trace, "X=%d");
	assert_null(atomic_load(&trace->common));
	fstrace_set_common_format(trace, "PID=%P");
	fstrace_set_common_format(trace, "");
	assert_null(atomic_load(&trace->common));
	fstrace_set_common_format(trace, "PID=%P");
	fstrace_set_common_format(trace, NULL);
	assert_null(atomic_load(&trace->common));
	FSTRACE(event, 9);
	assert_string_equal(line(), " ONE N=9\n");
}

TEST_WITH(nothing_is_written_of_what_is_off, begin, end)
{
	fstrace_event_t *event = declare("ONE");

	FSTRACE(event, 7);
	FSTRACE((fstrace_event_t *)NULL, 7);
	fflush(stream);
	assert_int_equal(text_len, 0);
}

TEST_GROUP(trace_place_make, NULL)
