/* Begins and ends of calls in pairs, from recordings in which some are missing. */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/recording.h"
#include "utils/export/nest.h"

static struct recording rec;
static struct nest nest;
static struct strbuf out;

static int setup(void **state)
{
	recording_init(&rec);
	return 0;
}

static int teardown(void **state)
{
	recording_deinit(&rec);
	strbuf_deinit(&out);
	return 0;
}

static int show(void *self, const struct event_span *span, struct uft_err *err)
{
	struct nest_task *task = &nest.tasks[span->task->index];
	struct nest_edge edge;

	for (size_t i = 0; i < span->nr; i++) {
		while (nest_next(&nest, task, &span->events[i], &edge)) {
			if (edge.is_begin)
				strbuf_addf(&out, "%.5s{", edge.func->name);
			else
				strbuf_addf(&out, "}%.5s ", edge.func->name);
		}
	}
	return 0;
}

static const char *run(struct pipeline_config *config)
{
	struct pipeline_config plain;
	struct trace_data data;
	struct pipeline pipe;
	struct nest_edge edge;

	if (!config)
		pipeline_config_init(config = &plain);
	recording_finish(&rec);
	nest_configure(config);
	strbuf_reset(&out);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(pipeline_open(&pipe, &data, config, NULL), 0);
	assert_int_equal(nest_init(&nest, &data, NULL), 0);
	assert_int_equal(pipeline_run(&pipe, &(struct view){ show, NULL }, NULL), 0);
	strbuf_addstr(&out, "|");
	while (nest_end(&nest.tasks[0], &edge))
		strbuf_addf(&out, " }%.5s", edge.func->name);
	nest_deinit(&nest);
	pipeline_close(&pipe);
	data_close(&data);
	return strbuf_str(&out);
}

TEST_WITH(plain_calls, setup, teardown)
{
	recording_add_task(&rec, 100, "a{b{}c{", 1000);
	assert_string_equal(run(NULL), "a{b{}b c{| }c }a");
}

TEST_WITH(begun_inside, setup, teardown)
{
	struct pipeline_config config;

	pipeline_config_init(&config);
	config.range.start = (struct range_edge){ .time_ns = 1020, .is_set = true };
	recording_add_task(&rec, 100, "a{b{c{}}d{}}", 1000);
	assert_string_equal(run(&config), "c{}c d{}d |");
}

/* After a loss, calls are at the depth of their records. Deeper calls have ended. */
TEST_WITH(lost_ends, setup, teardown)
{
	recording_add_task(&rec, 100, "a{b{c{!", 1000);
	assert_string_equal(run(NULL), "a{b{c{| }c }b }a");
}

/* The clocks of program and kernel differ: b ends while the task still seems to wait. */
TEST_WITH(wait_across_an_end, setup, teardown)
{
	struct strbuf perf cleanup_strbuf = { 0 };

	recording_add_task(&rec, 100, "a{b{}c{}}", 1000);
	perf_add_sched(&perf, 'o', 100, 1015);
	perf_add_sched(&perf, 'i', 100, 1025);
	recording_add_file(&rec, "perf-cpu0.dat", perf.data, perf.len);
	assert_string_equal(run(NULL), "a{b{linux{}linux }b c{}c }a |");
}
