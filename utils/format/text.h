/* A bounds-checked cursor over text from disk. The codecs of texts use it. */
#ifndef UTRAIL_FORMAT_TEXT_H
#define UTRAIL_FORMAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "utils/base/containers/strbuf.h"

/*
 * [@at, @end) is unread. The text need not end with a NUL. The readers below move @at only on
 * success.
 */
struct text {
	const char *at;
	const char *end;
};

static inline struct text text_of(const char *data, size_t len)
{
	/* The data pointer of an empty strbuf is NULL, and NULL + 0 is undefined. */
	return len ? (struct text){ data, data + len } : (struct text){ "", "" };
}

/* Returns the whole text of @buf, valid until @buf changes. */
static inline struct text text_of_buf(const struct strbuf *buf)
{
	return text_of(buf->data, buf->len);
}

static inline size_t text_left(const struct text *t)
{
	return t->end - t->at;
}

/*
 * Take the next line without its newline. Returns false at the end. *@whole becomes true if the
 * line ended with a newline.
 */
bool text_line(struct text *t, struct text *line, bool *whole);

/* Take exactly the bytes of @word. */
bool text_word(struct text *t, const char *word);

/* True when the whole text is @word. */
static inline bool text_is(struct text t, const char *word)
{
	return text_word(&t, word) && !text_left(&t);
}

/*
 * text_dec() parses a decimal number, and text_hex() parses a hexadecimal number without "0x". The
 * number must fit in uint64_t.
 */
bool text_dec(struct text *t, uint64_t *v);
bool text_hex(struct text *t, uint64_t *v);

/*
 * Parse a decimal number, possibly with '-'. text_i64() accepts the numbers of int64_t except
 * INT64_MIN, and text_i32() accepts the numbers of int32_t.
 */
bool text_i64(struct text *t, int64_t *v);
bool text_i32(struct text *t, int32_t *v);

/*
 * Parse "<seconds>.<fraction>" as a number times 10^@digits. With 3 @digits, "1.5" is 1500. Further
 * digits of the fraction are ignored.
 */
bool text_fixed(struct text *t, unsigned digits, uint64_t *v);

/* Copy the rest of the text as a string on the heap. Returns NULL when memory is short. */
char *text_dup(const struct text *t);

/* Write @v in hexadecimal, with leading zeros up to @width digits. @width must be at most 16. */
void text_put_hex(struct strbuf *out, uint64_t v, unsigned width);

/* Write an untrusted name into a line. A newline becomes "\012", as in /proc/PID/maps. */
void text_put_name(struct strbuf *out, const char *name, size_t len);

#endif
