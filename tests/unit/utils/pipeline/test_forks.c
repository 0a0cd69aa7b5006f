/*
 * Filters take a forked child to be inside of the open calls of its parent, even if the parent's
 * records end before the child's begin.
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

/* Each child gets the state at its own fork, in whatever order the children begin. */
TEST_WITH(several_children, setup, teardown)
{
	recording_add_task(&rec, 100, "a{b{F{}}F{}c{F{}}}", 1000);
	add_forked_task(101, 100, "3)Fe{})b", 1025);
	add_forked_task(102, 100, "2)Fe{})a", 1065);
	add_forked_task(103, 100, "3)Fe{})c", 1095);
	check("b", "100:b{fork{}} 101:}?e{}}?");
}

TEST_WITH(several_children_of_another_function, setup, teardown)
{
	recording_add_task(&rec, 100, "a{b{F{}}F{}c{F{}}}", 1000);
	add_forked_task(101, 100, "3)Fe{})b", 1025);
	add_forked_task(102, 100, "2)Fe{})a", 1065);
	add_forked_task(103, 100, "3)Fe{})c", 1095);
	check("c", "100:c{fork{}} 103:}?e{}}?");
}

/*
 * A child of a child begins within the calls of its parent and of its grandparent. Each child has
 * a smaller number than its parent.
 */
TEST_WITH(children_of_children, setup, teardown)
{
	recording_add_task(&rec, 100, "b{F{}}", 1000);
	add_forked_task(99, 100, "2)Fc{F{}})b", 1015);
	add_forked_task(98, 99, "3)Fd{})c", 1045);
	check("b", "98:}?d{}}? 99:}?c{fork{}}}? 100:b{fork{}}");
}

/*
 * A child begins with the state that its parent had in the last call of fork(2), even if the child
 * begins after that call has returned. Without a call of fork(2) the parent's present state counts.
 */
TEST_WITH(a_child_that_begins_late, setup, teardown)
{
	recording_add_task(&rec, 100, "b{F{}}c{d{}}", 1000);
	add_forked_task(101, 100, "2)Fe{})b", 1045);
	check("b", "100:b{fork{}} 101:}?e{}}?");
}

TEST_WITH(a_child_without_a_fork, setup, teardown)
{
	recording_add_task(&rec, 100, "a{b{ d{}}c{}}", 1000);
	add_forked_task(101, 100, "2e{})b", 1025);
	add_forked_task(102, 100, "1e{})a", 2045);
	check("b", "100:b{d{}} 101:e{}}?");
}

/* A child without records of its own, and one of an unknown parent, do not matter. */
TEST_WITH(other_children, setup, teardown)
{
	recording_add_task(&rec, 100, "b{F{}}", 1000);
	add_forked_task(101, 100, "", 1012);
	add_forked_task(102, 7, "2)Fe{})b", 1015);
	add_forked_task(103, 100, "2)Fe{})b", 1016);
	check("b", "100:b{fork{}} 102:}? 103:}?e{}}?");
}

/* The parent has more records than are read at once. */
TEST_WITH(a_parent_with_many_calls, setup, teardown)
{
	char tree[1000] = "a{";

	for (int i = 0; i < 200; i++)
		strcat(tree, "c{}");
	strcat(tree, "b{F{}}}");
	recording_add_task(&rec, 100, tree, 1000);
	add_forked_task(101, 100, "3)Fe{})b", 1000 + 10 * 404);
	check("b", "100:b{fork{}} 101:}?e{}}?");
}

/* A child that begins at the time of the parent's call of fork(2) begins within that call. */
TEST_WITH(a_child_that_begins_at_once, setup, teardown)
{
	recording_add_task(&rec, 100, "b{F{}}", 1000);
	add_forked_task(101, 100, "2)Fe{})b", 1010);
	check("b", "100:b{fork{}} 101:}?e{}}?");
}

/* One call of fork(2) makes one child. A later child gets the parent's present state. */
TEST_WITH(a_child_after_the_child_of_a_call, setup, teardown)
{
	recording_add_task(&rec, 100, "b{F{}}c{d{}}", 1000);
	add_forked_task(101, 100, "2)Fe{})b", 1015);
	add_forked_task(102, 100, "1e{})c", 1045);
	check("c", "100:c{d{}} 102:e{}}?");
}

/* The calls at forks are needed by filters, if the recording is shown from its beginning. */
TEST_WITH(when_forks_are_looked_for, setup, teardown)
{
	static const struct {
		const char *tree;
		bool is_filtered;
		uint64_t start_ns;
		size_t nr_at_fork;
	} rows[] = {
		{ "2)Fe{})b", true, 0, 2 },
		{ "2)Fe{})b", false, 0, 0 },
		{ "2)Fe{})b", true, 1005, 0 },
		{ "", true, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filters filters cleanup_filters = { 0 };
		struct pipeline_config config;
		struct trace_data data;
		struct pipeline pipe;

		if (i) {
			teardown(state);
			setup(state);
		}
		recording_add_task(&rec, 100, "b{F{}}", 1000);
		add_forked_task(101, 100, rows[i].tree, 1015);
		recording_finish(&rec);
		if (rows[i].is_filtered)
			assert_int_equal(
				filters_add(&filters, SPEC_FILTER, MATCH_SIMPLE, "b", NULL), 0);
		assert_int_equal(filters_prepare(&filters, NULL), 0);
		pipeline_config_init(&config);
		config.stages.filters = &filters;
		config.range.start.is_set = rows[i].start_ns;
		config.range.start.time_ns = rows[i].start_ns;
		assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
		assert_int_equal(pipeline_open(&pipe, &data, &config, NULL), 0);
		assert_int_equal(pipe.nr_at_fork, rows[i].nr_at_fork);
		assert_int_equal(pipe.at_fork != NULL, rows[i].nr_at_fork > 0);
		if (rows[i].nr_at_fork) {
			assert_int_equal(pipe.at_fork[data_task(&data, 101)->index].nr, 2);
			assert_int_equal(pipe.at_fork[data_task(&data, 100)->index].nr, 0);
		}
		pipeline_close(&pipe);
		assert_null(pipe.at_fork);
		data_close(&data);
	}
}
