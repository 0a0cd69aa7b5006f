/*
 * Unit tests of the table of event types: utils/pipeline/kinds/event_kind.c, event_kinds.c and
 * kinds_*.c.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <limits.h>

#include "tests/unit/lib/read/recording.h"
#include "utils/format/event_data.h"
#include "utils/format/header.h"
#include "utils/pipeline/kinds/event_kinds.h"

/* Check that the numbers of the rows rise, and that each row is found by its number. */
static int is_rising(void *self, const struct event_kind *kind)
{
	uint64_t *last = self;

	assert_true(kind->id > *last);
	assert_ptr_equal(event_kind_fixed(kind->id), kind);
	assert_non_null(kind->name);
	*last = kind->id;
	return 0;
}

TEST(fixed_rows)
{
	const struct trace_data data = { 0 };
	const struct event_kinds kinds = { .data = &data };
	uint64_t last = 0;

	assert_int_equal(event_kinds_each(&kinds, is_rising, &last), 0);
	assert_int_equal(last, EVENT_ID_EXTERN_DATA);
}

static void check(struct event_kinds *kinds, uint64_t id, enum event_origin origin,
		  const char *name)
{
	const struct event_kind *kind = event_kinds_find(kinds, id);
	struct strbuf text cleanup_strbuf = { 0 };

	event_kind_put_name(kind, id, &text);
	assert_string_equal(strbuf_str(&text), name);
	assert_int_equal(kind->origin, origin);
}

/* Each number of an event has an origin and a name, even if events.txt has no line for it. */
TEST(allotments)
{
	static const char lines[] = "EVENT: 2000001 far:away\nEVENT: 1000000 app:stop\n"
				    "EVENT: 2000000 not:yours\nEVENT: 100001 nor:this\n"
				    "EVENT: 1999999 app:last\nEVENT: 70000 old:point\n"
				    "EVENT: 1000000 app:again\n";
	const uint64_t last = (1ULL << 48) - 1;
	struct event_kinds kinds;
	struct trace_data data;
	struct recording rec;

	recording_init(&rec);
	rec.features = FEAT_EVENT;
	recording_add_task(&rec, 100, "a{}", 1000);
	recording_finish(&rec);
	recording_add_file(&rec, "events.txt", lines, strlen(lines));
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(event_kinds_load(&kinds, &data, NULL), 0);
	check(&kinds, 0, EVENT_OF_KERNEL, "kernel_event:0");
	check(&kinds, 70000, EVENT_OF_KERNEL, "old:point");
	check(&kinds, 99999, EVENT_OF_KERNEL, "kernel_event:99999");
	check(&kinds, 100000, EVENT_OF_PROGRAM, "builtin_event:100000");
	check(&kinds, 100001, EVENT_OF_PROGRAM, "read:proc/statm");
	check(&kinds, 200006, EVENT_OF_PROGRAM, "linux:task-name");
	check(&kinds, 300002, EVENT_OF_PROGRAM, "proc:exec");
	check(&kinds, 300004, EVENT_OF_PROGRAM, "proc:open");
	check(&kinds, 300016, EVENT_OF_PROGRAM, "proc:env");
	check(&kinds, 999999, EVENT_OF_PROGRAM, "builtin_event:999999");
	check(&kinds, 1000000, EVENT_OF_PROGRAM, "app:again");
	check(&kinds, 1000001, EVENT_OF_PROGRAM, "user_event:1000001");
	check(&kinds, 1999999, EVENT_OF_PROGRAM, "app:last");
	check(&kinds, 2000000, EVENT_OF_PROGRAM, "external-data");
	check(&kinds, 2000001, EVENT_OF_PROGRAM, "far:away");
	check(&kinds, last, EVENT_OF_PROGRAM, "user_event:281474976710655");
	assert_true(event_kinds_find(&kinds, 1000000)->flags & EVENT_KIND_BY_NAME);
	assert_false(event_kinds_find(&kinds, 1000000)->flags & EVENT_KIND_NAMELESS);
	event_kinds_deinit(&kinds);
	data_close(&data);
	recording_deinit(&rec);
}

/*
 * Writes the text that @kind makes of the first @len of these bytes. The memory ends after them.
 */
