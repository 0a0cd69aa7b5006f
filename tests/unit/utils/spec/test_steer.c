/* Unit tests of utils/spec/steer.c. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/base/compiler.h"
#include "utils/spec/regex/pattern.h"
#include "utils/spec/steer.h"

/* @text: words, with blanks between them */
static int parse(const char *text, struct steer_change *change, struct uft_err *err)
{
	struct strbuf words cleanup_strbuf = { 0 };

	strbuf_addstr(&words, text);
	for (size_t i = 0; i < words.len; i++)
		words.data[i] = words.data[i] == ' ' ? '\0' : words.data[i];
	strbuf_addch(&words, '\0');
	return steer_parse(&words, change, err);
}

TEST(test_good)
{
	struct steer_change change cleanup_steer_change = { 0 };

	assert_int_equal(parse("status clear filter a;b notrace c;d filter e trigger f@depth=1 "
			       "caller g depth 7 time 1ms size 2k match glob off on",
			       &change, NULL),
			 0);
	assert_int_equal(change.flags, STEER_STATUS | STEER_CLEAR | STEER_SPECS | STEER_DEPTH |
					       STEER_TIME | STEER_SIZE | STEER_ON);
	assert_string_equal(strbuf_str(&change.specs[SPEC_FILTER]), "a;b;!c;!d;e");
	assert_string_equal(strbuf_str(&change.specs[SPEC_TRIGGER]), "f@depth=1");
	assert_string_equal(strbuf_str(&change.specs[SPEC_CALLER]), "g");
	assert_int_equal(change.depth, 7);
	assert_int_equal(change.time_ns, 1000000);
	assert_int_equal(change.size, 2048);
	assert_int_equal(change.match, MATCH_GLOB);
	assert_string_equal(strbuf_str(&change.text),
			    "clear filter a;b notrace c;d filter e trigger f@depth=1 caller g "
			    "depth 7 time 1ms size 2k match glob off on");
}

TEST(test_patches)
{
	struct steer_change change cleanup_steer_change = { 0 };

	assert_int_equal(parse("patch a;b@lib unpatch c;d patch e", &change, NULL), 0);
	assert_int_equal(change.flags, STEER_PATCH);
	assert_true(change.flags & STEER_CHANGES);
	assert_string_equal(strbuf_str(&change.patches), "a;b@lib;!c;!d;e");
	assert_string_equal(strbuf_str(&change.text), "patch a;b@lib unpatch c;d patch e");
}

TEST(test_declared)
{
	struct steer_change change cleanup_steer_change = { 0 };

	assert_int_equal(parse("trace-include ^A trace-exclude B trace-include ^C", &change, NULL),
			 0);
	assert_int_equal(change.flags, STEER_TRACE_INCLUDE | STEER_TRACE_EXCLUDE);
	assert_true(change.flags & STEER_CHANGES);
	assert_string_equal(strbuf_str(&change.trace_include), "^C");
	assert_string_equal(strbuf_str(&change.trace_exclude), "B");
}

TEST(test_wrong)
{
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{ "onn", "unknown word 'onn'; the nearest: on" },
		{ "", "unknown word ''" },
		{ "on filter", "'filter' needs an argument: filter FUNC[@...]" },
		{ "patch", "'patch' needs an argument: patch FUNC[@LIB]" },
		{ "unpatc a", "unknown word 'unpatc'; the nearest: unpatch" },
		{ "filter ", "'filter' needs an argument: filter FUNC[@...]" },
		{ "depth 0", "'depth 0': it is a number from 1 to 65534" },
		{ "depth 65535", "'depth 65535': it is a number from 1 to 65534" },
		{ "depth 3x", "'depth 3x': it is a number from 1 to 65534" },
		{ "depth 99999999999999999999", "'depth 9" },
		{ "time 1y", "'time'" },
		{ "size x", "'size'" },
		{ "match any", "'match any': it is regex, glob or simple" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct steer_change change cleanup_steer_change = { 0 };
		struct uft_err err = { 0 };

		assert_int_equal(parse(cases[i].text, &change, &err), -ERR_USAGE);
		if (strncmp(err.text, cases[i].says, strlen(cases[i].says)) != 0)
			fail_msg("'%s': %s", cases[i].text, err.text);
	}
}

/* Each text that could not be stored completely is an error with a message. */
TEST(test_memory_is_short)
{
	for (int i = 0; i < 4 + SPEC_OPTIONS; i++) {
		struct steer_change change cleanup_steer_change = { 0 };
		struct strbuf *const texts[] = { &change.text, &change.patches,
						 &change.trace_include, &change.trace_exclude };
		struct uft_err err = { 0 };

		(i < 4 ? texts[i] : &change.specs[i - 4])->oom = true;
		assert_int_equal(parse("status", &change, &err), -ENOMEM);
		assert_string_equal(err.text,
				    "cannot read the words of a change: Cannot allocate memory");
	}
}
