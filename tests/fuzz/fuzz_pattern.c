/*
 * Fuzz target: patterns against names. A match takes a bounded number of steps per byte, whatever
 * the pattern is. Its result is that of regexec(3), where that can be asked without waiting for
 * minutes.
 */
#include <fnmatch.h>
#include <regex.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "utils/base/containers/strbuf.h"
#include "utils/spec/regex/pattern.h"
#include "utils/spec/regex/regex.h"

#define LONG_NAME      (16U << 10)
#define NAMES	       4
/*
 * regcomp(3) copies repeated parts again and again, and regexec(3) backtracks in them: longer texts
 * would take minutes.
 */
#define PEER_TEXT_MAX  48
#define PEER_REPEATS   4
#define PEER_TIMES_MAX 20

/* Add a part of an expression: most expressions become well-formed. */
static void put_part(uint8_t choice, struct strbuf *out)
{
	static const char *const parts[] = {
		"a",	    "b",	   "ab",       "aa",	  "_",
		".",	    "[ab]",	   "[^a]",     "(",	  ")",
		"(",	    ")",	   "|",	       "*",	  "+",
		"?",	    "{2}",	   "{1,3}",    "{0,}",	  "{,2}",
		"^",	    "$",	   "\\b",      "\\B",	  "\\<",
		"\\>",	    "\\w",	   "\\W",      "\\s",	  "[[:alpha:]]",
		"[a-c]",    "\\1",	   "\\`",      "\\'",	  "\\.",
		"[]-]",	    " ",	   "[[=a=]",   "[[.-.]]", "{3}",
		"::",	    "std::.*",	   "operator", "[+--]",	  "{",
		"}",	    "(a|b)*",	   "(a*)*",    "(a|aa)+", "(.*)(.*)(.*)x",
		"\xc3\xa4", "[\x80-\xff]",
	};

	strbuf_addstr(out, parts[choice % (sizeof(parts) / sizeof(parts[0]))]);
}

static bool is_for_peer(const char *text)
{
	unsigned repeats = 0;

	for (const char *at = text; *at; at++) {
		repeats += strchr("*+?{", *at) != NULL;
		if (*at == '{' && (strtoul(at + 1, NULL, 10) > PEER_TIMES_MAX || strchr(at, ',')))
			return false;
		if (*at == '\\' && at[1] >= '1' && at[1] <= '9')
			return false;
	}
	return repeats <= PEER_REPEATS && strlen(text) <= PEER_TEXT_MAX;
}

/* @re: NULL when the expression was refused */
static void check_peer(struct regex *re, const char *text, const char *name)
{
	regex_t peer;
	int code = regcomp(&peer, text, REG_EXTENDED | REG_NOSUB);

	FUZZ_CHECK((code == 0) == (re != NULL));
	if (code)
		return;
	FUZZ_CHECK((regexec(&peer, name, 0, NULL, 0) == 0) == regex_finds(re, name, strlen(name)));
	regfree(&peer);
}

static void check_work(struct regex *re, const char *name, size_t len)
{
	size_t before = regex_steps(re);
	bool found = regex_finds(re, name, len);

	/* The first state and the end of the name count as two more bytes. */
	FUZZ_CHECK(regex_steps(re) - before <= (len + 2) * regex_steps_per_byte(re));
	/* A second search, which finds the cached result, gives the same answer. */
	FUZZ_CHECK(regex_finds(re, name, len) == found);
}

static void check_long(struct regex *re, const char *name)
{
	static char long_name[LONG_NAME];
	size_t len = strlen(name);

	for (size_t i = 0; len && i < LONG_NAME; i++)
		long_name[i] = name[i % len];
	if (len)
		check_work(re, long_name, LONG_NAME);
}

/* Check that the shortcuts of a pattern give the same answer as its expression. */
static void check_pattern(struct regex *re, const char *text, char (*names)[256])
{
	struct uft_err err = { 0 };
	struct pattern pattern;
	int ret = pattern_init_regex(&pattern, text, strlen(text), &err);

	fuzz_check_error(ret < 0, &err);
	FUZZ_CHECK((ret == 0) == (re != NULL));
	for (unsigned i = 0; ret == 0 && i < NAMES; i++)
		FUZZ_CHECK(pattern_matches(&pattern, names[i], strlen(names[i])) ==
			   regex_finds(re, names[i], strlen(names[i])));
	if (ret == 0)
		pattern_deinit(&pattern);
}

static void check_regex(const char *text, char (*names)[256])
{
	struct uft_err err = { 0 };
	struct regex *re = regex_create(text, &err);

	fuzz_check_error(!re, &err);
	for (unsigned i = 0; i < NAMES; i++) {
		if (is_for_peer(text))
			check_peer(re, text, names[i]);
		if (re)
			check_work(re, names[i], strlen(names[i]));
	}
	check_pattern(re, text, names);
	if (re)
		check_long(re, names[0]);
	regex_destroy(re);
}

static void check_glob(const char *text, const char *name)
{
	struct uft_err err = { 0 };
	struct pattern pattern;
	int ret = pattern_init(&pattern, MATCH_GLOB, text, strlen(text), &err);

	fuzz_check_error(ret < 0, &err);
	if (ret < 0)
		return;
	pattern_matches(&pattern, name, strlen(name));
	pattern_deinit(&pattern);
}

/* Input: the kind of the pattern, its length, the pattern, then names. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct strbuf text cleanup_strbuf = { 0 };
	char names[NAMES][256] = { 0 };
	uint8_t how = fuzz_u8(&in);
	size_t len;
	const uint8_t *bytes = fuzz_bytes(&in, how & 2 ? fuzz_u16(&in) : fuzz_u8(&in) % 32, &len);

	for (size_t i = 0; i < len; i++) {
		if (how & 1)
			put_part(bytes[i], &text);
		else
			strbuf_addch(&text, bytes[i] ? bytes[i] : 'a');
	}
	for (unsigned i = 0; i < NAMES; i++) {
		bytes = fuzz_bytes(&in, i ? fuzz_u8(&in) % 24 : 24, &len);
		for (size_t at = 0; at < len; at++)
			names[i][at] = how & 4	   ? "ab_ :-."[bytes[at] % 7]
				       : bytes[at] ? bytes[at]
						   : 'b';
		check_glob(strbuf_str(&text), names[i]);
	}
	check_regex(strbuf_str(&text), names);
	return 0;
}
