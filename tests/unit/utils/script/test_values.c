/* Values of arguments, as scripts get them. */
#include "tests/unit/lib/unit.h"

#include <math.h>

#include "tests/unit/lib/read/recording.h"
#include "utils/format/bytes.h"
#include "utils/script/values.h"
#include "utils/pipeline/recording/data.h"

static struct recording rec;
static struct trace_data data;
static struct script_values values;

static const char syms[] = "# path name: /x/prog\n"
			   "1000 10 T f\n";

static int setup(void **state)
{
	recording_init(&rec);
	recording_add_task(&rec, 100, "a{}", 1000);
	recording_finish(&rec);
	recording_add_file(&rec, "prog.sym", syms, strlen(syms));
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	return 0;
}

static int teardown(void **state)
{
	script_values_deinit(&values);
	data_close(&data);
	recording_deinit(&rec);
	return 0;
}

/* Returns the value of an argument that was recorded by @spec, with these bytes. */
static const struct script_value *read_one(const char *spec, const void *bytes, size_t len)
{
	struct strbuf rule cleanup_strbuf = { 0 };
	uint64_t until_ns;
	struct addr_space *space = session_space(data.sessions[0], 0, 1000, &until_ns);
	struct event event = {
		.type = EVENT_ENTRY,
		.func = space_func(space, 0x401000, NULL),
		.data = bytes,
		.data_len = len,
	};

	strbuf_addf(&rule, "f@%s", spec);
	arg_book_close(&data.args);
	data.args = (struct arg_book){ 0 };
	free(data.info.argspec);
	data.info.argspec = strdup(strbuf_str(&rule));
	assert_int_equal(arg_book_open(&data.args, &data, NULL), 0);
	assert_true(script_values_read(&values, &data, &event));
	assert_int_equal(values.nr, 1);
	return &values.values[0];
}

static void expect_int(const char *spec, uint64_t bits, size_t len, enum script_value_kind kind,
		       int64_t number)
{
	const struct script_value *value = read_one(spec, &bits, len);

	assert_int_equal(value->kind, kind);
	assert_int_equal(value->i, number);
}

/* An integer has the sign of its type. */
TEST(integers)
{
	expect_int("arg1/i32", 0xfffffffd, 4, SCRIPT_SIGNED, -3);
	expect_int("arg1/i64", -3, 8, SCRIPT_SIGNED, -3);
	expect_int("arg1/i8", 0x80, 4, SCRIPT_SIGNED, -128);
	expect_int("arg1/u32", 0xfffffffd, 4, SCRIPT_UNSIGNED, 0xfffffffd);
	expect_int("arg1/u64", -3, 8, SCRIPT_UNSIGNED, -3);
	expect_int("arg1/x64", 1ULL << 63, 8, SCRIPT_UNSIGNED, INT64_MIN);
	expect_int("arg1/p", 0x1000, 8, SCRIPT_UNSIGNED, 0x1000);
	expect_int("arg1", 0xfffffffd, 8, SCRIPT_SIGNED, -3);
	expect_int("arg1", 0xf0000000, 8, SCRIPT_SIGNED, 0xf0000000);
	expect_int("arg1/d32", 0xfffffffd, 4, SCRIPT_SIGNED, -3);
	expect_int("arg1/e:colour", 0xfffffffd, 8, SCRIPT_SIGNED, -3);
}

static void expect_text(const char *spec, const void *bytes, size_t len, const char *text)
{
	const struct script_value *value = read_one(spec, bytes, len);

	assert_int_equal(value->kind, SCRIPT_TEXT);
	assert_int_equal(value->len, strlen(text));
	assert_memory_equal(value->text, text, value->len);
}

TEST(texts)
{
	expect_text("arg1/s", "\2\0ab", 4, "ab");
	expect_text("arg1/s", "\0\0\0\0", 4, "");
	expect_text("arg1/s", "\4\0\xff\xff\xff\xff\0\0", 8, "NULL");
	expect_text("arg1/c", "x\0\0\0", 4, "x");
	expect_text("arg1/c", "\0\0\0\0", 4, "");
	expect_text("arg1/t8:pair", "12345678", 8, "struct: pair{}");
}

static void expect_float(const char *spec, const void *bytes, size_t len, double number)
{
	const struct script_value *value = read_one(spec, bytes, len);

	assert_int_equal(value->kind, SCRIPT_FLOAT);
	assert_true(value->f == number);
}

TEST(floats)
{
	const float narrow = -1.5;
	const double wide = 0.1;
	/*
	 * The format of the x87: the fraction with its leading one, then the exponent, in which
	 * 16383 means 2^0.
	 */
	const uint8_t extended[12] = { 0, 0, 0, 0, 0, 0, 0, 0xc0, 0x00, 0xc0 };
	const uint8_t infinite[12] = { 0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x7f };

	expect_float("fparg1/32", &narrow, 4, -1.5);
	expect_float("fparg1/64", &wide, 8, 0.1);
	expect_float("fparg1/80", extended, 12, -3);
	expect_float("fparg1/80", infinite, 12, INFINITY);
}

/* An event without a payload has no values. */
TEST(nothing)
{
	const struct event event = { .type = EVENT_ENTRY };

	assert_false(script_values_read(&values, &data, &event));
}

TEST_GROUP(setup, teardown)
