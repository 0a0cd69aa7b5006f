/* Conditions made of terms: alternatives, in each of which all terms must hold. */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/recording.h"
#include "utils/format/bytes.h"
#include "utils/format/callables.h"
#include "utils/pipeline/stages/argcond.h"

TEST(alternatives)
{
	/* The condition is: 0 and 1, or 2, or 3 and 4. */
	struct cond_term terms[5] = {
		[2].starts_alternative = true, [3].starts_alternative = true
	};
	const struct cond cond = { .terms = terms, .nr = 5 };
	const struct cond none = { 0 };

	for (uint64_t bits = 0; bits < 32; bits++) {
		bool holds = (bits & 3) == 3 || (bits & 4) || (bits & 24) == 24;

		assert_int_equal(argcond_holds(&cond, bits), holds);
	}
	assert_true(argcond_holds(&none, 0));
}

/* A term for which there is no bit never holds. */
TEST(too_many_terms)
{
	static struct cond_term terms[ARGCOND_TERMS_MAX + 1];
	struct cond cond = { .terms = terms, .nr = ARGCOND_TERMS_MAX };

	assert_true(argcond_holds(&cond, UINT64_MAX));
	assert_false(argcond_holds(&cond, UINT64_MAX >> 1));
	cond.nr++;
	assert_false(argcond_holds(&cond, UINT64_MAX));
	terms[ARGCOND_TERMS_MAX].starts_alternative = true;
	assert_true(argcond_holds(&cond, UINT64_MAX));
	assert_false(argcond_holds(&cond, 1));
	terms[ARGCOND_TERMS_MAX].starts_alternative = false;
}

TEST(return_values)
{
	struct cond_term terms[2] = { { .subject = COND_ARG }, { .subject = COND_FPARG } };
	const struct cond cond = { .terms = terms, .nr = 2 };

	assert_false(argcond_needs_retval(&cond));
	terms[1].subject = COND_RETVAL;
	assert_true(argcond_needs_retval(&cond));
}

/* --- terms and payloads --- */

struct look {
	struct recording rec;
	struct trace_data data;
	const struct func *func;
};

/*
 * Opens a recording in which "a" has the captures of @args and @retval, as -A and -R take them.
 */
