/* Unpacking with zlib (see unpack.h). */
#include <errno.h>
#include <limits.h>
#include <zlib.h>

#include "utils/base/compiler.h"
#include "utils/tracecmd/unpack.h"

/*
 * The largest window has 15 bits. With 32 added, zlib detects whether the block has a header of
 * zlib or gzip.
 */
#define WINDOW_BITS (15 + 32)

int unpack_zlib(const void *data, size_t len, void *out, size_t out_len)
{
	z_stream stream = { .next_in = (z_const Bytef *)data, .next_out = out };

	if (len > UINT_MAX || out_len > UINT_MAX)
		return -EBADMSG;
	stream.avail_in = len;
	stream.avail_out = out_len;
	if (inflateInit2(&stream, WINDOW_BITS) != Z_OK)
		return -ENOMEM;

	int ret = inflate(&stream, Z_FINISH);

	inflateEnd(&stream);
	if (ret == Z_MEM_ERROR)
		return -ENOMEM;
	return ret == Z_STREAM_END && stream.avail_out == 0 ? 0 : -EBADMSG;
}
