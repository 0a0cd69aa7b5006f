/*
 * Argument specifications: the meaning of each accepted form, and the place of the error in each
 * refused one.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "arch/isa.h"
#include "utils/base/compiler.h"
#include "utils/spec/args/argspec.h"

static void put_type(const struct argspec *spec, struct strbuf *out)
{
	static const char *const kinds[] = { "int", "float", "retval" };

	strbuf_addf(out, "%s format %u size %u", kinds[spec->kind], spec->type.format,
		    spec->type.size);
	if (spec->name)
		strbuf_addf(out, " name %s", spec->name);
}

static void put_place(const struct argspec *spec, struct strbuf *out)
{
	if (spec->place == ARG_IN_ORDER && spec->kind != ARG_KIND_RETVAL)
		strbuf_addf(out, " number %u", spec->index);
	if (spec->place == ARG_ON_STACK)
		strbuf_addf(out, " stack %u", spec->index);
	for (size_t i = 0; i < spec->nr_regs; i++)
		strbuf_addf(out, " %s", isa_reg_name(spec->regs[i]));
}

static const struct {
	const char *text;
	const char *means;
	const char *written; /* its text form; NULL: the same as @text */
} good[] = {
	{ "arg1", "int format 0 size 8 number 1" },
	{ "arg12", "int format 0 size 8 number 12" },
	{ "ARG3", "int format 0 size 8 number 3", "arg3" },
	{ "arg1/d", "int format 0 size 8 number 1", "arg1" },
	{ "arg1/d32", "int format 0 size 4 number 1" },
	{ "arg1/i", "int format 1 size 8 number 1" },
	{ "arg1/i8", "int format 1 size 1 number 1" },
	{ "arg1/i64", "int format 1 size 8 number 1", "arg1/i" },
	{ "arg1/u16", "int format 2 size 2 number 1" },
	{ "arg1/x", "int format 3 size 8 number 1" },
	{ "arg1/o32", "int format 4 size 4 number 1" },
	{ "arg2/s", "int format 5 size 8 number 2" },
	{ "arg2/s32", "int format 5 size 8 number 2", "arg2/s" },
	{ "arg1/c", "int format 6 size 1 number 1" },
	{ "arg1/c8", "int format 6 size 1 number 1", "arg1/c" },
	{ "arg1/S", "int format 8 size 8 number 1" },
	{ "arg1/p", "int format 9 size 8 number 1" },
	{ "arg1/p32", "int format 9 size 4 number 1" },
	{ "arg1/f", "float format 7 size 8 number 1", "fparg1/64" },
	{ "arg1/f32", "float format 7 size 4 number 1", "fparg1/32" },
	{ "fparg2", "float format 7 size 8 number 2", "fparg2/64" },
	{ "fparg2/32", "float format 7 size 4 number 2" },
	{ "fparg1/80", "float format 7 size 10 number 1" },
	{ "fparg1/f64", "float format 7 size 8 number 1", "fparg1/64" },
	{ "fparg1/80%stack+1", "float format 7 size 10 stack 1" },
	{ "arg1/e:color", "int format 10 size 8 name color number 1" },
	{ "arg1/e:color%rdi", "int format 10 size 8 name color rdi" },
	{ "arg1/t8:pt", "int format 11 size 8 name pt number 1" },
	{ "arg1/t", "int format 11 size 0 number 1", "arg1/t0" },
	{ "arg1/t16%rdi+RSI", "int format 11 size 16 rdi rsi", "arg1/t16%rdi+rsi" },
	{ "arg1/t40:big%stack+3", "int format 11 size 40 name big stack 3" },
	{ "arg1%RDX", "int format 0 size 8 rdx", "arg1%rdx" },
	{ "arg4%stack7", "int format 0 size 8 stack 7", "arg1%stack+7" },
	{ "fparg1/32%xmm7", "float format 7 size 4 xmm7" },
	{ "retval", "retval format 0 size 8" },
	{ "retval/s", "retval format 5 size 8" },
	{ "retval/f32", "retval format 7 size 4" },
	{ "retval/f80", "retval format 7 size 10" },
	{ "retval/e:color", "retval format 10 size 8 name color" },
	{ "retval/t16:dpt", "retval format 11 size 16 name dpt" },
	{ "arg9999999", "int format 0 size 8 number 9999999" },
};

