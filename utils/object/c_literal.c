/* String literals of C (see c_literal.h). */
#include "utils/object/c_literal.h"

#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/strbuf.h"

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Parse a number of up to @max digits. Returns the text after it. */
static const char *take_number(const char *at, int base, int max, char *out)
{
	unsigned value = 0;

	for (int i = 0; i < max && digit_of(*at) < base; i++)
		value = value * base + digit_of(*at++);
	*out = (char)value;
	return at;
}

/*
 * Decode the escape after a backslash. Returns the text after the escape, or NULL when C has no
 * such escape.
 */
static const char *take_escape(const char *at, char *out)
{
	static const char letters[] = "abefnrtv";
	static const char values[] = "\a\b\033\f\n\r\t\v";
	const char *letter = *at ? strchr(letters, *at) : NULL;

	if (letter) {
		*out = values[letter - letters];
		return at + 1;
	}
	if (*at == 'x')
		return digit_of(at[1]) < 16 ? take_number(at + 1, 16, 2, out) : NULL;
	if (digit_of(*at) < 8)
		return take_number(at, 8, 3, out);
	*out = *at;
	return *at && strchr("\\\"'?", *at) ? at + 1 : NULL;
}

/*
 * Append the text of a string literal. @at is after the opening quote. Returns the source after the
 * closing quote, or NULL when the literal is invalid.
 */
static const char *take_literal(const char *at, struct strbuf *out)
{
	while (*at && *at != '"') {
		char c = *at++;

		if (c == '\\')
			at = take_escape(at, &c);
		if (!at || !c)
			return NULL;
		strbuf_addch(out, c);
	}
	return *at == '"' ? at + 1 : NULL;
}

char *c_literals_text(const char *source)
{
	struct strbuf text cleanup_strbuf = { 0 };

	if (*source != '"')
		return NULL;
	while (source && *source) {
		if (*source == ' ')
			source++;
		else
			source = *source == '"' ? take_literal(source + 1, &text) : NULL;
	}
	return source ? strdup(strbuf_str(&text)) : NULL;
}
