/* Callers and callees, in recordings made of strings. */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/recording.h"
#include "utils/view/graph/callers.h"

static struct recording rec;
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

/* Returns "a>b 2 30/10": calls, total and self time. */
static const char *run(void)
{
	struct pipeline_config config;
	struct trace_data data;
	struct pipeline pipe;
	struct tree tree;
	struct callers callers = { 0 };

	recording_finish(&rec);
	pipeline_config_init(&config);
	tree_configure(&config);
	strbuf_reset(&out);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(pipeline_open(&pipe, &data, &config, NULL), 0);
	assert_int_equal(tree_init(&tree, &pipe, NULL), 0);
	assert_int_equal(tree_run(&tree, &pipe, 1, NULL), 0);
	assert_int_equal(callers_add_up(&callers, &tree, false, NULL), 0);
	for (size_t i = 0; i < callers.nr; i++) {
		const struct call_pair *pair = &callers.pairs[i];

		strbuf_addf(&out, "%s>%s %d %d/%d\n", pair->caller ? pair->caller->name : "",
			    pair->callee->name, (int)pair->calls, (int)pair->total_ns,
			    (int)pair->self_ns);
	}
	callers_deinit(&callers);
	tree_deinit(&tree);
	pipeline_close(&pipe);
	data_close(&data);
	return strbuf_str(&out);
}

TEST_WITH(pairs_by_name, setup, teardown)
{
	recording_add_task(&rec, 100, "a{c{}b{c{}c{}}}", 1000);
	assert_string_equal(run(), ">a 1 90/30\n"
				   "a>b 1 50/30\n"
				   "a>c 1 10/10\n"
				   "b>c 2 20/20\n");
}

/* Only the time of the outermost call counts, since it includes the inner ones. */
TEST_WITH(recursion, setup, teardown)
{
	recording_add_task(&rec, 100, "a{a{b{a{}}}}", 1000);
	assert_string_equal(run(), ">a 1 70/20\n"
				   "a>a 1 0/20\n"
				   "a>b 1 30/20\n"
				   "b>a 1 0/10\n");
}