TEST(accepted)
{
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct strbuf means cleanup_strbuf = { 0 };
		struct strbuf written cleanup_strbuf = { 0 };
		const char *want = good[i].written ? good[i].written : good[i].text;
		struct argspec spec;
		struct uft_err err = { 0 };
		char *text = exact_copy(good[i].text, strlen(good[i].text));

		assert_int_equal(argspec_parse(text, strlen(good[i].text), 8, &spec, &err), 0);
		put_type(&spec, &means);
		put_place(&spec, &means);
		assert_string_equal(strbuf_str(&means), good[i].means);
		argspec_put(&spec, 8, &written);
		assert_string_equal(strbuf_str(&written), want);
		assert_true(argspec_is_item(good[i].text, strlen(good[i].text)));
		argspec_deinit(&spec);
		free(text);
	}
}

static const struct {
	const char *text;
	int column;
} bad[] = {
	{ "", 1 },
	{ "arg", 4 },
	{ "arg0", 4 },
	{ "argx", 4 },
	{ "xarg1", 1 },
	{ "fparg", 6 },
	{ "arg1/", 6 },
	{ "arg1/q", 6 },
	{ "arg1/d80", 7 },
	{ "arg1/d7", 7 },
	{ "arg1/d24", 7 },
	{ "arg1/d128", 7 },
	{ "arg1/f16", 7 },
	{ "fparg1/16", 8 },
	{ "arg1/e", 7 },
	{ "arg1/e:", 8 },
	{ "arg1/e:%rdi", 8 },
	{ "arg1/t99999999:x", 7 },
	{ "arg1%", 6 },
	{ "arg1%foo", 6 },
	{ "arg1%rdi+", 10 },
	{ "arg1%rdi+foo", 10 },
	{ "arg1%stack", 11 },
	{ "arg1%stack+0", 11 },
	{ "arg1%rdi/x", 9 },
	{ "arg1/x8z", 8 },
	{ "retvalx", 7 },
	{ "arg999999999999", 4 },
	{ "arg1%rdi+rsi+rdx+rcx+r8", 22 },
};

TEST(refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct argspec spec;
		struct uft_err err = { 0 };
		char column[32];

		assert_int_equal(argspec_parse(bad[i].text, strlen(bad[i].text), 8, &spec, &err),
				 -EINVAL);
		snprintf(column, sizeof(column), "column %d:", bad[i].column);
		if (!strstr(err.text, column))
			fail_msg("'%s': %s, expected %s", bad[i].text, err.text, column);
		if (strstr(bad[i].text, "999999999999"))
			assert_non_null(strstr(err.text, "too large"));
	}
}

static void check_list(const char *text, const char *want)
{
	struct argspecs list cleanup_argspecs = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };

	assert_int_equal(argspecs_parse(text, strlen(text), 8, &list, NULL), 0);
	for (size_t i = 0; i < list.nr; i++) {
		if (i)
			strbuf_addch(&out, ',');
		argspec_put(&list.specs[i], 8, &out);
	}
	assert_string_equal(strbuf_str(&out), want);
}

/*
 * Items have the order in which they appear. A later item about the same value replaces the earlier
 * one, as in Debian's uftrace.
 */
TEST(merged)
{
	check_list("arg2,arg1", "arg2,arg1");
	check_list("arg2,arg1,arg2/x", "arg2/x,arg1");
	check_list("arg1,fparg1,arg1/f32", "arg1,fparg1/32");
	check_list("arg1,arg1%rdi", "arg1,arg1%rdi");
	check_list("arg1%rdi,arg2/x%rdi", "arg2/x%rdi");
	check_list("arg2/s%rsi,arg3/t16%rdi+rsi", "arg3/t16%rdi+rsi");
	check_list("arg1%stack+1,arg2/x%stack1", "arg1/x%stack+1");
	check_list("retval,retval/x", "retval/x");
}

TEST(exact_wins)
{
	struct argspecs list cleanup_argspecs = { 0 };
	struct argspec exact;
	struct argspec other;

	assert_int_equal(argspec_parse("arg2/x", 6, 8, &exact, NULL), 0);
	assert_int_equal(argspec_parse("arg2/s", 6, 8, &other, NULL), 0);
	exact.is_exact = true;
	assert_int_equal(argspecs_add(&list, &exact), 0);
	assert_int_equal(argspecs_add(&list, &other), 0);
	assert_int_equal(list.nr, 1);
	assert_int_equal(list.specs[0].type.format, ARG_HEX);
}

TEST(items)
{
	static const char *const others[] = { "args",	 "argument",   "ret", "retvals",
					      "depth=1", "libargs.so", "arg" };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(argspec_is_item(others[i], strlen(others[i])));
}
