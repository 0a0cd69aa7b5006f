/* Compression with zlib (see pack.h). */
#include <zlib.h>

#include "utils/export/page/pack.h"

/* Level 9 makes pages 2 % smaller, but takes three times as long. */
#define LEVEL 6

bool pack_zlib(struct strbuf *out, const void *data, size_t len)
{
	uLongf packed = compressBound(len);

	if (!strbuf_grow(out, packed) ||
	    compress2((Bytef *)out->data + out->len, &packed, data, len, LEVEL) != Z_OK)
		return false;
	out->len += packed;
	out->data[out->len] = '\0';
	return true;
}
