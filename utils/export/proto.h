/* Encodes messages in the format of protocol buffers. */
#ifndef UTRAIL_EXPORT_PROTO_H
#define UTRAIL_EXPORT_PROTO_H

#include <stdint.h>

#include "utils/base/containers/strbuf.h"

/* The maximum length of a varint in bytes. */
#define VARINT_MAX 10

/* HOT: writes up to VARINT_MAX bytes to @to, and returns the end. */
static inline uint8_t *put_varint(uint8_t *to, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*to++ = v | 0x80;
	*to++ = v;
	return to;
}

/*
 * Append a field of a type that is encoded as a varint, except sint32 and sint64 (zigzag). The
 * caller must pass a negative number as an int64_t that was converted to uint64_t.
 */
void proto_add_uint(struct strbuf *out, unsigned field, uint64_t v);
/* Append bytes, or a string in valid UTF-8 (see MEDIUM_BINARY). */
void proto_add_bytes(struct strbuf *out, unsigned field, const void *data, size_t len);
void proto_add_str(struct strbuf *out, unsigned field, const char *text);
/* Append a message within a message. */
void proto_add_message(struct strbuf *out, unsigned field, const struct strbuf *message);
/* Append a value without a field, for packed arrays. */
void proto_add_varint(struct strbuf *out, uint64_t v);

#endif
