/* Replaces unpack_zlib.c in a build without zlib (see unpack.h). */
#include <errno.h>

#include "utils/tracecmd/unpack.h"

int unpack_zlib(const void *data, size_t len, void *out, size_t out_len)
{
	return -ENOSYS;
}