static void put(const struct event_kind *kind, size_t len, bool is_raw, struct strbuf *out)
{
	static const uint8_t bytes[24] = { 100, 0, 0, 0, 0, 0, 0, 0, 25, 0, 0, 0,
					   0,	0, 0, 0, 1, 0, 0, 0, 0,	 0, 0, 0 };
	const struct trace_data data = { .header.elf_class = HEADER_CLASS_64 };
	uint8_t *copy = malloc(len ? len : 1);
	const struct event event = { .id = kind->id, .data = copy, .data_len = len };
	const struct event_context context = { &data, NULL, &event, is_raw };

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	strbuf_reset(out);
	event_kind_put(kind, &context, out);
	free(copy);
}

TEST(texts)
{
	static const struct {
		enum event_id id;
		size_t len;
		bool is_raw;
		const char *text;
	} cases[] = {
		{ EVENT_ID_READ_STATM, 24, false, "vmsize=100KB vmrss=25KB shared=1KB" },
		{ EVENT_ID_READ_STATM, 23, false, "vmsize=100KB vmrss=25KB" },
		{ EVENT_ID_DIFF_PAGE_FAULT, 16, false, "major=+100 minor=+25" },
		{ EVENT_ID_DIFF_PAGE_FAULT, 16, true, "major=100 minor=25" },
		{ EVENT_ID_DIFF_PMU_CYCLE, 16, false, "cycles=+100 instructions=+25 IPC=0.25" },
		{ EVENT_ID_DIFF_PMU_CACHE, 16, false, "refers=+100 misses=+25 hit=75.00%" },
		{ EVENT_ID_DIFF_PMU_BRANCH, 15, false, "branch=+100" },
		{ EVENT_ID_READ_PMU_CYCLE, 16, false, "cycles=100 instructions=25" },
		{ EVENT_ID_WATCH_CPU, 4, false, "cpu=100" },
		{ EVENT_ID_WATCH_CPU, 3, false, "" },
		{ EVENT_ID_WATCH_VAR, 16, false, "[0x64]=19" },
		{ EVENT_ID_WATCH_VAR, 8, false, "" },
		{ EVENT_ID_WATCH_VAR, 17, false, "" },
		{ EVENT_ID_CALLSITE, 8, false, "" },
		{ EVENT_ID_COUNTER, 16, false, "value=0" },
		{ EVENT_ID_COUNTER + 1, 16, false, "value=+0" },
		{ EVENT_ID_COUNTER + 1, 15, false, "" },
		{ EVENT_ID_TASK_NAME, 0, false, "" },
		{ EVENT_ID_PROC_FORK, 20, false, "child=100 process=0" },
		{ EVENT_ID_LIMIT_DEPTH, 0, false, "deeper calls are not recorded" },
		{ EVENT_ID_PROC_FORK, 3, false, "" },
		{ EVENT_ID_PROC_EXEC, 19, false, "" },
		{ EVENT_ID_PROC_EXIT, 4, false, "signal=100" },
		{ EVENT_ID_PROC_EXIT, 3, false, "" },
		{ EVENT_ID_PROC_OPEN, 23, false, "" },
		{ EVENT_ID_PROC_PIPE, 24, false, "read=100 write=0 flags=0x19" },
		/* The event belongs to a task, so it is no line of extern.dat. */
		{ EVENT_ID_EXTERN_DATA, 1, false, "" },
	};
	struct strbuf text cleanup_strbuf = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		put(event_kind_fixed(cases[i].id), cases[i].len, cases[i].is_raw, &text);
		assert_string_equal(strbuf_str(&text), cases[i].text);
	}
}

/*
 * A variable may have any length, in either byte order. Bytes after the payload do not belong to
 * it.
 */
