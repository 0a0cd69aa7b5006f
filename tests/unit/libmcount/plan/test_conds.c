/*
 * Conditions and captures of arguments, which are words of the test's own stack. The expected
 * results are computed in C.
 */
#include <float.h>
#include <math.h>

#include "libmcount/values/capture.h"
#include "libmcount/plan/conds.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

/* The return slot, and above it the caller's words. */
static uint64_t words[64];
static const struct arch_regs regs;

static bool one_holds(struct plan_cond cond)
{
	return conds_hold(&cond, 1, words, &regs);
}

static bool compare_says(uint8_t compare, bool less, bool equal)
{
	switch (compare) {
	case PLAN_EQ:
		return equal;
	case PLAN_NE:
		return !equal;
	case PLAN_GT:
		return !less && !equal;
	case PLAN_GE:
		return !less;
	case PLAN_LT:
		return less;
	default:
		return less || equal;
	}
}

static const uint64_t samples[] = { 0,		1,	    2,		0x7f,	       0x80,
				    0xff,	0x100,	    0x7fff,	0x8000,	       0xffff,
				    0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,   1ULL << 62,
				    1ULL << 63, INT64_MAX,  UINT64_MAX, UINT64_MAX - 1 };

static int64_t as_signed(uint64_t value, unsigned bytes)
{
	switch (bytes) {
	case 1:
		return (int8_t)value;
	case 2:
		return (int16_t)value;
	case 4:
		return (int32_t)value;
	default:
		return value;
	}
}

static uint64_t as_unsigned(uint64_t value, unsigned bytes)
{
	switch (bytes) {
	case 1:
		return (uint8_t)value;
	case 2:
		return (uint16_t)value;
	case 4:
		return (uint32_t)value;
	default:
		return value;
	}
}

static void check_integer(uint64_t word, uint64_t limit, unsigned bytes)
{
	struct plan_cond cond = {
		.kind = PLAN_COND_INT,
		.index = ARCH_INT_ARG_REGS + 3,
		.bytes = bytes,
		.value = limit,
	};
	int64_t s = as_signed(word, bytes);
	uint64_t u = as_unsigned(word, bytes);

	words[3] = word;
	for (cond.compare = PLAN_EQ; cond.compare <= PLAN_AND; cond.compare++) {
		bool is_and = cond.compare == PLAN_AND;

		cond.is_signed = 1;
		assert_int_equal(one_holds(cond),
				 is_and ? (s & (int64_t)limit) != 0
					: compare_says(cond.compare, s < (int64_t)limit,
						       s == (int64_t)limit));
		cond.is_signed = 0;
		assert_int_equal(one_holds(cond),
				 is_and ? (u & limit) != 0
					: compare_says(cond.compare, u < limit, u == limit));
	}
}

TEST(integers)
{
	for (unsigned bytes = 1; bytes <= 8; bytes *= 2) {
		for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
			for (size_t k = 0; k < ARRAY_SIZE(samples); k++)
				check_integer(samples[i], samples[k], bytes);
		}
	}
}

static void check_real(struct plan_cond cond, double value, double limit)
{
	memcpy(&cond.value, &limit, sizeof(limit));
	for (cond.compare = PLAN_EQ; cond.compare <= PLAN_LE; cond.compare++) {
		bool expected = isnan(value)
					? cond.compare == PLAN_NE
					: compare_says(cond.compare, value < limit, value == limit);

		assert_int_equal(one_holds(cond), expected);
	}
}

static const double reals[] = { 0.0,	  -0.0,	    1.0,       -1.0,	 1.5,	  1e30,
				-1e30,	  INFINITY, -INFINITY, NAN,	 FLT_MIN, FLT_MAX,
				0x1p-149, 0x1p-140, -0x1p-130, 0x1p-127, 3.0,	  0x1.fffffep10 };

TEST(floats_and_doubles)
{
	for (size_t i = 0; i < ARRAY_SIZE(reals); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(reals); k++) {
			struct plan_cond cond = { .kind = PLAN_COND_FLOAT,
						  .index = ARCH_FLOAT_ARG_REGS + 2 };
			float single = reals[i];

			if (isnan(reals[k]))
				continue;
			words[2] = 0x1234567800000000; /* the bytes above a float do not count */
			memcpy(&words[2], &single, sizeof(single));
			cond.bytes = sizeof(single);
			check_real(cond, single, reals[k]);
			memcpy(&words[2], &reals[i], sizeof(reals[i]));
			cond.bytes = sizeof(reals[i]);
			check_real(cond, reals[i], reals[k]);
		}
	}
}

