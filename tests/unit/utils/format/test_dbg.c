/*
 * .dbg files: round trip, truncation at each byte, lines that are skipped and lines that are
 * refused.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/base/compiler.h"
#include "utils/format/dbg.h"

static const char sample[] = "# path name: /bin/prog\n"
			     "# build-id: 0123456789abcdef\n"
			     "E: enum color {RED,GREEN=4}\n"
			     "# S: pt 8 x@0/i4,y@4/i4\n"
			     "F: 1149 main\n"
			     "L: 12 src/main.c\n"
			     "# I: 14\tns::small\tsrc/main.c\n"
			     "# I: 0\tother\t\n"
			     "R: @retval\n"
			     "F: 2000 ns::f\n"
			     "A: @arg1/s%rdi,arg2/t8:pt%rsi\n"
			     "R: @retval/e:color\n"
			     "# T: ,pt;\n"
			     "F: 3000 nothing\n";

TEST(round_trip)
{
	struct dbg dbg cleanup_dbg = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };

	assert_int_equal(dbg_decode(sample, strlen(sample), &dbg, NULL), 0);
	assert_string_equal(dbg.path, "/bin/prog");
	assert_string_equal(dbg.build_id, "0123456789abcdef");
	assert_int_equal(dbg.nr_enums, 1);
	assert_int_equal(dbg.nr_structs, 1);
	assert_string_equal(dbg.structs[0], "pt 8 x@0/i4,y@4/i4");
	assert_string_equal(dbg_find(&dbg, 0x2000)->structs, ",pt;");
	assert_int_equal(dbg.nr_funcs, 3);

	const struct dbg_func *main_func = dbg_find(&dbg, 0x1149);

	assert_non_null(main_func);
	assert_string_equal(main_func->file, "src/main.c");
	assert_int_equal(main_func->line, 12);
	assert_null(main_func->args);
	assert_int_equal(main_func->nr_inlined, 2);
	assert_string_equal(dbg.inlined[main_func->first_inlined].name, "ns::small");
	assert_int_equal(dbg.inlined[main_func->first_inlined].line, 14);
	assert_null(dbg.inlined[main_func->first_inlined + 1].file);
	assert_string_equal(main_func->retval, "retval");
	assert_string_equal(dbg_find(&dbg, 0x2000)->args, "arg1/s%rdi,arg2/t8:pt%rsi");
	assert_null(dbg_find(&dbg, 0x3000)->file);
	assert_null(dbg_find(&dbg, 0x2001));
	dbg_encode(&dbg, &out);
	assert_string_equal(strbuf_str(&out), sample);
}

TEST(truncated)
{
	for (size_t len = 0; len < strlen(sample); len++) {
		struct dbg dbg cleanup_dbg = { 0 };
		char *text = exact_copy(sample, len);

		/* A recorder that was killed may leave half of the last line. */
		assert_int_equal(dbg_decode(text, len, &dbg, NULL), 0);
		free(text);
		for (size_t i = 0; i < dbg.nr_funcs; i++)
			assert_non_null(dbg_find(&dbg, dbg.funcs[i].addr));
	}
}

TEST(skipped_and_sorted)
{
	static const char text[] = "A: @arg1\n\nQ: whatever\nF: 20 b\nX: 1\nF: 10 a\n";
	struct dbg dbg cleanup_dbg = { 0 };

	assert_int_equal(dbg_decode(text, strlen(text), &dbg, NULL), 0);
	assert_int_equal(dbg.nr_funcs, 2);
	assert_string_equal(dbg.funcs[0].name, "a");
	assert_null(dbg.path);
}

TEST(refused)
{
	static const char *const bad[] = { "F: main\n",
					   "F: 12\n",
					   "F: xyz main\n",
					   "F: 1 a\nL: x y\n",
					   "F: 1 a\nL: 99999999999 y\n",
					   "F: 1 a\nL: 3\n",
					   "F: 1 a\n# I: x\ty\tz\n",
					   "F: 1 a\n# I: 3\ty\n" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct dbg dbg cleanup_dbg = { 0 };
		struct uft_err err = { 0 };
		/* The wrong line is the last one. */
		const char *expected = strchr(bad[i], '\n')[1] ? "line 2: " : "line 1: ";

		assert_int_equal(dbg_decode(bad[i], strlen(bad[i]), &dbg, &err), -EINVAL);
		assert_non_null(strstr(err.text, expected));
		assert_int_equal(dbg.nr_funcs, 0);
	}
}

/* The largest number of a line is accepted. A larger one is refused, not cut to 32 bits. */
TEST(lines_of_inlined_calls)
{
	static const char largest[] = "F: 1 a\n# I: 4294967295\ty\tz\n";
	static const char too_large[] = "F: 1 a\n# I: 4294967296\ty\tz\n";
	struct dbg dbg cleanup_dbg = { 0 };

	assert_int_equal(dbg_decode(largest, strlen(largest), &dbg, NULL), 0);
	assert_int_equal(dbg.nr_inlined, 1);
	assert_int_equal(dbg.inlined[0].line, UINT32_MAX);
	dbg_deinit(&dbg);
	assert_int_equal(dbg_decode(too_large, strlen(too_large), &dbg, NULL), -EINVAL);
}

