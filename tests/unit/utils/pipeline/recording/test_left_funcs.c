/* Functions that a recording left out to reduce its cost, among the known functions. */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/recording.h"
#include "utils/pipeline/recording/left_funcs.h"

static struct recording rec;
static struct trace_data data;

static int setup(void **state)
{
	recording_init(&rec);
	recording_add_task(&rec, 100, "a{b{}c{}}", 1000);
	recording_finish(&rec);
	return 0;
}

static int teardown(void **state)
{
	recording_deinit(&rec);
	return 0;
}

static void read_text(struct left_funcs *left, const char *text)
{
	struct uft_err err = { 0 };

	if (text)
		recording_add_file(&rec, LEFT_OUT_NAME, text, strlen(text));
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(left_funcs_read(&data, left, &err), 0);
	assert_int_equal(err.code, 0);
}

static void end(struct left_funcs *left)
{
	left_funcs_deinit(left);
	data_close(&data);
}

/* A wrong line, or a line about an unknown module or address, does not affect other lines. */
TEST_WITH(each_line, setup, teardown)
{
	struct left_funcs left = { 0 };
	const struct left_func *found;

	read_text(&left, "function 0.000000005 700 1040 /x/prog\n"
			 "nothing that is known\n"
			 "caller 0.000000006 20 1000 /x/prog\n"
			 "function 0.000000007 1 1040 /x/other\n"
			 "function 0.000000007 1 9040 /x/prog\n"
			 "caller 0.000000008 30 1080 /x/prog\n"
			 "function 0.000000009 100 1080 /x/prog\n");
	assert_int_equal(left.nr, 4);
	found = left_funcs_find(&left, "b");
	assert_non_null(found);
	assert_int_equal(found->kind, LEFT_OUT_FUNCTION);
	assert_int_equal(found->since_ns, 5);
	assert_int_equal(found->permille, 700);
	assert_int_equal(left_funcs_find(&left, "a")->kind, LEFT_OUT_CALLER);
	/* Function c was first noted as a caller, then as left out. */
	assert_int_equal(left_funcs_find(&left, "c")->kind, LEFT_OUT_FUNCTION);
	assert_null(left_funcs_find(&left, "d"));
	end(&left);
}

TEST_WITH(nothing_was, setup, teardown)
{
	struct left_funcs left = { 0 };

	read_text(&left, NULL);
	assert_int_equal(left.nr, 0);
	assert_null(left_funcs_find(&left, "a"));
	end(&left);
	read_text(&left, "");
	assert_int_equal(left.nr, 0);
	end(&left);
}
