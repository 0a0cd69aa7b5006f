/*
 * The values of a record in binary, in the order of its directives, and the text of them. Numbers
 * are little-endian wherever the record was made.
 *
 * 	%d %u %x %b %e %E %L %P		4 bytes
 * 	%64d %64u %64x %lld %llu %llx
 * 	%z %p %T %f			8 bytes
 * 	%s %S %I %F %A %B %a		u32 length and as many bytes; FST_NULL: there is none
 * 	%J				u32 count, and as many times the same
 */
#ifndef UTRAIL_FSTRACE_PAYLOAD_H
#define UTRAIL_FSTRACE_PAYLOAD_H

#include <endian.h>
#include <string.h>

#include "text/format.h"
#include "text/text.h"

/* The length of a text that is NULL. */
#define FST_NULL UINT32_MAX

/* The bytes that are still to be read. */
struct fst_bytes {
	const unsigned char *at;
	const unsigned char *end;
};

/*
 * One value.
 *
 * @number: of an integer, with its sign where the directive is signed; of %J how many texts there
 *          are
 * @bytes, @len: of a text; of %J of all of them, as they are in the payload. @is_null: there is
 *               none
 */
struct fst_value {
	enum fst_kind kind;
	bool is_null;
	uint64_t number;
	double real;
	const unsigned char *bytes;
	size_t len;
};

/* The form of a value of that kind in a payload. */
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
 * Take the next value, of a directive of that kind. False, with nothing taken, when the rest is
 * none.
 */
bool fst_take_value(struct fst_bytes *from, enum fst_kind kind, struct fst_value *value);

/*
 * When that is false for a text that is cut: take the rest of it. False: it is none, or there is
 * none of it.
 */
bool fst_take_cut_text(struct fst_bytes *from, enum fst_kind kind, struct fst_value *value);

/* As a line has it. */
void fst_put_value(struct fst_text *text, const struct fst_value *value);

/*
 * All pieces of @format. False when the payload ends before they do: then @text has those before
 * that, and the part of a text that is there.
 */
bool fst_put_payload(struct fst_text *text, const struct fst_format *format,
		     struct fst_bytes *from);

/* --- for writers of one: @text is the payload, bytes instead of a line --- */

/* @size is known when this is compiled, so that it is one store. */
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
 * As memcpy(3), which may be a function that somebody records. The barrier keeps compilers from
 * calling it all the same.
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
 * @bytes may be NULL. A text that is longer than any record can be makes the payload fail, as it
 *        does a line.
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
 * Up to @max bytes of a string that may be NULL; no function of libc is called for it, as the
 * payload may be a place of a recorder's.
 */
void fst_add_string(struct fst_text *text, const char *string, size_t max);

#endif