TEST(variables)
{
	static const struct {
		bool is_big;
		uint8_t bytes[12];
		const char *text;
	} cases[] = {
		{ false, { 0x34, 0x12, 0, 0, 0, 0, 0, 0, 0x05, 0x01, 0, 0xff }, "[0x1234]=105" },
		{ true, { 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0, 0x01, 0x05, 0xff }, "[0x1234]=105" },
	};
	struct strbuf text cleanup_strbuf = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct trace_data data = { .header.elf_class = HEADER_CLASS_64,
						 .is_big_endian = cases[i].is_big };
		const struct event event = { .id = EVENT_ID_WATCH_VAR,
					     .data = cases[i].bytes,
					     .data_len = 11 };
		const struct event_context context = { &data, NULL, &event, false };

		strbuf_reset(&text);
		event_kind_put(event_kind_fixed(event.id), &context, &text);
		assert_string_equal(strbuf_str(&text), cases[i].text);
	}
}

/* The longest variable has eight bytes. The bytes after them do not belong to it. */
TEST(longest_variable)
{
	static const uint8_t bytes[17] = { [0] = 1, [8] = 0x0f, [15] = 0x10, [16] = 0xff };
	const struct trace_data data = { .header.elf_class = HEADER_CLASS_64 };
	const struct event event = { .id = EVENT_ID_WATCH_VAR, .data = bytes, .data_len = 16 };
	const struct event_context context = { &data, NULL, &event, false };
	struct strbuf text cleanup_strbuf = { 0 };

	event_kind_put(event_kind_fixed(event.id), &context, &text);
	assert_string_equal(strbuf_str(&text), "[0x1]=100000000000000f");
}

static int put_each_length(void *self, const struct event_kind *kind)
{
	struct strbuf text cleanup_strbuf = { 0 };

	for (size_t len = 0; len <= 24; len++)
		put(kind, len, false, &text);
	return 0;
}

/* Without a table of numbers, -E knows only events with names like "linux:...". */
TEST(names_to_record)
{
	for (size_t i = 0; i < event_rows_linux.nr; i++) {
		const char *name = event_rows_linux.rows[i].name;
		struct event_rules rules = { 0 };

		/* Pre-emption cannot be selected: its name has a blank. */
		if (strchr(name, ' '))
			continue;
		assert_int_equal(event_rules_parse(name, MATCH_SIMPLE, &rules, NULL), 0);
		assert_int_not_equal(event_rules_linux(&rules), 0);
		event_rules_deinit(&rules);
	}
}

TEST(lines)
{
	const struct trace_data data = { 0 };
	const struct event event = {
		.type = EVENT_EXTERN,
		.id = EVENT_ID_EXTERN_DATA,
		.data = (const uint8_t *)"it is \"late\"",
		.data_len = 11,
	};
	const struct event_context context = { &data, NULL, &event, false };
	struct strbuf text cleanup_strbuf = { 0 };

	event_kind_put(event_kind_fixed(event.id), &context, &text);
	assert_string_equal(strbuf_str(&text), "it is \"late");
}

/* No byte beyond the end is read; a sanitizer would find that. */
TEST(short_payloads)
{
	const struct event_kinds kinds = { 0 };

	assert_int_equal(event_kinds_each(&kinds, put_each_length, NULL), 0);
}

/* --- events.txt --- */

/* Open a recording whose events.txt has @lines. @grows: open it as a recording that grows. */
static void begin_names(struct recording *rec, struct trace_data *data, const char *lines,
			bool has_feature, bool grows)
{
	recording_init(rec);
	rec->features = has_feature ? FEAT_EVENT : 0;
	recording_add_task(rec, 100, "a{}", 1000);
	recording_finish(rec);
	recording_add_file(rec, "events.txt", lines, strlen(lines));
	if (grows)
		assert_int_equal(data_open_growing(data, rec->dir, DEMANGLE_SIMPLE, NULL), 0);
	else
		assert_int_equal(data_open(data, rec->dir, DEMANGLE_SIMPLE, NULL), 0);
}

static void end_names(struct recording *rec, struct trace_data *data)
{
	data_close(data);
	recording_deinit(rec);
}