#if __LDBL_MANT_DIG__ == 64
/* A long double is rounded to a double, as C does it. */
TEST(long_doubles)
{
	static const long double values[] = { 0.0L,
					      -0.0L,
					      1.0L,
					      -2.5L,
					      1.0L + 0x1p-53L,
					      1.0L + 0x1.8p-53L,
					      1.0L + 0x1.8p-52L,
					      1.0L + 0x1.7p-53L,
					      0x1.fffffffffffffcp0L,
					      1e300L,
					      -1e300L,
					      0x1p1023L,
					      3.14159265358979323846L };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(values); k++) {
			const struct plan_cond cond = { .kind = PLAN_COND_FLOAT,
							.index = 2,
							.bytes = 10 };

			words[4] = UINT64_MAX;
			memcpy(&words[3], &values[i], 10);
			check_real(cond, (double)values[i], (double)values[k]);
		}
	}

	/* These values are beyond the range of a double. */
	const long double large = 0x1p1024L;
	const long double small = 0x1p-1030L;
	const struct plan_cond cond = { .kind = PLAN_COND_FLOAT, .index = 2, .bytes = 10 };

	memcpy(&words[3], &large, 10);
	check_real(cond, INFINITY, DBL_MAX);
	check_real(cond, INFINITY, INFINITY);

	const long double others[] = { NAN, -(long double)NAN, INFINITY, -INFINITY };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		memcpy(&words[3], &others[i], 10);
		check_real(cond, (double)others[i], 5);
		check_real(cond, (double)others[i], -INFINITY);
	}
	memcpy(&words[3], &small, 10);
	check_real(cond, 0x1p-1074, 0.0);
	check_real(cond, 0x1p-1074, 1.0);
}
#endif

/* A call must fulfil conditions 0 and 1, or condition 2. Without registers none holds. */
TEST(alternatives)
{
	for (unsigned bits = 0; bits < 8; bits++) {
		struct plan_cond conds[3] = { 0 };

		words[3] = bits;
		for (int i = 0; i < 3; i++)
			conds[i] = (struct plan_cond){
				.kind = PLAN_COND_INT,
				.index = ARCH_INT_ARG_REGS + 3,
				.bytes = 8,
				.compare = PLAN_AND,
				.value = 1 << i,
				.starts_alternative = i == 2,
			};
		assert_int_equal(conds_hold(conds, 3, words, &regs), (bits & 3) == 3 || (bits & 4));
		assert_false(conds_hold(conds, 3, words, NULL));
	}
}

static bool text_holds(const char *text, enum plan_cond_kind kind, enum plan_compare compare,
		       const char *wanted)
{
	struct {
		struct plan_cond cond;
		char text[64];
	} c = { {
		.kind = kind,
		.index = ARCH_INT_ARG_REGS + 5,
		.compare = compare,
		.string = CAPTURE_STRING,
		.len = strlen(wanted),
	} };

	strcpy(c.text, wanted);
	words[5] = (uint64_t)text;
	return conds_hold(&c.cond, 1, words, &regs);
}

