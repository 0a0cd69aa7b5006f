/* Unpacks blocks that trace-cmd has compressed. */
#ifndef UTRAIL_TRACECMD_UNPACK_H
#define UTRAIL_TRACECMD_UNPACK_H

#include <stddef.h>

/*
 * Unpack the @len bytes at @data to @out. At most @out_len bytes are written. Returns 0, -ENOMEM,
 * -ENOSYS in a build without the needed library (libzstd or zlib), or -EBADMSG when the block is
 * damaged or does not unpack to exactly @out_len bytes. When memory is short, unpack_zstd() returns
 * -EBADMSG instead of -ENOMEM.
 */
typedef int unpack_fn(const void *data, size_t len, void *out, size_t out_len);
int unpack_zstd(const void *data, size_t len, void *out, size_t out_len);
int unpack_zlib(const void *data, size_t len, void *out, size_t out_len);

#endif