/*
 * dbg_add_func() ignores the inlined calls that its argument states. A function gets the calls that
 * are added after it.
 */
TEST(added_one_by_one)
{
	struct dbg dbg cleanup_dbg = { 0 };
	const struct dbg_func func = {
		.addr = 0x10, .name = "a", .nr_inlined = 7, .first_inlined = 9
	};
	const struct dbg_inline call = { .name = "b", .line = 3 };

	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(dbg_add_func(&dbg, &func), 0);
		for (size_t k = 0; k < i; k++)
			assert_int_equal(dbg_add_inline(&dbg, &call), 0);
	}
	assert_int_equal(dbg_add_enum(&dbg, "enum e {A}"), 0);
	assert_int_equal(dbg_add_struct(&dbg, "s 4 x@0/i4"), 0);
	assert_int_equal(dbg.nr_funcs, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(dbg.funcs[i].nr_inlined, i);
		assert_int_equal(dbg.funcs[i].first_inlined, i ? i - 1 : 0);
	}
	assert_int_equal(dbg.nr_inlined, 3);
	assert_int_equal(dbg.nr_enums, 1);
	assert_int_equal(dbg.nr_structs, 1);
}

/* A damaged or unusual line, and what it leaves: "NAME:LINE:FILE:ARGS:RETVAL:STRUCTS" */
TEST(lines_of_functions)
{
	static const struct {
		const char *text;
		int ret;
		const char *expected;
	} rows[] = {
		{ "F: 1 a\n", 0, "a:0:-:-:-:-" },
		{ "F: 1 \n", 0, ":0:-:-:-:-" },
		{ "F: 1 a b\n", 0, "a b:0:-:-:-:-" },
		{ "F: 1 a", 0, "a:0:-:-:-:-" },
		{ "F: 1 a\nL: 4294967295 f\n", 0, "a:4294967295:f:-:-:-" },
		{ "F: 1 a\nL: 4294967296 f\n", -EINVAL, NULL },
		{ "F: 1 a\nL: 0 \n", 0, "a:0::-:-:-" },
		{ "F: 1 a\nL: 1\tf\n", -EINVAL, NULL },
		/* A line without its end may be half a line. */
		{ "F: 1 a\nL: 4294967296 f", 0, "a:0:-:-:-:-" },
		{ "F: 1 a\nF: ", 0, "a:0:-:-:-:-" },
		{ "F: 1 a\nA: @\nR: @\n# T: \n", 0, "a:0:-:::" },
		{ "F: 1 a\nA: x\nR: x\n#T: x\nL:1 x\n", 0, "a:0:-:-:-:-" },
		{ "F: 1 a\nA: @x\nA: @y\n", 0, "a:0:-:y:-:-" },
		/* Lines before the first function belong to none. */
		{ "L: x\nA: @x\nR: @x\n# T: x\n# I: x\nF: 1 a\n", 0, "a:0:-:-:-:-" },
		{ "F: ffffffffffffffff a\n", 0, "a:0:-:-:-:-" },
		{ "F: 10000000000000000 a\n", -EINVAL, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dbg dbg cleanup_dbg = { 0 };
		struct strbuf out cleanup_strbuf = { 0 };
		char *text = exact_copy(rows[i].text, strlen(rows[i].text));
		int ret = dbg_decode(text, strlen(rows[i].text), &dbg, NULL);

		free(text);
		assert_int_equal(ret, rows[i].ret);
		if (ret < 0) {
			assert_null(dbg.text);
			assert_int_equal(dbg.nr_funcs, 0);
			continue;
		}

		const struct dbg_func *func = &dbg.funcs[0];

		assert_int_equal(dbg.nr_funcs, 1);
		strbuf_addf(&out, "%s:%u:%s:%s:%s:%s", func->name, func->line, func->file ?: "-",
			    func->args ?: "-", func->retval ?: "-", func->structs ?: "-");
		assert_string_equal(strbuf_str(&out), rows[i].expected);
	}
}

/* A name may have a newline. It is escaped, so that it stays in its line. */
TEST(names_in_one_line)
{
	struct dbg dbg cleanup_dbg = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };
	const struct dbg_func func = { .addr = 0xab, .name = "a\nF: 1 b", .line = 7 };
	const struct dbg_inline call = { .name = "c\n", .line = 3 };

	assert_int_equal(dbg_add_func(&dbg, &func), 0);
	assert_int_equal(dbg_add_inline(&dbg, &call), 0);
	dbg_encode(&dbg, &out);
	/* Without a file, the number of the line is not written. */
	assert_string_equal(strbuf_str(&out), "F: ab a\\012F: 1 b\n# I: 3\tc\\012\t\n");
}
