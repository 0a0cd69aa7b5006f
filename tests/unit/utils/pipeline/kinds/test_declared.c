/*
 * events.def has the events that programs have declared. Damaged lines are skipped, and nothing is
 * guessed.
 */
#include "tests/unit/lib/read/kinds.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/seam/reader.h"
#include "utils/base/compiler.h"
#include "utils/base/fd.h"
#include "utils/format/event_data.h"
#include "utils/pipeline/kinds/declared.h"
#include "utils/pipeline/kinds/declared_line.h"

static char dir[64];

static int setup(void **state)
{
	strcpy(dir, "/tmp/utrail-unit-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/" EVENT_DEFS_FILE, dir);
	unlink(path);
	return rmdir(dir);
}

static void load(struct declared_events *declared, const char *text)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/" EVENT_DEFS_FILE, dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
	close(fd);
	assert_int_equal(declared_events_load(declared, dir, NULL), 0);
}

TEST_WITH(names_and_fields, setup, teardown)
{
	struct declared_events declared = { 0 };
	const struct declared_event *event;

	load(&declared, "CLOCK: -12\n"
			"DECLARED: 1000003 fstrace C C=%25d X=%25d\n"
			"DECLARED: 1000001 fstrace A+B %00 N=%25s+K=%25d\n"
			"DECLARED: 1000002 fstrace %41%6a%6A%2b %00 %\n"
			"DECLARED: 1000004 line L K1,K2\n");
	assert_int_equal(declared.nr, 4);
	assert_int_equal(declared.offset_ns, -12);
	event = declared_events_find(&declared, 1000001);
	assert_string_equal(event->name, "A B");
	assert_int_equal(event->nr_fields, 2);
	assert_string_equal(event->fields[1].name, "K");
	assert_null(event->common);
	event = declared_events_find(&declared, 1000002);
	assert_string_equal(event->name, "Ajj+");
	assert_int_equal(event->nr_fields, 0);
	event = declared_events_find(&declared, 1000003);
	assert_int_equal(event->nr_fields, 2);
	assert_string_equal(event->fields[0].name, "C");
	assert_true(declared_events_find(&declared, 1000004)->is_line);
	assert_null(declared_events_find(&declared, 1000005));
	declared_events_deinit(&declared);
}

/* One bad line at a time is between two good ones. */
TEST_WITH(what_is_no_event, setup, teardown)
{
	static const char *const bad[] = {
		"DECLARED: 2 fstrace x%zz %00 X=%25d",
		"DECLARED: 2 fstrace x%4g %00 X=%25d",
		"DECLARED: 2 fstrace x%4 %00 X=%25d",
		"DECLARED: 2 fstrace x%00y %00 X=%25d",
		"DECLARED: 2 fstrace %00 %00 X=%25d",
		"DECLARED: 2 fstrace x %00 %00",
		"DECLARED: 2 fstrace x %00",
		"DECLARED: 2 fstrace  %00 X=%25d",
		"DECLARED: 2 another x %00 X=%25d",
		"DECLARED: x fstrace x %00 X=%25d",
		"DECLARED: 2 line x",
		"SOMETHING: 2",
		"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct declared_events declared = { 0 };
		char text[256];

		snprintf(text, sizeof(text),
			 "DECLARED: 1 fstrace A %%00 X=%%25d\n%s\nDECLARED: 3 fstrace C %%00 X\n",
			 bad[i]);
		load(&declared, text);
		assert_non_null(declared_events_find(&declared, 1));
		assert_null(declared_events_find(&declared, 2));
		assert_non_null(declared_events_find(&declared, 3));
		declared_events_deinit(&declared);
	}
}

/*
 * Check the event with definition "fstrace E COMMON FORMAT" and a payload: its text and its fields.
 */