static void begin(struct look *s, const char *args, const char *retval)
{
	struct strbuf spec cleanup_strbuf = { 0 };
	struct strbuf ret cleanup_strbuf = { 0 };
	uint64_t until_ns;

	*s = (struct look){ 0 };
	recording_init(&s->rec);
	recording_add_task(&s->rec, 100, "a{}", 1000);
	recording_finish(&s->rec);
	assert_int_equal(data_open(&s->data, s->rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	arg_book_close(&s->data.args);
	strbuf_addf(&spec, "a@%s", args);
	strbuf_addf(&ret, "a@%s", retval);
	s->data.info.argspec = *args ? strdup(strbuf_str(&spec)) : NULL;
	s->data.info.retspec = *retval ? strdup(strbuf_str(&ret)) : NULL;
	assert_int_equal(arg_book_open(&s->data.args, &s->data, NULL), 0);
	s->func = space_func(session_space(s->data.sessions[0], 0, 1000, &until_ns),
			     recording_addr("a"), NULL);
	assert_string_equal(s->func->name, "a");
}

static void end(struct look *s)
{
	data_close(&s->data);
	recording_deinit(&s->rec);
}

/* Returns the terms of @text that hold for a call with this payload, or for the end of the call. */
static uint64_t look(struct look *s, const char *text, bool is_exit, const void *payload,
		     size_t len)
{
	void *copy = exact_copy(payload, len);
	const struct event event = { .type = is_exit ? EVENT_EXIT : EVENT_ENTRY,
				     .func = s->func,
				     .data = copy,
				     .data_len = len };
	struct cond cond = { 0 };
	uint64_t bits;
	size_t wrong_at;

	assert_int_equal(cond_parse(text, strlen(text), &cond, &wrong_at, NULL), 0);
	bits = argcond_look(&s->data, &cond, &event);
	cond_deinit(&cond);
	free(copy);
	return bits;
}

TEST(integers_of_all_sizes)
{
	static const struct {
		const char *spec;
		const char *cond;
		uint8_t bytes[8];
		size_t len;
		bool holds;
	} rows[] = {
		{ "arg1/i8", "arg1/i8==-2", { 0xfe }, 4, true },
		{ "arg1/i8", "arg1==-2", { 0xfe }, 4, true },
		{ "arg1/i16", "arg1==-2", { 0xfe, 0xff }, 4, true },
		{ "arg1/i16", "arg1==-2", { 0xfe, 0x7f }, 4, false },
		{ "arg1/u16", "arg1/u64==65534", { 0xfe, 0xff }, 4, true },
		{ "arg1/i32", "arg1/i32==-2", { 0xfe, 0xff, 0xff, 0xff }, 4, true },
		{ "arg1/i32", "arg1==16909060", { 4, 3, 2, 1 }, 4, true },
		{ "arg1/i64", "arg1==72623859790382856", { 8, 7, 6, 5, 4, 3, 2, 1 }, 8, true },
		{ "arg1/i64", "arg1==72623859790382857", { 8, 7, 6, 5, 4, 3, 2, 1 }, 8, false },
		/* The value is missing. */
		{ "arg1/i64", "arg1!=0", { 8, 7, 6, 5 }, 4, false },
		{ "arg1/i32", "arg2!=0", { 8, 7, 6, 5 }, 4, false },
		{ "arg1/i32", "retval!=0", { 8, 7, 6, 5 }, 4, false },
		{ "arg1/i32", "fparg1!=0", { 8, 7, 6, 5 }, 4, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct look s;

		begin(&s, rows[i].spec, "");
		assert_int_equal(look(&s, rows[i].cond, false, rows[i].bytes, rows[i].len),
				 rows[i].holds);
		/* The values belong to the call, not to its end. */
		assert_int_equal(look(&s, rows[i].cond, true, rows[i].bytes, rows[i].len), 0);
		end(&s);
	}
}

TEST(big_endian_recordings)
{
	struct look s;

	begin(&s, "arg1/i32", "");
	s.data.is_big_endian = true;
	assert_int_equal(look(&s, "arg1==16909060", false, "\1\2\3\4", 4), 1);
	assert_int_equal(look(&s, "arg1==16909061", false, "\1\2\3\4", 4), 0);
	end(&s);
}

/* Each term is looked at by itself, whatever its argument. */
TEST(several_arguments)
{
	static const uint8_t bytes[] = { 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0 };
	struct look s;

	begin(&s, "arg1/i32,arg3/i32,arg2/i64", "");
	assert_int_equal(look(&s, "arg1==1&&arg2==3&&arg3==2", false, bytes, 16), 7);
	assert_int_equal(look(&s, "arg1==2||arg2==3||arg3==3", false, bytes, 16), 2);
	assert_int_equal(look(&s, "arg1==1||arg2==3||arg3==2", false, bytes, 12), 5);
	assert_int_equal(look(&s, "arg1==1||arg2==3||arg3==2", false, bytes, 7), 1);
	end(&s);
}

TEST(strings)
{
	static const uint8_t hello[] = { 5, 0, 'h', 'e', 'l', 'l', 'o', 0 };
	static const uint8_t null[] = { 4, 0, 0xff, 0xff, 0xff, 0xff, 0, 0 };
	struct look s;

	begin(&s, "arg1/s", "");
	assert_int_equal(look(&s, "arg1==\"hello\"", false, hello, 8), 1);
	assert_int_equal(look(&s, "arg1==\"hell\"", false, hello, 8), 0);
	assert_int_equal(look(&s, "arg1!=\"hell\"", false, hello, 8), 1);
	assert_int_equal(look(&s, "arg1^=\"hel\"", false, hello, 8), 1);
	/* The string is NULL: it is not equal to any string, and nothing else holds. */
	assert_int_equal(look(&s, "arg1!=\"hello\"", false, null, 8), 1);
	assert_int_equal(look(&s, "arg1==\"hello\"", false, null, 8), 0);
	assert_int_equal(look(&s, "arg1^=\"\"", false, null, 8), 0);
	/* A string is never compared with a number, nor a number with a string. */
	assert_int_equal(look(&s, "arg1!=1", false, hello, 8), 0);
	end(&s);
	begin(&s, "arg1/i64", "");
	assert_int_equal(look(&s, "arg1!=\"x\"", false, hello, 8), 0);
	end(&s);
}

TEST(reals)
{
	static const uint8_t ten[] = { 0, 0, 0, 0, 0, 0, 0, 0xc0, 0x00, 0x40, 0, 0 };
	static const uint8_t minus_ten[] = { 0, 0, 0, 0, 0, 0, 0, 0xc0, 0xfe, 0xbf, 0, 0 };
	uint8_t bytes[16] = { 0 };
	const double two = 2.5;
	const float half = -0.5;
	struct look s;
	uint64_t bits;
	uint32_t low;

	memcpy(&bits, &two, 8);
	put_u64(bytes, bits, false);
	begin(&s, "fparg1/64", "");
	assert_int_equal(look(&s, "fparg1==2.5", false, bytes, 8), 1);
	assert_int_equal(look(&s, "fparg1>2.5", false, bytes, 8), 0);
	assert_int_equal(look(&s, "fparg2==2.5", false, bytes, 8), 0);
	assert_int_equal(look(&s, "arg1!=0", false, bytes, 8), 0);
	end(&s);
	memcpy(&low, &half, 4);
	put_u32(bytes, low, false);
	begin(&s, "fparg1/32", "");
	assert_int_equal(look(&s, "fparg1==-0.5", false, bytes, 4), 1);
	assert_int_equal(look(&s, "fparg1==0.5", false, bytes, 4), 0);
	end(&s);
	/* 1.5 * 2 and -1.5 / 2, in the format of the x87. */
	begin(&s, "fparg1/80", "");
	assert_int_equal(look(&s, "fparg1==3.0", false, ten, 12), 1);
	assert_int_equal(look(&s, "fparg1==-0.75", false, minus_ten, 12), 1);
	assert_int_equal(look(&s, "fparg1==0.75", false, minus_ten, 12), 0);
	end(&s);
}

TEST(values_that_are_returned)
{
	struct look s;

	begin(&s, "arg1/i32", "retval/i32");
	assert_int_equal(look(&s, "retval==3", true, "\3\0\0\0", 4), 1);
	assert_int_equal(look(&s, "retval==4", true, "\3\0\0\0", 4), 0);
	assert_int_equal(look(&s, "arg1==3||retval==3", true, "\3\0\0\0", 4), 2);
	assert_int_equal(look(&s, "arg1==3||retval==3", false, "\3\0\0\0", 4), 1);
	end(&s);
}

TEST(calls_of_which_nothing_is_known)
{
	struct event event = { .type = EVENT_ENTRY };
	struct cond cond = { 0 };
	size_t wrong_at;
	struct look s;

	begin(&s, "arg1/i32", "");
	assert_int_equal(cond_parse("arg1==0", 7, &cond, &wrong_at, NULL), 0);
	event.data = (const uint8_t *)"\0\0\0\0";
	event.data_len = 4;
	assert_int_equal(argcond_look(&s.data, &cond, &event), 0);
	event.func = s.func;
	assert_int_equal(argcond_look(&s.data, &cond, &event), 1);
	event.data = NULL;
	assert_int_equal(argcond_look(&s.data, &cond, &event), 0);
	cond_deinit(&cond);
	end(&s);
	begin(&s, "", "");
	assert_int_equal(look(&s, "arg1==0", false, "\0\0\0\0", 4), 0);
	end(&s);
}

/* A value of a function of Python is its text. The text of a number is compared as a number. */
TEST(texts_of_numbers)
{
	static const struct {
		const char *text;
		const char *cond;
		bool holds;
	} rows[] = {
		{ "5", "arg1==5", true },
		{ "5", "arg1==6", false },
		{ "5", "arg1>4", true },
		{ "5", "arg1!=5", false },
		{ "5", "arg1&4", true },
		{ "5", "arg1&2", false },
		{ "5", "arg1/u64==5", true },
		{ "-7", "arg1==-7", true },
		{ "-7", "arg1<0", true },
		{ "True", "arg1==1", true },
		{ "False", "arg1==0", true },
		/* A text that is no number is not equal to one, and not different from one. */
		{ "abc", "arg1!=5", false },
		{ "", "arg1!=5", false },
		{ "-", "arg1!=5", false },
		{ ".", "arg1!=5", false },
		{ "n", "arg1!=5", false },
		{ "0x10", "arg1!=5", false },
		{ "1_0.0", "arg1!=5", false },
		{ "1.5x", "arg1!=5", false },
		{ "1.5e", "arg1!=5", false },
		{ "infinity", "arg1!=5", false },
		{ "123456789012345678901", "arg1>5", false },
		{ "abc", "arg1==\"abc\"", true },
		{ "5", "arg1==\"5\"", true },
		{ "5", "arg1==\"6\"", false },
		/* A float and an integer. */
		{ "1.5", "arg1==1", false },
		{ "1.5", "arg1!=1", true },
		{ "1.5", "arg1>1", true },
		{ "1.5", "arg1>=2", false },
		{ "1.5", "arg1<2", true },
		{ "1.5", "arg1<=1", false },
		{ "1.5", "arg1&1", false },
		{ "5.0", "arg1==5", true },
		{ "5.0", "arg1>=5", true },
		{ "5.0", "arg1>5", false },
		{ "1e+30", "arg1>5", true },
		{ "-1e-07", "arg1<0", true },
		{ "nan", "arg1!=5", true },
		{ "nan", "arg1==5", false },
		{ "nan", "arg1<5", false },
		{ "inf", "arg1>5", true },
		{ "-inf", "arg1<5", true },
		{ "-inf", "arg1>5", false },
		/* Only signed integers of 64 bits are compared with a float. */
		{ "5.5", "arg1/i64>5", true },
		{ "5.5", "arg1/i32>5", false },
		{ "5.5", "arg1/u64>5", false },
		/* Numbers and a float. */
		{ "3", "arg1/f64>2.5", true },
		{ "2", "arg1/f64>2.5", false },
		{ "2", "arg1/f64<2.5", true },
		{ "5", "arg1/f64==5.0", true },
		{ "True", "arg1/f64==1.0", true },
		{ "2.5", "arg1/f64==2.5", true },
		{ "2.75", "arg1/f64==2.5", false },
		{ "2.75", "arg1/f64>2.5", true },
		{ "nan", "arg1/f64==2.5", false },
		{ "abc", "arg1/f64!=2.5", false },
		/* 2^53 + 1 is no double. */
		{ "9007199254740993", "arg1/f64==9007199254740992.0", false },
		{ "9007199254740993", "arg1/f64>9007199254740992.0", true },
		/* The text of a float has at most 31 bytes. */
		{ "1.00000000000000000000000000000", "arg1==1", true },
		{ "1.000000000000000000000000000000", "arg1==1", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const size_t len = strlen(rows[i].text);
		uint8_t bytes[64] = { len };
		struct look s;

		begin(&s, "arg1", "");
		/* Let the function be one of Python. */
		((struct module *)s.func->module)->basename = CALLABLES_MODULE;
		memcpy(bytes + 2, rows[i].text, len);
		assert_int_equal(look(&s, rows[i].cond, false, bytes, sizeof(bytes)),
				 rows[i].holds);
		end(&s);
	}
}

/* A value on the stack has its number among the values of its kind. */
TEST(places_of_values)
{
	static const uint8_t bytes[] = { 1, 0, 0, 0, 2, 0, 0, 0 };
	static const uint8_t real[] = { 0x40, 0x04, 0, 0, 0, 0, 0, 0 };
	struct look s;

	begin(&s, "arg1/i32,arg2/i32%stack+5", "");
	assert_int_equal(look(&s, "arg1==1||arg2==2||arg5==2||arg2==1", false, bytes, 8), 3);
	end(&s);
	/* A float is compared as an argument, too, and in any byte order. */
	begin(&s, "fparg1/64", "");
	s.data.is_big_endian = true;
	assert_int_equal(look(&s, "fparg1==2.5||arg1/f64==2.5||arg1==0", false, real, 8), 3);
	assert_int_equal(look(&s, "fparg1!=2.5||arg2/f64==2.5||fparg2==2.5", false, real, 8), 0);
	end(&s);
	begin(&s, "fparg1/32", "");
	s.data.is_big_endian = true;
	assert_int_equal(look(&s, "fparg1==2.0625", false, real, 4), 1);
	end(&s);
}
