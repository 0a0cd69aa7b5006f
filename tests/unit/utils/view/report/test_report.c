/* The table of report, for recordings made of strings. */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/shown.h"
#include "utils/base/optparse.h"
#include "utils/format/record.h"
#include "utils/view/report/report.h"

static struct shown shown;
static struct report_config config;

static int setup(void **state)
{
	shown_init(&shown);
	config = (struct report_config){ 0 };
	return 0;
}

static int teardown(void **state)
{
	shown_deinit(&shown);
	return 0;
}

static const char *run(void)
{
	struct aggregate agg;
	struct report view;

	assert_int_equal(report_init(&view, &config, NULL), 0);
	report_configure(&view, &shown.stages);
	shown_begin(&shown);
	assert_int_equal(aggregate_init(&agg, &shown.pipe, NULL), 0);
	report_prepare(&view, &agg);
	shown_run(&shown, aggregate_events, &agg);
	assert_int_equal(report_show(&view, &agg, &shown.sink, NULL), 0);
	aggregate_deinit(&agg);
	return shown_end(&shown);
}

TEST_WITH(by_function, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{b{}c{d{}}b{}}", 1000);
	assert_string_equal(run(), "  Total time   Self time       Calls  Function\n"
				   "  ==========  ==========  ==========  ====================\n"
				   "    0.090 us    0.040 us           1  a\n"
				   "    0.030 us    0.020 us           1  c\n"
				   "    0.020 us    0.020 us           2  b\n"
				   "    0.010 us    0.010 us           1  d\n");
	config.sort_keys = "call,func";
	assert_non_null(strstr(run(), "  b\n    0.090 us    0.040 us           1  a\n"));
	config.fields = "none";
	config.sort_keys = "func";
	assert_string_equal(run(), "  a\n  b\n  c\n  d\n");
}

TEST_WITH(recursion_counts_once, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{a{a{}}b{a{}}}", 1000);
	assert_non_null(strstr(run(), "    0.090 us    0.070 us           4  a\n"));
}

