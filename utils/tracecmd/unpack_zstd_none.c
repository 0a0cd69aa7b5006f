/* Replaces unpack_zstd.c in a build without libzstd (see unpack.h). */
#include <errno.h>

#include "utils/tracecmd/unpack.h"

int unpack_zstd(const void *data, size_t len, void *out, size_t out_len)
{
	return -ENOSYS;
}
