/*
 * Calls that were entered before the shown range get an entry at its beginning, if the view wants
 * that.
 */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/events.h"
#include "tests/unit/lib/read/recording.h"

static struct pipeline_config config;

static int setup(void **state)
{
	pipeline_config_init(&config);
	config.stages.wants = STAGE_WANTS_DEPTHS;
	return 0;
}

static void check(const char *tree, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct recording rec;

	recording_init(&rec);
	recording_add_task(&rec, 100, tree, 1000);
	recording_finish(&rec);
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), expected);
	recording_deinit(&rec);
}

/* A child begins within calls of its parent. The returns of the child tell their names. */
TEST_WITH(inherited, setup, NULL)
{
	config.stages.opens_inherited = true;
	check("2c{}d{})b)a", "100:a{b{c{}d{}}}");
	check("2)b)a", "100:a{b{}}");
	check("1b{c{}})a", "100:a{b{c{}}}");
	check("a{b{}}", "100:a{b{}}");
	/* The child has returned from the inner call only. */
	check("2c{})b", "100:b{c{}}");
	check("2c{", "100:c{");
	setup(NULL);
	check("2c{}d{})b)a", "100:c{}d{}}?}?");
}

TEST_WITH(at_start, setup, NULL)
{
	config.stages.opens_at_start = true;
	config.range.start = (struct range_edge){ .time_ns = 2025, .is_set = true };
	check("a{b{ }c{}}", "100:a{c{}}");
	config.range.start.time_ns = 1500;
	check("a{b{ }c{}}", "100:a{b{}c{}}");
	config.range.start.time_ns = 1000;
	check("a{b{ }c{}}", "100:a{b{}c{}}");
}

/*
 * Makes records of calls at any depth, as after damage or longjmp(3), with some events among them.
 */
#define NR_RECORDS 2000

static void make_records(struct record *records)
{
	unsigned seed = 5;

	for (size_t i = 0; i < NR_RECORDS; i++) {
		seed = seed * 1103515245 + 12345;
		records[i] = (struct record){
			.time_ns = 1000 + i,
			.data = record_data(seed >> 8 & 1, seed >> 9 & 127,
					    0x401000 + (seed >> 16 & 63)),
		};
		if (i % 97 == 96)
			records[i].data = record_data(RECORD_EVENT, 0, 1000001);
		if (i % 131 == 130)
			records[i].data = record_data(RECORD_ENTRY, 3, 0x1000 | KERNEL_ADDR_BIT);
	}
}

static void note_record(struct opened *opened, const struct record *rec)
{
	struct event event;

	event_of_record(rec, 0, &event);
	assert_true(opened_note(opened, &event));
}

/* Skimming many records at a time leaves the same calls open as reading them one by one. */
TEST(skims_records)
{
	struct record records[NR_RECORDS];
	struct opened noted = { 0 };
	struct opened skimmed = { 0 };
	struct plain_records at = { (uint8_t *)records, (uint8_t *)(records + NR_RECORDS), 0 };
	const uint64_t until_ns = 1000 + NR_RECORDS - 10;
	size_t nr = 0;

	make_records(records);
	while (nr < NR_RECORDS - 10) {
		size_t begin = nr;

		skimmed.wants_depth = noted.wants_depth = true;
		assert_true(opened_skim(&skimmed, &at, until_ns));
		nr = (const struct record *)at.at - records;
		for (size_t i = begin; i < nr; i++)
			note_record(&noted, &records[i]);
		assert_int_equal(skimmed.nr, noted.nr);
		assert_memory_equal(skimmed.addrs, noted.addrs, noted.nr * sizeof(*noted.addrs));
		assert_int_equal(skimmed.wants_depth, noted.wants_depth);
		assert_true(nr == begin || skimmed.last_ns == noted.last_ns);
		if (nr == NR_RECORDS - 10)
			break;
		/* Skimming stops at an event, or at a call of the kernel. */
		assert_true(!record_is_plain_call(&records[nr]) ||
			    record_addr(records[nr].data) & KERNEL_ADDR_BIT);
		note_record(&noted, &records[nr]);
		note_record(&skimmed, &records[nr++]);
		at.at = (const uint8_t *)(records + nr);
	}
	opened_deinit(&noted);
	opened_deinit(&skimmed);
}

/* --- one event at a time --- */

static void note(struct opened *opened, const char *text)
{
	struct event events[20];
	size_t nr = events_parse(text, events, ARRAY_SIZE(events));

	for (size_t i = 0; i < nr; i++)
		assert_true(opened_note(opened, &events[i]));
}