TEST_WITH(unfinished_calls_count, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{b{}c{", 1000);
	assert_non_null(strstr(run(), "    0.030 us    0.020 us           1  a\n"));
	assert_non_null(strstr(run(), "                                   1  c\n"));
}

/* Adds a task with @entries nested calls of "a", of which @exits return. */
static void add_deep_task(uint64_t entries, uint64_t exits)
{
	const uint64_t addr = 0x401004;
	struct strbuf records cleanup_strbuf = { 0 };
	struct record r = { .time_ns = 1000 };

	recording_add_task(&shown.rec, 100, "", 1000);
	for (uint64_t i = 0; i < entries + exits; i++) {
		uint64_t depth = i < entries ? i : 2 * entries - 1 - i;

		r.data = record_data(i < entries ? RECORD_ENTRY : RECORD_EXIT, depth, addr);
		strbuf_add(&records, &r, sizeof(r));
		r.time_ns += 10;
	}
	recording_add_file(&shown.rec, "100.dat", records.data, records.len);
}

/*
 * Calls count even if their depth does not fit into 16 bits. Recursion is fast, too: the end of a
 * call does not search all open calls.
 */
TEST_WITH(deep_recursion, setup, teardown)
{
	add_deep_task(200000, 200000);
	assert_non_null(strstr(run(), "    3.999 ms    3.999 ms      200000  a\n"));
	add_deep_task(200000, 0);
	assert_non_null(strstr(run(), "    1.999 ms    1.999 ms      200000  a\n"));
}

TEST_WITH(details, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{}a{ }", 1000);
	config.average = REPORT_AVERAGE_TOTAL;
	assert_string_equal(
		run(), "   Total avg   Total min   Total max  Total stdv  Function\n"
		       "  ==========  ==========  ==========  ==========  ====================\n"
		       "    0.510 us    0.010 us    1.010 us      69.32%  a\n");
	config.average = REPORT_AVERAGE_NONE;
	config.fields = "size,total-max-ts";
	assert_string_equal(run(), "        Size        Total max ts  Function\n"
				   "  ==========  ==================  ====================\n"
				   "          64         0.000001020  a\n");
}

TEST_WITH(comma_separated, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{b{}}", 1000);
	config.format = REPORT_CSV;
	assert_string_equal(run(), "#Total time,Self time,Calls,Function\n"
				   "30,20,1,a\n"
				   "10,10,1,b\n");
}

TEST_WITH(by_task, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{b{}}", 1000);
	recording_add_task(&shown.rec, 101, "a{b{}b{}}", 1000);
	config.is_by_task = true;
	assert_string_equal(run(),
			    "  Total time   Self time    TID     Num funcs  Task name\n"
			    "  ==========  ==========  =======  ==========  ====================\n"
			    "    0.050 us    0.050 us      101           3  prog            \n"
			    "    0.030 us    0.030 us      100           2  prog            \n");
}

TEST_WITH(self_time_of_tasks, setup, teardown)
{
	struct strbuf perf cleanup_strbuf = { 0 };

	/* The self time of a task does not include the times when it waits or is pre-empted. */
	recording_add_task(&shown.rec, 100, "a{ b{ }}", 1000);
	perf_add_sched(&perf, 'o', 100, 1300);
	perf_add_sched(&perf, 'i', 100, 1400);
	perf_add_sched(&perf, 'p', 100, 2500);
	perf_add_sched(&perf, 'i', 100, 2700);
	recording_add_file(&shown.rec, "perf-cpu0.dat", perf.data, perf.len);
	config.is_by_task = true;
	assert_string_equal(run(),
			    "  Total time   Self time    TID     Num funcs  Task name\n"
			    "  ==========  ==========  =======  ==========  ====================\n"
			    "    2.030 us    1.730 us      100           4  prog            \n");
}

/* Add "a" and "b" on CPU 1, and after them "c" on CPU 3. */
static void add_two_processors(void)
{
	struct strbuf perf cleanup_strbuf = { 0 };

	recording_add_task(&shown.rec, 100, "a{b{} c{ }}", 1000);
	perf_add_sched(&perf, 'i', 100, 900);
	perf_add_sched(&perf, 'o', 100, 1400);
	recording_add_file(&shown.rec, "perf-cpu1.dat", perf.data, perf.len);
	strbuf_reset(&perf);
	perf_add_sched(&perf, 'i', 100, 1600);
	recording_add_file(&shown.rec, "perf-cpu3.dat", perf.data, perf.len);
	config.fields = "cpu-count,cpu-mask,cpu-list";
}

TEST_WITH(processors, setup, teardown)
{
	add_two_processors();
	config.sort_keys = "func";
	assert_string_equal(run(), "  CPU Count  CPU MASK  CPU LIST  Function\n"
				   "  =========  ========  ========  ====================\n"
				   "      2      0000000a    1/3     a\n"
				   "      1      00000002     1      b\n"
				   "      1      00000008     3      c\n"
				   "      2      0000000a    1/3     linux:schedule\n");
}

TEST_WITH(processors_are_text_in_json, setup, teardown)
{
	add_two_processors();
	config.format = REPORT_JSON;
	config.sort_keys = "func";
	assert_non_null(strstr(run(), "{\"name\":\"b\",\"cpu-count\":1,\"cpu-mask\":\"00000002\","
				      "\"cpu-list\":\"1\"}"));
}

#define CPU_HEADING                                   \
	"  CPU Count  CPU MASK  CPU LIST  Function\n" \
	"  =========  ========  ========  ====================\n"

/* Events of the scheduler that are not shown still tell the CPU of a task. */
TEST_WITH(processors_of_what_is_left, setup, teardown)
{
	struct filters filters cleanup_filters = { 0 };

	assert_int_equal(filters_add(&filters, SPEC_FILTER, MATCH_REGEX, "^c$", NULL), 0);
	assert_int_equal(filters_prepare(&filters, NULL), 0);
	add_two_processors();
	shown.stages.stages.filters = &filters;
	shown.stages.stages.actions = TRIGGER_FILTER;
	assert_string_equal(run(), CPU_HEADING "      1      00000008     3      c\n");
}

TEST_WITH(processors_of_the_first_level, setup, teardown)
{
	add_two_processors();
	shown.stages.stages.depth = 1;
	assert_string_equal(run(), CPU_HEADING "      2      0000000a    1/3     a\n");
}

TEST_WITH(wrong_words, setup, teardown)
{
	struct report view;
	struct uft_err err = { 0 };

	config.fields = "total,bogus";
	assert_int_equal(report_init(&view, &config, &err), -ERR_USAGE);
	assert_non_null(strstr(err.text, "'bogus'"));
	config.fields = NULL;
	config.sort_keys = "bogus";
	err_clear(&err);
	assert_true(report_init(&view, &config, &err) < 0);
	assert_non_null(strstr(err.text, "'bogus'"));
}
