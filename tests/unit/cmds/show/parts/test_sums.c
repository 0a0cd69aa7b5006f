/* cmds/show/parts/sums.c: sums of a recording; another thread may stop their computation. */
#include <errno.h>

#include "cmds/show/parts/answers.h"
#include "tests/unit/lib/read/recording.h"
#include "tests/unit/lib/unit.h"

static struct recording rec;
static struct trace_data data;
static struct strbuf out;
static struct sums_stop stop;
static const struct opts opts = { .trace_on = true, .depth = OPTS_DEFAULT_DEPTH };
static const struct sums_source source = { .opts = &opts, .data = &data, .stop = &stop };

static int setup(void **state)
{
	recording_init(&rec);
	recording_add_task(&rec, 100, "a{b{}b{}}", 1000);
	recording_finish(&rec);
	out = (struct strbuf){ 0 };
	stop = (struct sums_stop){ .lock = PTHREAD_MUTEX_INITIALIZER };
	return data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL);
}

static int teardown(void **state)
{
	data_close(&data);
	strbuf_deinit(&out);
	pthread_mutex_destroy(&stop.lock);
	recording_deinit(&rec);
	return 0;
}

TEST_WITH(functions_and_tree, setup, teardown)
{
	const struct part_range all = { 0 }, end = { 1035, 1050, true };

	assert_int_equal(answer_functions(&source, &all, &out, NULL), 0);
	assert_string_equal(
		strbuf_str(&out),
		"[{\"name\":\"a\",\"calls\":1,\"total\":50,\"self\":30,\"longest\":50},\n"
		"{\"name\":\"b\",\"calls\":2,\"total\":20,\"self\":20,\"longest\":10}]\n");
	strbuf_reset(&out);
	assert_int_equal(answer_tree(&source, &all, NULL, &out, NULL), 0);
	assert_string_equal(strbuf_str(&out), "[[0,\"a\",1,50],\n[1,\"b\",2,20]]\n");
	strbuf_reset(&out);
	assert_int_equal(answer_tree(&source, &end, "b", &out, NULL), 0);
	assert_non_null(strstr(strbuf_str(&out), "\"callers\":[{\"name\":\"a\",\"calls\":1,"));
	assert_null(stop.pipe);
}

/* A pipeline that is reading is told to stop. A request that comes later reads nothing. */
TEST_WITH(stopped, setup, teardown)
{
	const struct part_range all = { 0 };
	struct pipeline reading = { 0 };
	struct uft_err err = { 0 };

	stop.pipe = &reading;
	sums_stop(&stop, true);
	assert_true(atomic_load(&reading.is_stopped));
	assert_int_equal(answer_functions(&source, &all, &out, &err), -ECANCELED);
	assert_string_equal(err.text, "utrail show ends");
	assert_int_equal(answer_tree(&source, &all, NULL, &out, &err), -ECANCELED);
	assert_int_equal(answer_tree(&source, &all, "b", &out, &err), -ECANCELED);
	assert_null(stop.pipe);
	assert_int_equal(out.len, 0);
}

/* A client that leaves ends the sum that is made for it, but no later sum. */
TEST_WITH(left, setup, teardown)
{
	const struct part_range all = { 0 };
	struct pipeline reading = { 0 };
	struct uft_err err = { 0 };

	stop.pipe = &reading;
	sums_stop(&stop, false);
	assert_true(atomic_load(&reading.is_stopped));
	assert_int_equal(answer_functions(&source, &all, &out, &err), -ECANCELED);
	assert_string_equal(err.text, "the asker has left");
	assert_null(stop.pipe);
	sums_begin(&stop);
	assert_int_equal(answer_functions(&source, &all, &out, &err), 0);
}

TEST_WITH(progress, setup, teardown)
{
	struct pipeline_config config = { 0 };
	struct pipeline pipe = { 0 };

	assert_true(sums_progress(&stop) == -1);
	assert_int_equal(pipeline_open(&pipe, &data, &config, NULL), 0);
	stop.pipe = &pipe;
	assert_true(sums_progress(&stop) == 0);
	atomic_store(&pipe.read_bytes, pipeline_bytes(&pipe) / 2);
	assert_true(sums_progress(&stop) == 0.5);
	/* Files may have grown since their sizes were read. */
	atomic_store(&pipe.read_bytes, pipeline_bytes(&pipe) * 3);
	assert_true(sums_progress(&stop) == 1);
	stop.pipe = NULL;
	pipeline_close(&pipe);
}
