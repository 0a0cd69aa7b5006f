/* Functions that a recording left out to reduce its cost, among the known functions. */
#include "tests/unit/lib/unit.h"

#include <sys/stat.h>
#include <unistd.h>

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

/* A function may be left out, recorded again, and left out once more. */
TEST_WITH(times_of_functions, setup, teardown)
{
	static const struct {
		uint64_t since_ns;
		uint64_t until_ns;
		enum left_out_kind kind;
	} expected[] = {
		{ 1, 4, LEFT_OUT_FUNCTION },  { 2, 3, LEFT_OUT_FUNCTION },
		{ 5, 0, LEFT_OUT_CALLER },    { 6, 8, LEFT_OUT_FUNCTION },
		{ 10, 0, LEFT_OUT_FUNCTION },
	};
	struct left_funcs left = { 0 };

	read_text(&left, "again 0.000000000 0 1040 /x/prog\n"
			 "function 0.000000001 1 1000 /x/prog\n"
			 "function 0.000000002 2 1040 /x/prog\n"
			 "again 0.000000003 0 1040 /x/prog\n"
			 "again 0.000000004 0 1000 /x/prog\n"
			 "caller 0.000000005 3 1080 /x/prog\n"
			 "function 0.000000006 4 1040 /x/prog\n"
			 "again 0.000000007 0 1080 /x/prog\n"
			 "again 0.000000008 0 1040 /x/prog\n"
			 "again 0.000000009 0 10c0 /x/prog\n"
			 "function 0.000000010 5 1000 /x/prog");
	assert_int_equal(left.nr, ARRAY_SIZE(expected));
	for (size_t i = 0; i < left.nr; i++) {
		assert_int_equal(left.all[i].since_ns, expected[i].since_ns);
		assert_int_equal(left.all[i].until_ns, expected[i].until_ns);
		assert_int_equal(left.all[i].kind, expected[i].kind);
		assert_int_equal(left.all[i].permille, i + 1);
	}
	/* The first one of several entries of one kind is found. */
	assert_ptr_equal(left_funcs_find(&left, "a"), &left.all[0]);
	assert_ptr_equal(left_funcs_find(&left, "b"), &left.all[1]);
	assert_ptr_equal(left_funcs_find(&left, "c"), &left.all[2]);
	assert_null(left_funcs_find(&left, "d"));
	end(&left);
	assert_null(left.all);
	assert_int_equal(left.nr, 0);
}

/* A file that cannot be read is an error, unlike one that does not exist. */
TEST_WITH(a_file_that_cannot_be_read, setup, teardown)
{
	struct left_funcs left = { 0 };
	struct uft_err err = { 0 };
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", rec.dir, LEFT_OUT_NAME);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_true(left_funcs_read(&data, &left, &err) < 0);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(rmdir(path), 0);
	end(&left);
}