static void check_payload(const char *formats, const void *payload, size_t len, const char *text,
			  const char *fields)
{
	const struct trace_data data = { 0 };
	struct declared_events declared = { 0 };
	struct event_kind kind = { .id = 1000001 };
	struct strbuf out cleanup_strbuf = { 0 };
	void *copy = payload ? exact_copy(payload, len) : NULL;
	const struct event event = { .data = copy, .data_len = len };
	const struct event_context context = { &data, NULL, &event, false };
	char line[256];

	snprintf(line, sizeof(line), "DECLARED: 1000001 fstrace E %s\n", formats);
	load(&declared, line);
	assert_int_equal(declared.nr, 1);
	declared_event_set(&declared.events[0], &kind);
	assert_ptr_equal(kind.declared, &declared.events[0]);
	event_kind_put(&kind, &context, &out);
	assert_string_equal(strbuf_str(&out), text);
	strbuf_reset(&out);
	kind_put_fields(&kind, &context, &out);
	assert_string_equal(strbuf_str(&out), fields);
	free(copy);
	declared_events_deinit(&declared);
}

TEST_WITH(what_payloads_say, setup, teardown)
{
	check_payload("%00 N=%25d+H=%25x+S=%25s", "\376\377\377\377\20\0\0\0\3\0\0\0a b", 15,
		      "N=-2 H=10 S=a+b", "N:i=-2 H:x=0x10 S:t=a b");
	check_payload("%00 N=%25u+P=%25p", "\376\377\377\377\12\0\0\0\0\0\0\0", 12,
		      "N=4294967294 P=a", "N:u=0xfffffffe P:a=0xa");
	check_payload("%00 B=%25b+E=%25e", "\2\0\0\0\2\0\0\0", 8, "B=true E=ENOENT",
		      "B:t=true E:t=ENOENT");
	check_payload("%00 A=%2564d+B=%2564u", "\377\377\377\377\377\377\377\377\1\0\0\0\0\0\0\0",
		      16, "A=-1 B=1", "A:i=-1 B:u=0x1");
	check_payload("%00 F=%25f", "\0\0\0\0\0\0\340\77", 8, "F=0.5", "F:t=0.5");
	check_payload("%00 S=%25s", "\377\377\377\377", 4, "S=%00", "");
	check_payload("%00 S=%25s+N=%25d", "\0\0\0\0\1\0\0\0", 8, "S= N=1", "S:t= N:i=1");
	/* Values of the program's common format come first. */
	check_payload("C=%25d X=%25d", "\1\0\0\0\2\0\0\0", 8, "C=1 X=2", "C:i=1 X:i=2");
	check_payload("C=%25d X", "\1\0\0\0", 4, "C=1 X", "C:i=1");
	/* The payload is cut. */
	check_payload("C=%25d X=%25d", "\1\0\0\0\2\0", 6, "C=1 X=...", "C:i=1");
	check_payload("C=%25d X=%25d", "\1\0", 2, "C= ...", "");
	check_payload("%00 X=%25d", NULL, 4, "", "");
}

