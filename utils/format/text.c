/* A bounds-checked cursor over text from disk (see text.h). */
#include "utils/format/text.h"

#include <stdlib.h>

bool text_line(struct text *t, struct text *line, bool *whole)
{
	if (t->at == t->end)
		return false;

	const char *nl = memchr(t->at, '\n', text_left(t));

	*line = (struct text){ t->at, nl ? nl : t->end };
	*whole = nl != NULL;
	t->at = nl ? nl + 1 : t->end;
	return true;
}

bool text_word(struct text *t, const char *word)
{
	size_t len = strlen(word);

	if (text_left(t) < len || memcmp(t->at, word, len) != 0)
		return false;
	t->at += len;
	return true;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

static bool text_number(struct text *t, unsigned base, uint64_t *v)
{
	const char *p = t->at;
	uint64_t sum = 0;

	for (; p < t->end; p++) {
		unsigned digit = digit_of(*p);

		if (digit >= base)
			break;
		if (__builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)digit, &sum))
			return false;
	}
	if (p == t->at)
		return false;
	t->at = p;
	*v = sum;
	return true;
}

bool text_dec(struct text *t, uint64_t *v)
{
	return text_number(t, 10, v);
}

bool text_hex(struct text *t, uint64_t *v)
{
	return text_number(t, 16, v);
}

bool text_i64(struct text *t, int64_t *v)
{
	struct text in = *t;
	bool negative = text_word(&in, "-");
	uint64_t abs;

	if (!text_dec(&in, &abs) || abs > INT64_MAX)
		return false;
	*v = negative ? -(int64_t)abs : (int64_t)abs;
	t->at = in.at;
	return true;
}

bool text_i32(struct text *t, int32_t *v)
{
	struct text in = *t;
	int64_t wide;

	if (!text_i64(&in, &wide) || wide < INT32_MIN || wide > INT32_MAX)
		return false;
	*v = wide;
	t->at = in.at;
	return true;
}

bool text_fixed(struct text *t, unsigned digits, uint64_t *v)
{
	struct text in = *t;
	uint64_t sum;

	if (!text_dec(&in, &sum) || !text_word(&in, "."))
		return false;

	bool any = false;

	for (; in.at < in.end && *in.at >= '0' && *in.at <= '9'; in.at++) {
		any = true;
		if (!digits)
			continue;
		digits--;
		if (__builtin_mul_overflow(sum, (uint64_t)10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(*in.at - '0'), &sum))
			return false;
	}
	for (; digits; digits--) {
		if (__builtin_mul_overflow(sum, (uint64_t)10, &sum))
			return false;
	}
	if (!any)
		return false;
	t->at = in.at;
	*v = sum;
	return true;
}

char *text_dup(const struct text *t)
{
	return strndup(t->at, text_left(t));
}

void text_put_hex(struct strbuf *out, uint64_t v, unsigned width)
{
	char digits[16];
	unsigned at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	while (sizeof(digits) - at < width)
		digits[--at] = '0';
	strbuf_add(out, digits + at, sizeof(digits) - at);
}

void text_put_name(struct strbuf *out, const char *name, size_t len)
{
	while (len) {
		const char *nl = memchr(name, '\n', len);
		size_t part = nl ? (size_t)(nl - name) : len;

		strbuf_add(out, name, part);
		if (!nl)
			break;
		strbuf_addstr(out, "\\012");
		name += part + 1;
		len -= part + 1;
	}
}