TEST(texts)
{
	static const struct {
		const char *text, *wanted;
		bool is_same, begins;
	} cases[] = {
		{ "abc", "abc", true, true },  { "abcd", "abc", false, true },
		{ "ab", "abc", false, false }, { "abd", "abc", false, false },
		{ "", "", true, true },	       { "x", "", false, true },
		{ "", "x", false, false },     { "xbc", "abc", false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(
			text_holds(cases[i].text, PLAN_COND_TEXT, PLAN_EQ, cases[i].wanted),
			cases[i].is_same);
		assert_int_equal(
			text_holds(cases[i].text, PLAN_COND_TEXT, PLAN_NE, cases[i].wanted),
			!cases[i].is_same);
		assert_int_equal(
			text_holds(cases[i].text, PLAN_COND_PREFIX, PLAN_EQ, cases[i].wanted),
			cases[i].begins);
	}
	assert_false(text_holds(NULL, PLAN_COND_TEXT, PLAN_EQ, "NULL"));
	assert_true(text_holds(NULL, PLAN_COND_TEXT, PLAN_NE, "NULL"));
	assert_false(text_holds(NULL, PLAN_COND_PREFIX, PLAN_EQ, ""));
}

/* Numbers and texts of Python's values. Argument 0 is a missing value. */
TEST(texts_of_values)
{
	static struct capture_text values[6] = {
		{ .len = 7, .text = "<unset>" },
		{ .len = 2, .text = "-3" },
		{ .len = 4, .text = "True" },
		{ .len = 3, .text = "'a'" },
		{ .len = 3, .text = "2.5", .is_real = true, .real = 0x4004000000000000 },
		{ .len = 3, .text = "nan", .is_real = true, .real = 0x7ff8000000000000 },
	};
	const struct arch_regs texts = arch_regs_of((uint64_t)values, 0, 0);
	struct {
		unsigned index;
		uint8_t compare;
		int64_t value;
		bool holds;
		uint8_t kind;
	} cases[] = {
		{ 1, PLAN_EQ, -3, true, PLAN_COND_NUMBER },
		{ 1, PLAN_LT, 0, true, PLAN_COND_NUMBER },
		{ 1, PLAN_NE, -3, false, PLAN_COND_NUMBER },
		{ 2, PLAN_EQ, 1, true, PLAN_COND_NUMBER },
		{ 2, PLAN_AND, 1, true, PLAN_COND_NUMBER },
		{ 3, PLAN_EQ, 0, false, PLAN_COND_NUMBER },
		{ 3, PLAN_NE, 0, false, PLAN_COND_NUMBER },
		{ 0, PLAN_NE, 1, false, PLAN_COND_NUMBER },
		{ 4, PLAN_GT, 2, true, PLAN_COND_NUMBER },
		{ 4, PLAN_GE, 3, false, PLAN_COND_NUMBER },
		{ 4, PLAN_AND, 2, false, PLAN_COND_NUMBER },
		{ 5, PLAN_NE, 2, true, PLAN_COND_NUMBER },
		{ 5, PLAN_GT, 2, false, PLAN_COND_NUMBER },
		{ 4, PLAN_EQ, 0x4004000000000000, true, PLAN_COND_REAL },
		{ 4, PLAN_LT, 0x4004000000000001, true, PLAN_COND_REAL },
		{ 1, PLAN_LT, 0x4004000000000000, true, PLAN_COND_REAL },
		{ 2, PLAN_EQ, 0x3ff0000000000000, true, PLAN_COND_REAL },
		{ 3, PLAN_NE, 0x3ff0000000000000, false, PLAN_COND_REAL },
		{ 5, PLAN_NE, 0x3ff0000000000000, true, PLAN_COND_REAL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct plan_cond cond = { .kind = cases[i].kind,
						.index = cases[i].index,
						.string = CAPTURE_TEXT,
						.bytes = 8,
						.is_signed = true,
						.compare = cases[i].compare,
						.value = cases[i].value };

		assert_int_equal(conds_hold(&cond, 1, words, &texts), cases[i].holds);
		assert_false(conds_read_memory(&(struct plan_rule){ .nr_conds = 1 }, 1, &cond));
	}
}

TEST(what_reads_memory)
{
	const struct {
		struct plan_cond cond;
		bool expected;
	} cases[] = {
		{ { .kind = PLAN_COND_INT, .index = ARCH_INT_ARG_REGS, .bytes = 8 }, false },
		{ { .kind = PLAN_COND_INT, .index = ARCH_INT_ARG_REGS + 1, .bytes = 8 }, true },
		{ { .kind = PLAN_COND_FLOAT, .index = ARCH_FLOAT_ARG_REGS, .bytes = 8 }, false },
		{ { .kind = PLAN_COND_FLOAT, .index = ARCH_FLOAT_ARG_REGS + 1, .bytes = 8 }, true },
		{ { .kind = PLAN_COND_FLOAT, .index = 1, .bytes = 10 }, true },
		{ { .kind = PLAN_COND_TEXT, .index = 1 }, true },
	};
	const struct plan_cond in_register = cases[0].cond;

	/* Two rules have two conditions each. The condition of the case is one of the four. */
	const struct plan_rule rules[] = { { .cond = 0, .nr_conds = 2 },
					   { .cond = 2, .nr_conds = 2 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t at = 0; at < 4; at++) {
			struct plan_cond conds[] = { in_register, in_register, in_register,
						     in_register };
			bool expected = cases[i].expected;

			conds[at] = cases[i].cond;
			assert_int_equal(conds_read_memory(rules, 2, conds), expected);
			assert_int_equal(conds_read_memory(rules, 1, conds), expected && at < 2);
			assert_false(conds_read_memory(rules, 0, conds));
		}
	}
}

/* --- captures --- */

/* Returns the number of bytes that the steps write to @to as the payload of a call's arguments. */
static uint32_t capture(const struct capture_step *steps, uint16_t nr, uint8_t *to)
{
	static struct capture_step program[64];

	program[3] = (struct capture_step){ .op = CAPTURE_HEAD, .bytes = nr };
	memcpy(&program[4], steps, nr * sizeof(*steps));
	memset(to, 0xee, CAPTURE_ROOM);
	return capture_args(&program[3], &regs, words, to);
}

TEST(captured_words)
{
	uint8_t to[CAPTURE_ROOM];
	const struct capture_step steps[] = {
		{ .op = CAPTURE_WORD, .bytes = 1, .index = ARCH_INT_ARG_REGS + 2 },
		{ .op = CAPTURE_WORD, .bytes = 8, .index = ARCH_INT_ARG_REGS + 3 },
		{ .op = CAPTURE_ZEROS, .bytes = 3 },
		{ .op = CAPTURE_STACK, .bytes = 5, .index = 3 },
		{ .op = CAPTURE_POINTED, .bytes = 6, .index = ARCH_INT_ARG_REGS + 4 },
	};
	static const uint8_t expected[] = { 0x88, 0x77, 0x66, 0x55, 1,	 2,   3,   4,	5, 6, 7,
					    8,	  0,	0,    0,    0,	 1,   2,   3,	4, 5, 0,
					    0,	  0,	'p',  'o',  'i', 'n', 't', 'e', 0, 0 };

	words[2] = 0x1122334455667788;
	words[3] = 0x0807060504030201;
	words[4] = (uint64_t) "pointed";
	assert_int_equal(capture(steps, ARRAY_SIZE(steps), to), 32);
	assert_memory_equal(to, expected, 32);
	/* The payload is filled up to whole words. */
	assert_int_equal(capture(steps, 1, to), 8);
	assert_int_equal(to[4] | to[5] | to[6] | to[7], 0);
	assert_int_equal(capture(steps, 0, to), 0);
}

TEST(widening)
{
	assert_int_equal(capture_widen(0xfffffffffffffff0, 0), 0xfffffffffffffff0);
	assert_int_equal(capture_widen(0x12345678000000f0, 1), 0xf0);
	assert_int_equal(capture_widen(0x12345678000000f0, 1 | CAPTURE_SIGNED), 0xfffffff0);
	assert_int_equal(capture_widen(0x12345678000000f0, 1 | CAPTURE_WIDE), 0xfffffffffffffff0);
	assert_int_equal(capture_widen(0x1234567800007fff, 2 | CAPTURE_SIGNED), 0x7fff);
	assert_int_equal(capture_widen(0x12345678ffffffff, 4 | CAPTURE_SIGNED), 0xffffffff);
	assert_int_equal(capture_widen(0x12345678ffffffff, 4 | CAPTURE_WIDE), UINT64_MAX);
	assert_int_equal(capture_widen(0xfedcba9876543210, 7), 0xdcba9876543210);
	assert_int_equal(capture_widen(0xfedcba9876543210, 8 | CAPTURE_SIGNED), 0xfedcba9876543210);
}

static void check_string(const char *text, const char *expected)
{
	uint8_t to[CAPTURE_ROOM];
	const struct capture_step step = { .op = CAPTURE_STRING, .index = ARCH_INT_ARG_REGS + 2 };
	size_t len = strlen(expected);

	words[2] = (uint64_t)text;
	assert_int_equal(capture(&step, 1, to), (2 + len + 7) / 8 * 8);
	assert_int_equal(to[0] | to[1] << 8, len);
	assert_memory_equal(to + 2, expected, len);
	for (size_t i = 2 + len; i % 8; i++)
		assert_int_equal(to[i], 0);
}

TEST(strings)
{
	char text[300];

	check_string("", "");
	check_string("a", "a");
	check_string("sixsix", "sixsix");
	check_string("seven77", "seven77");
	check_string(NULL, ARGBLOB_NULL);
	for (size_t len = ARGBLOB_STRING_MAX - 3; len < ARGBLOB_STRING_MAX + 20; len++) {
		char expected[ARGBLOB_STRING_MAX + 1];

		for (size_t i = 0; i < len; i++)
			text[i] = 'a' + i % 26;
		text[len] = '\0';
		memcpy(expected, text, MIN(len + 1, sizeof(expected)));
		expected[ARGBLOB_STRING_MAX] = '\0';
		if (len >= ARGBLOB_STRING_MAX)
			memcpy(expected + ARGBLOB_STRING_MAX - 3, ARGBLOB_STRING_CUT, 3);
		check_string(text, expected);
	}
}

/* If a value is too long for the payload, nothing is captured. */
TEST(too_long)
{
	uint8_t to[CAPTURE_ROOM];
	struct capture_step steps[2] = {
		{ .op = CAPTURE_ZEROS, .bytes = CAPTURE_MAX_BYTES - 4 },
		{ .op = CAPTURE_ZEROS, .bytes = 4 },
	};
	uint32_t most = CAPTURE_MAX_BYTES;

	assert_int_equal(capture(steps, 2, to), most);
	steps[1].bytes = 5;
	assert_int_equal(capture(steps, 2, to), 0);
	steps[0].bytes = CAPTURE_MAX_BYTES + 1;
	assert_int_equal(capture(steps, 1, to), 0);
}