/* A wrong line is named by its number. Empty lines count. */
TEST(wrong_lines)
{
	static const struct {
		const char *lines;
		unsigned nr;
	} rows[] = {
		{ "nonsense\n", 1 },
		{ "EVENT: 1000001 a:b\nEVENT: x a:b\n", 2 },
		{ "\n\nEVENT: 1000001\n", 3 },
		{ "EVENT: 1000001 \n", 1 },
		{ "EVENT: 1000001x a:b\n", 1 },
		{ "EVENT:1000001 a:b\n", 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_kinds kinds;
		struct uft_err err = { 0 };
		struct trace_data data;
		struct recording rec;
		char expected[200];

		begin_names(&rec, &data, rows[i].lines, true, false);
		snprintf(expected, sizeof(expected),
			 "cannot read '%s/events.txt': line %u: expected 'EVENT: <id> <name>'",
			 rec.dir, rows[i].nr);
		assert_int_equal(event_kinds_load(&kinds, &data, &err), -EINVAL);
		assert_string_equal(err.text, expected);
		assert_null(kinds.kinds);
		assert_int_equal(kinds.nr, 0);
		end_names(&rec, &data);
	}
}

/*
 * The header tells whether there are names. It is not complete while the recording grows, and
 * neither is the last line.
 */
TEST(names_that_are_read)
{
	static const char lines[] = "EVENT: 1000001 a:b\nEVENT: 1000002 c:d";

	for (unsigned i = 0; i < 4; i++) {
		bool has_feature = i & 1;
		bool grows = i & 2;
		struct event_kinds kinds;
		struct trace_data data;
		struct recording rec;

		begin_names(&rec, &data, lines, has_feature, grows);
		assert_int_equal(event_kinds_load(&kinds, &data, NULL), 0);
		assert_int_equal(kinds.nr, grows ? 1 : has_feature ? 2 : 0);
		check(&kinds, 1000001, EVENT_OF_PROGRAM,
		      grows || has_feature ? "a:b" : "user_event:1000001");
		check(&kinds, 1000002, EVENT_OF_PROGRAM,
		      has_feature && !grows ? "c:d" : "user_event:1000002");
		event_kinds_deinit(&kinds);
		end_names(&rec, &data);
	}
}

/* In a growing recording, the number of an event of the program may get its name later. */
TEST(names_that_come_when_they_are_needed)
{
	static const char first[] = "EVENT: 1000001 a:b\n";
	static const char then[] = "EVENT: 1000001 a:b\nEVENT: 1000002 c:d\nEVENT: 70000 e:f\n";
	static const char wrong[] = "nonsense\n";

	for (unsigned grows = 0; grows < 2; grows++) {
		struct event_kinds kinds;
		struct trace_data data;
		struct recording rec;

		begin_names(&rec, &data, first, true, grows);
		assert_int_equal(event_kinds_load(&kinds, &data, NULL), 0);
		check(&kinds, 1000002, EVENT_OF_PROGRAM, "user_event:1000002");
		recording_add_file(&rec, "events.txt", then, strlen(then));
		/* Numbers of the kernel are not looked up again. */
		check(&kinds, 70000, EVENT_OF_KERNEL, "kernel_event:70000");
		check(&kinds, 1000001, EVENT_OF_PROGRAM, "a:b");
		assert_int_equal(kinds.nr, 1);
		check(&kinds, 1000002, EVENT_OF_PROGRAM, grows ? "c:d" : "user_event:1000002");
		assert_int_equal(kinds.nr, grows ? 3 : 1);
		assert_ptr_equal(kinds.data, &data);
		/* A malformed file gives no names. */
		recording_add_file(&rec, "events.txt", wrong, strlen(wrong));
		check(&kinds, 1000003, EVENT_OF_PROGRAM, "user_event:1000003");
		assert_int_equal(kinds.nr, grows ? 0 : 1);
		assert_ptr_equal(kinds.data, &data);
		recording_add_file(&rec, "events.txt", then, strlen(then));
		check(&kinds, 1000002, EVENT_OF_PROGRAM, grows ? "c:d" : "user_event:1000002");
		event_kinds_deinit(&kinds);
		assert_null(kinds.data);
		end_names(&rec, &data);
	}
}

/* A name is cut after 1024 bytes. */
TEST(long_names)
{
	for (size_t len = 1023; len <= 1025; len++) {
		struct strbuf lines cleanup_strbuf = { 0 };
		struct event_kinds kinds;
		struct trace_data data;
		struct recording rec;

		strbuf_addstr(&lines, "EVENT: 1000001 ");
		strbuf_addchars(&lines, 'x', len);
		strbuf_addch(&lines, '\n');
		begin_names(&rec, &data, strbuf_str(&lines), true, false);
		assert_int_equal(event_kinds_load(&kinds, &data, NULL), 0);
		assert_int_equal(strlen(event_kinds_find(&kinds, 1000001)->name),
				 len == 1025 ? 1024 : len);
		event_kinds_deinit(&kinds);
		end_names(&rec, &data);
	}
}

/* Events that a program has declared have fields. */
TEST(names_with_a_definition)
{
	static const char lines[] = "EVENT: 1000002 c:d\nEVENT: 1000001 a:b\n";
	static const char defs[] = "DECLARED: 1000002 fstrace c:d %00 X=%25d+Y=%25d\n"
				   "DECLARED: 1000003 fstrace e:f %00 X=%25d\n";
	const struct event_kind *kind;
	struct event_kinds kinds;
	struct trace_data data;
	struct recording rec;

	begin_names(&rec, &data, lines, true, false);
	recording_add_file(&rec, EVENT_DEFS_FILE, defs, strlen(defs));
	assert_int_equal(event_kinds_load(&kinds, &data, NULL), 0);
	assert_int_equal(kinds.nr, 2);
	assert_int_equal(kinds.declared.nr, 2);
	kind = event_kinds_find(&kinds, 1000002);
	assert_ptr_equal(kind->declared, &kinds.declared.events[0]);
	assert_int_equal(kind->nr_fields, 2);
	assert_string_equal(kind->fields[1].name, "Y");
	kind = event_kinds_find(&kinds, 1000001);
	assert_null(kind->declared);
	assert_int_equal(kind->nr_fields, 0);
	event_kinds_deinit(&kinds);
	end_names(&rec, &data);
}

static struct text word_of(const char *word)
{
	return text_of(word, strlen(word));
}

/* Events of the kernel have the names of their formats. */
TEST(names_of_the_kernel)
{
	struct kernel_event_type types[] = {
		{ .system = word_of("sched"), .event = word_of("switch"), .id = 300 },
		{ .system = word_of("irq"), .event = word_of("entry"), .id = 20 },
	};
	const struct trace_data data = { .dir = "/nonexistent",
					 .kernel = { .types = types, .nr_types = 2 } };
	struct event_kinds kinds;

	assert_int_equal(event_kinds_load(&kinds, &data, NULL), 0);
	assert_int_equal(kinds.nr, 2);
	check(&kinds, 300, EVENT_OF_KERNEL, "sched:switch");
	check(&kinds, 20, EVENT_OF_KERNEL, "irq:entry");
	check(&kinds, 299, EVENT_OF_KERNEL, "kernel_event:299");
	event_kinds_deinit(&kinds);
}

/* A loop over all types. @until: the number of calls before the one that gives @result */
struct loop {
	unsigned until;
	int result;
	unsigned nr;
	uint64_t last;
};

static int count_kind(void *self, const struct event_kind *kind)
{
	struct loop *loop = self;

	loop->last = kind->id;
	return loop->nr++ == loop->until ? loop->result : 0;
}

/* Only a negative result ends the loop. */
TEST(loops_over_types)
{
	struct event_kind own[] = { { .id = 2000001, .name = "a" },
				    { .id = 2000002, .name = "b" } };
	const struct event_kinds kinds = { .kinds = own, .nr = 2 };
	struct loop all = { .until = UINT_MAX };
	struct loop loop;

	assert_int_equal(event_kinds_each(&kinds, count_kind, &all), 0);
	assert_int_equal(all.last, 2000002);
	assert_true(all.nr > 20);
	for (unsigned until = 0; until < all.nr; until++) {
		loop = (struct loop){ .until = until, .result = -7 };
		assert_int_equal(event_kinds_each(&kinds, count_kind, &loop), -7);
		assert_int_equal(loop.nr, until + 1);
		loop = (struct loop){ .until = until, .result = 7 };
		assert_int_equal(event_kinds_each(&kinds, count_kind, &loop), 0);
		assert_int_equal(loop.nr, all.nr);
	}
}
