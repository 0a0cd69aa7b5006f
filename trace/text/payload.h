/*
 * Payloads of records, and the text of the values in a payload. A payload has the values in binary,
 * in the order of the format's directives. Numbers are little-endian on all machines.
 *
 *  %d %u %x %b %e %E %L %P                         4 bytes
 *  %64d %64u %64x %lld %llu %llx %z %p %T %f       8 bytes
 *  %s %S %I %F %A %B %a                            u32 length, then the bytes. If the argument is
 *                                                  NULL, no bytes follow, and the length is
 *                                                  FST_NULL (for %A and %B: 0)
 *  %J                                              u32 count of the texts, then the texts
 */
#ifndef UTRAIL_FSTRACE_PAYLOAD_H
#define UTRAIL_FSTRACE_PAYLOAD_H

#include <endian.h>
#include <string.h>

#include "text/format.h"
#include "text/text.h"

#define FST_NULL UINT32_MAX /* the length of a text that is NULL */

/* The bytes that are still to be read. */
struct fst_bytes {
	const unsigned char *at;
	const unsigned char *end;
};

/*
 * @number: an integer, sign-extended if the directive is signed; for %J the number of texts
 * @bytes, @len: a text; for %J the part of the payload that contains the texts and their lengths
 * @is_null: true when the text is NULL
 */
struct fst_value {
	enum fst_kind kind;
	bool is_null;
	uint64_t number;
	double real;
	const unsigned char *bytes;
	size_t len;
};

/* The binary forms of values in a payload. fst_form_of() tells the form for each enum fst_kind. */
enum fst_form {
	FST_FORM_NONE, /* literal text */
	FST_FORM_SIGNED32,
	FST_FORM_UNSIGNED32,
	FST_FORM_SIGNED64,
	FST_FORM_UNSIGNED64,
	FST_FORM_DOUBLE,
	FST_FORM_TEXT,
	FST_FORM_LIST,
};

enum fst_form fst_form_of(enum fst_kind kind);

/*
 * Take the next value, for a directive of @kind. If the rest of the payload is too short for such a
 * value, the function returns false and takes nothing.
 */
bool fst_take_value(struct fst_bytes *from, enum fst_kind kind, struct fst_value *value);

/*
 * Take the available part of a truncated text, after fst_take_value() has failed. Returns false if
 * the value is a network address, if the value is not a text, or if the payload has no byte of the
 * text.
 */
bool fst_take_cut_text(struct fst_bytes *from, enum fst_kind kind, struct fst_value *value);

/* Append the value as text, in the form of log lines. */
void fst_put_value(struct fst_text *text, const struct fst_value *value);

/*
 * Append all pieces of @format. Returns false if the payload ends before the end of the last value.
 * In this case @text has the pieces before the incomplete value. If fst_take_cut_text() can take
 * the available part of the incomplete value, @text also has this part.
 */
bool fst_put_payload(struct fst_text *text, const struct fst_format *format,
		     struct fst_bytes *from);

/* --- for writers of a payload: @text holds a payload, not a line of text --- */

/* Appends a value. Callers pass a compile-time constant as @size, so the copy is one store. */
static inline void fst_add_fixed(struct fst_text *text, const void *value, size_t size)
{
	if (text->room - text->len >= size) {
		memcpy(text->base + text->len, value, size);
		text->len += size;
	} else {
		fst_put(text, value, size);
	}
}

static inline void fst_add_u32(struct fst_text *text, uint32_t value)
{
	value = htole32(value);
	fst_add_fixed(text, &value, sizeof(value));
}

static inline void fst_add_u64(struct fst_text *text, uint64_t value)
{
	value = htole64(value);
	fst_add_fixed(text, &value, sizeof(value));
}

static inline void fst_add_double(struct fst_text *text, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	fst_add_u64(text, bits);
}

/*
 * Copies bytes without a call of memcpy(3), which may be a recorded function. Compilers turn a
 * memcpy() of 8 bytes into a load and a store. The barriers keep compilers from replacing the loops
 * by a call of memcpy().
 */
static inline void fst_copy(char *to, const char *from, size_t len)
{
	for (; len >= 8; len -= 8, to += 8, from += 8) {
		memcpy(to, from, 8);
		__asm__ volatile("" ::: "memory");
	}
	for (; len; len--) {
		*to++ = *from++;
		__asm__ volatile("" ::: "memory");
	}
}

/*
 * Appends @len bytes as a text to the payload in @text. If @bytes is NULL, appends FST_NULL.
 *
 * If there is no room or no memory for the appended data, or if the payload would be longer than
 * 1 GiB, the payload becomes invalid (text->has_failed).
 */
static inline void fst_add_bytes(struct fst_text *text, const void *bytes, size_t len)
{
	fst_add_u32(text, !bytes ? FST_NULL : len < FST_NULL ? len : FST_NULL - 1);
	if (!bytes)
		return;
	if (text->room - text->len >= len) {
		fst_copy(text->base + text->len, bytes, len);
		text->len += len;
	} else {
		fst_put(text, bytes, len);
	}
}

/*
 * Add at most @max bytes of @string, which may be NULL. The library may call fst_add_string()
 * between begin() and end() of struct utrail_trace_recorder (seam/recorder.h). Between begin() and
 * end(), the only permitted function of libc is strnlen(). fst_add_string() calls strnlen() if the
 * string does not fit into @text.
 */
void fst_add_string(struct fst_text *text, const char *string, size_t max);

#endif
