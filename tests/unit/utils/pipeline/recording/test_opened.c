/*
 * Calls that were entered before the shown range get an entry at its beginning, if the view wants
 * that.
 */
#include "tests/unit/lib/unit.h"

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

/* A child begins within calls of its parent. Its returns tell their names. */
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
