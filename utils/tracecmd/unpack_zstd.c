/* Unpacking with libzstd (see unpack.h). */
#include <errno.h>
#include <zstd.h>

#include "utils/tracecmd/unpack.h"

int unpack_zstd(const void *data, size_t len, void *out, size_t out_len)
{
	size_t got = ZSTD_decompress(out, out_len, data, len);

	return ZSTD_isError(got) || got != out_len ? -EBADMSG : 0;
}
