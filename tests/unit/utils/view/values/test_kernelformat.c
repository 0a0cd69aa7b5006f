/* Format files: those that kernels write are accepted. Any error in them is refused. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/view/values/kernelformat.h"

#define HEAD                                                                     \
	"name: x\nID: 7\nformat:\n"                                              \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n" \
	"\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n"                        \
	"\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n"      \
	"\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n\n"

/* Returns 'r' when the format is refused, 'f' when only its fields are read, 'p' when all is. */
static char judge(const char *format, size_t len)
{
	struct strbuf out cleanup_strbuf = { 0 };
	bool has_print;
	char *copy cleanup_free = exact_copy(format, len);

	if (!kernelformat_clean(text_of(copy, len), &out, &has_print))
		return 'r';
	if (!has_print)
		return 'f';
	/* The format is unchanged, with a newline at its end. */
	assert_in_range(out.len, len, len + 1);
	assert_memory_equal(out.data, format, len);
	return 'p';
}

static char judge_print(const char *print)
{
	char format[4096];

	return judge(format, snprintf(format, sizeof(format), HEAD "print fmt: %s\n", print));
}

TEST(good_prints)
{
	static const char *const prints[] = {
		"\"\"",
		"\"a \\\" \" \"b\"",
		"\"%d\", REC->n",
		"\"a\nb\"",
		"\"%s %d\", __get_str(name), (REC->n)",
		"\"%lx\", REC->args[5]",
		"\"%lx\", ((unsigned long)(REC->n))",
		"\"%p\", (struct x *)REC->n",
		"\"%s\", REC->n ? __print_flags(REC->n & 0x3fUL, \"|\", { 0x1, \"A\" }) : \"none\"",
		"\"%s\", __print_flags(REC->n, \"|\", {( gfp_t)2 << 1, \"B\"}, {3, \"C\"})",
		"\"%s\", __print_symbolic(REC->n, { 0, \"#\" \"DE\" }, { -1, ((void *)0) })",
		"\"%s\", __print_hex(__get_dynamic_array(name), __get_dynamic_array_len(name))",
		"\"%s\", __print_array(__get_dynamic_array(name), REC->n / 4, 4)",
		"\"%d\", !REC->n && ~REC->n != -1 || A_CONSTANT <= 3",
		"\"%u\", (((((((1) + 1)))))) % 3",
	};

	for (size_t i = 0; i < ARRAY_SIZE(prints); i++)
		assert_int_equal(judge_print(prints[i]), 'p');
}

TEST(bad_prints)
{
	static const char *const prints[] = {
		"",
		"x",
		"\"",
		"\"a\\",
		"\"%d\" REC->n",
		"\"%d\", REC->n,",
		"\"%d\", REC->m",
		"\"%d\", REC->",
		"\"%d\", REC",
		"\"%d\", (REC->n",
		"\"%d\", REC->n)",
		"\"%d\", REC->args[REC->n]",
		"\"%d\", REC->n +",
		"\"%d\", REC->n ? 1",
		"\"%d\", jiffies_to_msecs(REC->n)",
		"\"%s\", __get_str(n)",
		"\"%s\", __get_str(\"name\")",
		"\"%s\", __print_flags(REC->n, \"|\", { 1, \"A\" }",
		"\"%s\", __print_flags(REC->n, \"|\", { 1, REC->n })",
		"\"%s\", __print_symbolic(REC->n, { 1 })",
		"\"%s\", __print_symbolic(REC->n, )",
		"\"%s\", {",
		"\"%d\", 'x'",
		"\"%d\", sizeof(int)",
	};

	for (size_t i = 0; i < ARRAY_SIZE(prints); i++)
		assert_int_equal(judge_print(prints[i]), 'f');
}

/* The library that prints formats is recursive, so too many nested terms are an error. */
TEST(deep_prints)
{
	static const char nested[] = "(!~-[{?";
	char print[2048] = "\"\", ";

	for (const char *c = nested; *c; c++) {
		memset(print + 4, *c, 1500);
		print[1504] = '\0';
		assert_int_equal(judge_print(print), 'f');
	}
	for (size_t i = 0; i < 1500; i += 2)
		memcpy(print + 4 + i, "1?", 2);
	assert_int_equal(judge_print(print), 'f');
}

TEST(bad_fields)
{
	static const char *const lines[] = {
		"\tfield:int n;\toffset:8;\tsize:4;",
		"\tfield:int n;\toffset:8;\tsize:-4;\tsigned:1;",
		"\tfield:int n;\toffset:65537;\tsize:4;\tsigned:1;",
		"\tfield:int n;\toffset:8;\tsize:4;\tsigned:2;",
		"\tfield:int n;\toffset:8;\tsize:4;\tsigned:1; ",
		"\tfield:n;\toffset:8;\tsize:4;\tsigned:1;",
		"\tfield:int n[;\toffset:8;\tsize:4;\tsigned:1;",
		"\tfield:int n];\toffset:8;\tsize:4;\tsigned:1;",
		"\tfield:int n[[1]];\toffset:8;\tsize:4;\tsigned:1;",
		"\tfield:int n[1 2];\toffset:8;\tsize:4;\tsigned:1;",
		"\tfield:int (n);\toffset:8;\tsize:4;\tsigned:1;",
		"\tfield:int 5;\toffset:8;\tsize:4;\tsigned:1;",
		"\tfield:;\toffset:8;\tsize:4;\tsigned:1;",
		" ",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char format[1024];
		int len = snprintf(format, sizeof(format),
				   "name: x\nID: 7\nformat:\n\n%s\n\nprint fmt: \"\"\n", lines[i]);

		assert_int_equal(judge(format, len), 'r');
	}
}

TEST(cut_everywhere)
{
	static const char format[] = HEAD "print fmt: \"%s %d\", __get_str(name), REC->n\n";

	for (size_t len = 0; len < sizeof(format) - 2; len++)
		assert_int_not_equal(judge(format, len), 'x');
	assert_int_equal(judge(format, sizeof(HEAD) - 1), 'r');
	assert_int_equal(judge(format, sizeof(format) - 1), 'p');
}
