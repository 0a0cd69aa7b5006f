/* Protocol buffers, as far as exporters write them: fields appended to a byte string. */
#ifndef UTRAIL_EXPORT_PROTO_H
#define UTRAIL_EXPORT_PROTO_H

#include <stdint.h>

#include "utils/base/containers/strbuf.h"

/* A varint takes at most so many bytes. */
#define VARINT_MAX 10

/* HOT: writes to @to, which has VARINT_MAX bytes, and returns the end. */
static inline uint8_t *put_varint(uint8_t *to, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*to++ = v | 0x80;
	*to++ = v;
	return to;
}

/* Numbers of any kind but zigzag ones; negative ones as 64 bits. */
void proto_add_uint(struct strbuf *out, unsigned field, uint64_t v);
/* Strings have to be valid UTF-8, see MEDIUM_BINARY. */
void proto_add_bytes(struct strbuf *out, unsigned field, const void *data, size_t len);
void proto_add_str(struct strbuf *out, unsigned field, const char *text);
/* A message inside of one. */
void proto_add_message(struct strbuf *out, unsigned field, const struct strbuf *message);
/* A value without a field, for packed arrays. */
void proto_add_varint(struct strbuf *out, uint64_t v);

#endif