/* Begin the range with the event @next, and check the events that are made for its beginning. */
static void check_begin(struct opened *opened, const struct task *task, const char *next,
			const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct event event;
	struct event events[20];
	size_t nr;

	assert_int_equal(events_parse(next, &event, 1), 1);
	nr = opened_begin(opened, task, &event, 5000);
	assert_true(opened->is_done);
	opened_put(opened, 5000, events);
	for (size_t i = 0; i < nr; i++) {
		const struct event *made = &events[i];

		strbuf_addf(&out, "%s%s%llx@%llu.%u:%u", i ? " " : "",
			    made->type == EVENT_ENTRY ? "{" : "~",
			    made->type == EVENT_ENTRY ? (unsigned long long)made->addr : 0,
			    (unsigned long long)made->time_ns, made->depth, made->indent);
		if (made->type != EVENT_ENTRY) {
			assert_int_equal(made->type, EVENT_SCHED_OUT);
			assert_int_equal(made->cpu, EVENT_CPU_UNKNOWN);
			strbuf_addf(&out, "%s", made->id == EVENT_ID_SCHED_OUT ? "" : "P");
			assert_int_equal(made->id == EVENT_ID_SCHED_OUT_PREEMPT,
					 (made->flags & EVENT_PREEMPTED) != 0);
		}
	}
	assert_string_equal(strbuf_str(&out), expected);
	opened_deinit(opened);
	assert_null(opened->addrs);
	assert_int_equal(opened->nr, 0);
}

/* Functions "a", "b" ... have these addresses in the events of the tests. */
#define A "{401004@5000.0:0"
#define B "{401044@5000.1:1"
#define C "{401084@5000.2:2"

TEST(calls_that_are_noted)
{
	static const struct {
		const char *before;
		const char *next;
		const char *expected;
	} cases[] = {
		{ "a{ b{", "c{.2", A " " B },
		{ "a{ b{ c{ c}", "c{.2", A " " B },
		{ "a{ b{ b} a}", "c{.0", "" },
		{ "a{ b{ a}.0", "c{.0", "" },
		{ "a{", "*", A },
		/* A call of the kernel, and events that are no calls, do not matter. */
		{ "a{ 'b{ * 'b}", "c{.1", A },
		{ "a{ 'b{", "c{.1", A },
		/* Calls without a recorded entry are not opened, nor those around them. */
		{ "b{.1", "c{.2", B },
		{ "a{ c{.2", "d{.3", C },
		/* After a loss, the next record of a call tells how many calls are open. */
		{ "a{ b{ c{ !", "d{.2", A " " B },
		{ "a{ b{ c{ !", "d{.3", A " " B " " C },
		{ "a{ b{ c{ !", "d{.5", A " " B " " C },
		{ "a{ b{ c{ !", "b}.1", A " " B },
		{ "a{ b{ c{ !", "a}.0", A },
		{ "a{ b{ c{ !", "*", A " " B " " C },
		{ "a{ b{ c{ !", "'a{.0", A " " B " " C },
		{ "a{ b{ c{ !U", "d{.1", A " " B " " C },
		{ "a{ b{ ! b}.1", "d{.0", A },
		{ "a{ b{ ! c{.2", "d{.0", A " " B " " C },
		/* The task is off the CPU. */
		{ "a{ ~", "^", A " ~0@5000.0:0" },
		{ "a{ ~P", "^", A " ~0@5000.0:0P" },
		{ "a{ ~ ^", "b{.1", A },
		{ "~", "^", "~0@5000.0:0" },
	};
	const struct task task = { .tid = 7 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct opened opened = { 0 };

		note(&opened, cases[i].before);
		check_begin(&opened, &task, cases[i].next, cases[i].expected);
	}
}

/* A program that was executed since the last record has none of these calls. */
TEST(calls_before_an_exec)
{
	static const struct {
		uint64_t exec_ns;
		const char *expected;
	} cases[] = {
		{ 1020, A " " B " ~0@5000.0:0" }, { 1021, "" }, { 4999, "" }, { 5000, "" },
		{ 5001, A " " B " ~0@5000.0:0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct session_ref refs[] = { { 0, NULL }, { cases[i].exec_ns, NULL } };
		const struct task task = { .tid = 7, .refs = refs, .nr_refs = 2 };
		struct opened opened = { 0 };

		note(&opened, "a{ b{ ~");
		check_begin(&opened, &task, "c{.2", cases[i].expected);
	}
}

/* The calls are so many that the memory for them grows. */
TEST(many_calls)
{
	struct opened opened = { 0 };

	for (unsigned depth = 0; depth < 1000; depth++) {
		const struct event event = { .addr = depth + 1, .depth = depth };

		assert_true(opened_note(&opened, &event));
		assert_int_equal(opened.nr, depth + 1);
	}
	for (unsigned depth = 0; depth < 1000; depth++)
		assert_int_equal(opened.addrs[depth], depth + 1);
	opened_deinit(&opened);
}
