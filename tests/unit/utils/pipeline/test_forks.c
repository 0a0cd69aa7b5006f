/*
 * Filters of forked children begin within the calls of their parents, even if the parent's records
 * end earlier.
 */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/recording.h"
#include "utils/spec/filters.h"

static struct recording rec;

static int setup(void **state)
{
	recording_init(&rec);
	rec.has_fork = true;
	return 0;
}

static int teardown(void **state)
{
	recording_deinit(&rec);
	return 0;
}

static void add_forked_task(int32_t pid, int32_t ppid, const char *tree, uint64_t start_ns)
{
	size_t before = rec.task_txt.len;

	recording_add_task(&rec, pid, tree, start_ns);
	rec.task_txt.len = before; /* without the line for a thread */
	strbuf_addf(&rec.task_txt, "FORK timestamp=0.%09d pid=%d ppid=%d\n", (int)start_ns, pid,
		    ppid);
}

/* Check what is shown with @filter: calls of that function, and calls in them. */
static void check(const char *filter, const char *expected)
{
	struct filters filters cleanup_filters = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };
	struct pipeline_config config;

	char *specs[SPEC_OPTIONS] = { [SPEC_FILTER] = (char *)filter };
	enum spec_option option;

	assert_int_equal(filters_make(&filters, specs, MATCH_SIMPLE, &option, NULL), 0);
	pipeline_config_init(&config);
	config.stages.wants = STAGE_WANTS_DEPTHS;
	config.stages.filters = &filters;
	config.stages.actions = UINT32_MAX;
	config.order = PIPELINE_BY_TASK;
	recording_finish(&rec);
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), expected);
}

TEST_WITH(within_what_the_parent_is_in, setup, teardown)
{
	recording_add_task(&rec, 100, "a{b{F{}c{}}}d{}", 1000);
	add_forked_task(101, 100, "3)Fe{})b", 1025);
	check("b", "100:b{fork{}c{}} 101:}?e{}}?");
}

/* The parent was killed as soon as it had a child. */
TEST_WITH(a_parent_that_says_no_more, setup, teardown)
{
	recording_add_task(&rec, 100, "a{b{F{", 1000);
	add_forked_task(101, 100, "3)Fe{})b", 2000);
	check("b", "100:b{fork{ 101:}?e{}}?");
}
