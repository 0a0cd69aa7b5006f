/* Unit tests of utils/spec/args/cond.c. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/spec/args/cond.h"

static struct cond parse_good(const char *text)
{
	struct uft_err err = { 0 };
	struct cond cond;
	size_t wrong_at;

	if (cond_parse(text, strlen(text), &cond, &wrong_at, &err) < 0)
		fail_msg("'%s': %s at %zu", text, err.text, wrong_at);
	return cond;
}

TEST(test_integers)
{
	static const struct {
		const char *text;
		uint64_t value;
		bool holds;
	} cases[] = {
		{ "arg1==5", 5, true },
		{ "arg1 == 5", 6, false },
		{ "arg1!=5", 6, true },
		{ "arg1>5", 6, true },
		{ "arg1>5", 5, false },
		{ "arg1>=5", 5, true },
		{ "arg1<5", 4, true },
		{ "arg1<-1", (uint64_t)-2, true },
		{ "arg1<0", 1, false },
		{ "arg1<=5", 6, false },
		{ "arg1&6", 2, true },
		{ "arg1&6", 8, false },
		{ "arg1==0x10", 16, true },
		{ "arg1==010", 8, true },
		{ "arg1/i32==-1", 0xffffffff, true },
		{ "arg1/u32==-1", 0xffffffff, false },
		{ "arg1/u32==4294967295", 0x1234ffffffff, true },
		{ "arg1/i8<0", 0x80, true },
		{ "arg1/u8==0x80", 0xff80, true },
		{ "arg1/x16==0xffff", 0xabcdffff, true },
		{ "arg1/c==65", 0x141, true },
		{ "arg1==18446744073709551615", UINT64_MAX, true },
		{ "arg1/d64==-9223372036854775808", 1ULL << 63, true },
		{ "ARG1==5", 5, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cond cond = parse_good(cases[i].text);
		struct cond_value value = { .type = COND_INT, .number = cases[i].value };

		assert_int_equal(cond.nr, 1);
		assert_int_equal(cond.terms[0].type, COND_INT);
		assert_int_equal(cond.terms[0].index, 1);
		if (cond_term_holds(&cond.terms[0], &value) != cases[i].holds)
			fail_msg("%s", cases[i].text);
		cond_deinit(&cond);
	}
}

TEST(test_floats)
{
	static const struct {
		const char *text;
		double value;
		bool holds;
	} cases[] = {
		{ "fparg1==1.5", 1.5, true }, { "fparg1/f32>1", 1.5, true },
		{ "fparg2<1e3", 999, true },  { "arg1/f==0.5", 0.5, true },
		{ "retval/f64>=2", 2, true }, { "retval>1.5", 1, false },
		{ "fparg1/80!=1", 1, false }, { "fparg1==1", __builtin_nan(""), false },
		{ "fparg1>1e-320", 1, true }, { "fparg1!=1", __builtin_nan(""), true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cond cond = parse_good(cases[i].text);
		struct cond_value value = { .type = COND_FLOAT, .real = cases[i].value };

		assert_int_equal(cond.terms[0].type, COND_FLOAT);
		if (cond_term_holds(&cond.terms[0], &value) != cases[i].holds)
			fail_msg("%s", cases[i].text);
		cond_deinit(&cond);
	}
}

TEST(test_strings)
{
	static const struct {
		const char *text;
		const char *value;
		bool holds;
	} cases[] = {
		{ "arg1==\"foo\"", "foo", true },
		{ "arg1==\"foo\"", "foobar", false },
		{ "arg1/s!=\"foo\"", "bar", true },
		{ "arg1^=\"foo\"", "foobar", true },
		{ "arg1^=\"foo\"", "fo", false },
		{ "arg1=~\"o.b\"", "foobar", true },
		{ "arg1=~\"^x\"", "foobar", false },
		{ "arg1=~\"oba\"", "foobar", true },
		{ "arg1==\"\"", "", true },
		{ "arg1==\"a\\\"b\"", "a\"b", true },
		{ "retval==\"x && y\"", "x && y", true },
		{ "arg2/s == \"a;b,c\"", "a;b,c", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cond cond = parse_good(cases[i].text);
		struct cond_value value = {
			.type = COND_STRING,
			.text = cases[i].value,
			.text_len = strlen(cases[i].value),
		};

		assert_int_equal(cond.nr, 1);
		assert_int_equal(cond.terms[0].type, COND_STRING);
		if (cond_term_holds(&cond.terms[0], &value) != cases[i].holds)
			fail_msg("%s", cases[i].text);
		cond_deinit(&cond);
	}
}

TEST(test_several_terms)
{
	struct cond cond = parse_good("arg1>1 && arg2<2||arg3 & 4 && retval==0");

	assert_int_equal(cond.nr, 4);
	assert_false(cond.terms[0].starts_alternative);
	assert_false(cond.terms[1].starts_alternative);
	assert_true(cond.terms[2].starts_alternative);
	assert_false(cond.terms[3].starts_alternative);
	assert_int_equal(cond.terms[1].index, 2);
	assert_int_equal(cond.terms[2].op, COND_AND);
	assert_int_equal(cond.terms[3].subject, COND_RETVAL);
	cond_deinit(&cond);
}

TEST(test_wrong)
{
	static const struct {
		const char *text;
		size_t at;
	} cases[] = {
		{ "", 0 },
		{ "foo==1", 0 },
		{ "arg==1", 0 },
		{ "arg0==1", 0 },
		{ "arg101==1", 0 },
		{ "arg1", 4 },
		{ "arg1=5", 4 },
		{ "arg1=>5", 4 },
		{ "arg1==", 6 },
		{ "arg1==x", 6 },
		{ "arg1==5x", 6 },
		{ "arg1/q==1", 4 },
		{ "arg1/i33==1", 4 },
		{ "arg1/s32==\"\"", 4 },
		{ "arg1/s==5", 8 },
		{ "arg1/i==\"a\"", 8 },
		{ "arg1>\"a\"", 5 },
		{ "arg1==\"a", 6 },
		{ "arg1^=5", 6 },
		{ "arg1=~5", 6 },
		{ "arg1=~\"[\"", 6 },
		{ "fparg1/i==1", 6 },
		{ "fparg1&1", 7 },
		{ "arg1==1 arg2==2", 8 },
		{ "arg1==1&&", 9 },
		{ "arg1==1||foo", 9 },
		{ "arg1==99999999999999999999", 6 },
		{ "arg1==1.5", 6 },
		{ "fparg1>1e999", 7 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct uft_err err = { 0 };
		struct cond cond;
		size_t wrong_at = 999;
		const char *text = cases[i].text;

		if (cond_parse(text, strlen(text), &cond, &wrong_at, &err) != -ERR_USAGE)
			fail_msg("'%s' is taken", text);
		if (wrong_at != cases[i].at)
			fail_msg("'%s': at %zu: %s", text, wrong_at, err.text);
		assert_true(err.text[0]);
		assert_null(cond.terms);
	}
}
