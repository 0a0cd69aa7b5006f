/* Calls that were entered before what is shown begins: they get an entry there, when that is wanted. */
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

/* A child begins within calls of its parent: which, its returns say. */
TEST_WITH(inherited, setup, NULL)
{
	config.stages.opens_inherited = true;
	check("2c{}d{})b)a", "100:a{b{c{}d{}}}");
	check("2)b)a", "100:a{b{}}");
	check("1b{c{}})a", "100:a{b{c{}}}");
	check("a{b{}}", "100:a{b{}}");
	/* It has returned from the inner one only. */
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
