/* Replaces pack_zlib.c if zlib is absent (see pack.h). */
#include "utils/export/page/pack.h"

bool pack_zlib(struct strbuf *out, const void *data, size_t len)
{
	return false;
}
