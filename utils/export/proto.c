/* Protocol buffers (see proto.h). */
#include "utils/export/proto.h"

#include <string.h>

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2,
};

void proto_add_varint(struct strbuf *out, uint64_t v)
{
	uint8_t bytes[VARINT_MAX];

	strbuf_add(out, bytes, put_varint(bytes, v) - bytes);
}

static void add_tag(struct strbuf *out, unsigned field, enum wire_type type)
{
	proto_add_varint(out, (uint64_t)field << 3 | type);
}

void proto_add_uint(struct strbuf *out, unsigned field, uint64_t v)
{
	add_tag(out, field, WIRE_VARINT);
	proto_add_varint(out, v);
}

void proto_add_bytes(struct strbuf *out, unsigned field, const void *data, size_t len)
{
	add_tag(out, field, WIRE_BYTES);
	proto_add_varint(out, len);
	strbuf_add(out, data, len);
}

void proto_add_str(struct strbuf *out, unsigned field, const char *text)
{
	proto_add_bytes(out, field, text, strlen(text));
}

void proto_add_message(struct strbuf *out, unsigned field, const struct strbuf *message)
{
	proto_add_bytes(out, field, strbuf_str(message), message->len);
}