/* Fields are named by their keys, by their kinds, or by numbers. */
TEST_WITH(names_of_fields, setup, teardown)
{
	static const struct {
		const char *formats;
		const char *names;
	} rows[] = {
		{ "%00 N=%25d", "N:2" },
		{ "%00 %25d", "arg1:2" },
		{ "%00 %25d+%25d", "arg1:2 arg2:2" },
		{ "%00 N=%25d+N=%25d", "N:2 arg2:2" },
		{ "%00 arg2=%25d+%25d", "arg2:2 arg3:2" },
		{ "%00 x+y=%25d", "y:2" },
		{ "%00 =%25d", "arg1:2" },
		{ "%00 a-b=%25d", "a-b:2" },
		{ "N=%25d N=%25d", "N:2 arg2:2" },
		{ "%00 %25P+%25T+%25F+%25L+%25e+%25I",
		  "pid:2 thread:0 file:7 line:0 errno:7 arg6:7" },
		{ "%00 %25P+%25P", "pid:2 arg2:2" },
		{ "%00 %25x+%25p+%25u+%25b+%25s+%25f+%25llx+%2564x",
		  "arg1:3 arg2:4 arg3:0 arg4:7 arg5:7 arg6:7 arg7:3 arg8:3" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct declared_events declared = { 0 };
		struct strbuf out cleanup_strbuf = { 0 };
		char line[256];

		snprintf(line, sizeof(line), "DECLARED: 1 fstrace E %s\n", rows[i].formats);
		load(&declared, line);
		assert_int_equal(declared.nr, 1);
		for (size_t k = 0; k < declared.events[0].nr_fields; k++)
			strbuf_addf(&out, "%s%s:%d", k ? " " : "",
				    declared.events[0].fields[k].name,
				    declared.events[0].fields[k].type);
		assert_string_equal(strbuf_str(&out), rows[i].names);
		declared_events_deinit(&declared);
	}
}

TEST_WITH(a_line_that_is_not_whole_yet_does_not_count, setup, teardown)
{
	struct declared_events declared = { 0 };

	load(&declared, "DECLARED: 1 fstrace A %00 X\nDECLARED: 2 fstrace B %00 X");
	assert_int_equal(declared.nr, 1);
	declared_events_deinit(&declared);
	load(&declared, "");
	assert_int_equal(declared.nr, 0);
	assert_null(declared_events_find(&declared, 1));
}

TEST_WITH(without_the_file_nothing_was_declared, setup, teardown)
{
	struct declared_events declared = { .nr = 7 };
	char path[96];

	assert_int_equal(declared_events_load(&declared, "/nonexistent", NULL), 0);
	assert_int_equal(declared.nr, 0);
	/* Loading has not made a file, which the teardown would remove. */
	snprintf(path, sizeof(path), "%s/" EVENT_DEFS_FILE, dir);
	assert_true(access(path, F_OK) < 0);
}

/* A text that is cut is shown as far as it goes. Values after it are missing. */
TEST_WITH(payloads_that_are_cut, setup, teardown)
{
	check_payload("%00 S=%25s+N=%25d", "\5\0\0\0a b", 7, "S=a+b...", "S:t=a b...");
	check_payload("%00 N=%25d+S=%25s+T=%25s", "\7\0\0\0\5\0\0\0ab", 10, "N=7 S=ab...",
		      "N:i=7 S:t=ab...");
	check_payload("S=%25s T=%25s", "\1\0\0\0a\2\0\0\0b", 10, "S=a T=b...", "S:t=a T:t=b...");
	check_payload("S=%25s T=%25s", "\2\0\0\0a", 5, "S=a ...", "S:t=a...");
	check_payload("%00 S=%25s", "\1\0\0", 3, "S=...", "");
	check_payload("%00 S=%25s", "", 0, "S=...", "");
}

/* A format has at most 256 pieces and 1024 bytes of text. Dots stand for the rest. */
TEST_WITH(formats_that_are_too_long, setup, teardown)
{
	static const struct {
		unsigned nr_directives;
		unsigned nr_bytes;
		unsigned nr_pieces;
		bool is_cut;
	} cases[] = {
		{ 255, 0, 255, false }, { 256, 0, 256, false }, { 257, 0, 257, true },
		{ 300, 0, 257, true },	{ 0, 1024, 1, false },	{ 0, 1025, 1, true },
		{ 2, 1025, 3, true },	{ 2, 1024, 3, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct declared_events declared = { 0 };
		struct strbuf text cleanup_strbuf = { 0 };
		const struct fst_format *format;
		const struct fst_piece *last;

		strbuf_addstr(&text, "DECLARED: 1 fstrace E %00 ");
		for (unsigned k = 0; k < cases[i].nr_directives; k++)
			strbuf_addstr(&text, "%25d");
		strbuf_addchars(&text, 'x', cases[i].nr_bytes);
		strbuf_addch(&text, '\n');
		load(&declared, strbuf_str(&text));
		assert_int_equal(declared.nr, 1);
		format = declared.events[0].format;
		assert_int_equal(format->nr_pieces, cases[i].nr_pieces);
		last = &format->pieces[format->nr_pieces - 1];
		assert_int_equal(last->kind == FST_LITERAL && last->len == 3 &&
					 memcmp(last->text, "...", 3) == 0,
				 cases[i].is_cut);
		assert_int_equal(declared.events[0].nr_fields, MIN(cases[i].nr_directives, 256U));
		declared_events_deinit(&declared);
	}
}

/* Events are found by their numbers, in whatever order they are defined. */
TEST_WITH(order_of_events, setup, teardown)
{
	struct declared_events declared = { 0 };

	load(&declared, "DECLARED: 30 fstrace C %00 %\n"
			"CLOCK: 5\n"
			"DECLARED: 10 sdt A 4\n"
			"CLOCK: x\n"
			"DECLARED: 20 line B %\n");
	assert_int_equal(declared.nr, 3);
	assert_int_equal(declared.offset_ns, 5);
	for (uint64_t id = 5; id <= 35; id += 5) {
		const struct declared_event *event = declared_events_find(&declared, id);

		assert_int_equal(event != NULL, id == 10 || id == 20 || id == 30);
		if (event)
			assert_int_equal(event->name[0], 'A' + (int)id / 10 - 1);
	}
	declared_events_deinit(&declared);
	assert_null(declared.events);
	assert_int_equal(declared.nr, 0);
}

/* Words of other kinds of events that are missing or wrong, between two good lines. */
TEST_WITH(wrong_probes_and_lines, setup, teardown)
{
	static const char *const bad[] = {
		"DECLARED: 2 sdt x",
		"DECLARED: 2 sdt %00 4",
		"DECLARED: 2 sdt x %00",
		"DECLARED: 2 sdt x 3",
		"DECLARED: 2 sdt x %",
		"DECLARED: 2 sdt x 4++4",
		"DECLARED: 2 sdt x 4+",
		"DECLARED: 2 line %00 K",
		"DECLARED: 2 line x %00",
		"DECLARED: 2 line  K",
		"DECLARED: 2line x K",
		"DECLARED: line x K",
		"DECLARED:2 line x K",
		"DECLARED: 2 fstrace x%4/ %00 X",
		"DECLARED: 2 fstrace x%4: %00 X",
		"DECLARED: 2 fstrace x%4@ %00 X",
		"DECLARED: 2 fstrace x%4G %00 X",
		"DECLARED: 2 fstrace x%4` %00 X",
		"DECLARED: 2 fstrace x% %00 X",
		"DECLARED: 2 fstrace x%4 %00 X",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct declared_events declared = { 0 };
		char text[256];

		snprintf(text, sizeof(text), "DECLARED: 1 line A K\n%s\nDECLARED: 3 sdt C 4\n",
			 bad[i]);
		load(&declared, text);
		assert_int_equal(declared.nr, 2);
		assert_null(declared_events_find(&declared, 2));
		assert_true(declared_events_find(&declared, 1)->is_line);
		assert_false(declared_events_find(&declared, 3)->is_line);
		declared_events_deinit(&declared);
	}
}

TEST_WITH(digits_of_words, setup, teardown)
{
	struct declared_events declared = { 0 };

	load(&declared, "DECLARED: 1 fstrace %30%39%3a%3F%4a%4F%61%7E%20+ %00 %\n");
	assert_int_equal(declared.nr, 1);
	assert_string_equal(declared.events[0].name, "09:?JOa~  ");
	declared_events_deinit(&declared);
}

TEST_WITH(a_file_that_cannot_be_read, setup, teardown)
{
	struct declared_events declared = { 0 };
	struct uft_err err = { 0 };
	char path[96];

	snprintf(path, sizeof(path), "%s/" EVENT_DEFS_FILE, dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(declared_events_load(&declared, dir, &err) < 0);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(declared.nr, 0);
	assert_int_equal(rmdir(path), 0);
}

/* --- lines of logs --- */

/* The keys that are fields: words of letters, digits, '-' and '_', each once. */
TEST_WITH(keys_of_lines, setup, teardown)
{
	static const struct {
		const char *keys;
		const char *fields;
	} cases[] = {
		{ "%", "" },	   { "K", "K" },	 { "K+L", "K L" },
		{ "K+K", "K" },	   { "K+K2+K", "K K2" }, { "K2+K", "K2 K" },
		{ "K%3D+L", "L" }, { "++K+", "K" },	 { "a-b+c_d+9Z", "a-b c_d 9Z" },
		{ "K,L+M", "M" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct declared_events declared = { 0 };
		struct strbuf out cleanup_strbuf = { 0 };
		char line[128];

		snprintf(line, sizeof(line), "DECLARED: 1 line E %s\n", cases[i].keys);
		load(&declared, line);
		assert_int_equal(declared.nr, 1);
		for (size_t k = 0; k < declared.events[0].nr_fields; k++) {
			assert_int_equal(declared.events[0].fields[k].type, FIELD_TEXT);
			strbuf_addf(&out, "%s%s", k ? " " : "", declared.events[0].fields[k].name);
		}
		assert_string_equal(strbuf_str(&out), cases[i].fields);
		declared_events_deinit(&declared);
	}
}

TEST_WITH(many_keys, setup, teardown)
{
	for (unsigned nr = EVENT_LINE_KEYS_MAX - 1; nr <= EVENT_LINE_KEYS_MAX + 1; nr++) {
		struct declared_events declared = { 0 };
		struct strbuf text cleanup_strbuf = { 0 };

		strbuf_addstr(&text, "DECLARED: 1 line E ");
		for (unsigned i = 0; i < nr; i++)
			strbuf_addf(&text, "%sK%u", i ? "+" : "", i);
		strbuf_addch(&text, '\n');
		load(&declared, strbuf_str(&text));
		assert_int_equal(declared.events[0].nr_fields, MIN(nr, EVENT_LINE_KEYS_MAX));
		declared_events_deinit(&declared);
	}
	assert_int_equal(declared_line_words("", 9), 1);
	assert_int_equal(declared_line_words("a b c", 9), 3);
	assert_int_equal(declared_line_words("a b c", 3), 3);
	assert_int_equal(declared_line_words("a b c", 2), 2);
}

/* The value of a field is that of the first word with its key. */
TEST_WITH(values_of_lines, setup, teardown)
{
	static const struct {
		const char *body;
		const char *fields;
	} cases[] = {
		{ "K=1 LONG=2", "K:t=1 LONG:t=2" },
		{ "LONG=2 K=1", "K:t=1 LONG:t=2" },
		{ "K=1 K=2", "K:t=1" },
		{ "K= LONG=", "K:t= LONG:t=" },
		{ "KK=1 xK=2 K=3", "K:t=3" },
		{ "K LONG", "" },
		{ "K LONG K=a=b", "K:t=a=b" },
		{ " K=1", "K:t=1" },
		{ "k=1", "" },
		{ "LON=1 LONGER=2", "" },
		{ "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct trace_data data = { 0 };
		struct declared_events declared = { 0 };
		struct event_kind kind = { .id = 1000001 };
		struct strbuf out cleanup_strbuf = { 0 };
		char payload[64] = "12345678";
		const size_t len = 8 + strlen(cases[i].body);

		strcat(payload, cases[i].body);
		load(&declared, "DECLARED: 1000001 line E K+LONG\n");
		declared_event_set(&declared.events[0], &kind);
		for (size_t cut = 0; cut <= len; cut += len) {
			void *copy = exact_copy(payload, cut ? len : 7);
			const struct event event = { .data = copy, .data_len = cut ? len : 7 };
			const struct event_context context = { &data, NULL, &event, false };

			strbuf_reset(&out);
			event_kind_put(&kind, &context, &out);
			assert_string_equal(strbuf_str(&out), cut ? cases[i].body : "");
			strbuf_reset(&out);
			kind_put_fields(&kind, &context, &out);
			assert_string_equal(strbuf_str(&out), cut ? cases[i].fields : "");
			free(copy);
		}
		declared_events_deinit(&declared);
	}
}

TEST(times_of_lines)
{
	static const uint8_t payload[] = { 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 };
	const struct declared_event line = { .is_line = true };
	const struct declared_event other = { 0 };
	int64_t time_us = 5;

	assert_false(declared_line_time(&other, payload, 9, &time_us));
	assert_false(declared_line_time(&line, NULL, 9, &time_us));
	assert_false(declared_line_time(&line, payload, 7, &time_us));
	assert_int_equal(time_us, 5);
	assert_true(declared_line_time(&line, payload, 8, &time_us));
	assert_int_equal(time_us, -2);
	assert_true(declared_line_time(&line, payload, 9, &time_us));
}
