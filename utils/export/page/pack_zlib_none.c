/* Takes the place of pack_zlib.c in a build without zlib. */
#include "utils/export/page/pack.h"

bool pack_zlib(struct strbuf *out, const void *data, size_t len)
{
	return false;
}
