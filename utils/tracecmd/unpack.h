/* Unpacks blocks that trace-cmd compresses: one block of known size. */
#ifndef UTRAIL_TRACECMD_UNPACK_H
#define UTRAIL_TRACECMD_UNPACK_H

#include <stddef.h>

/*
 * Unpack a block: the @len bytes at @data must become exactly @out_len bytes at @out; never more
 * are written. 0; -ENOSYS: built without the library; -EBADMSG: damaged, or of another size;
 * -ENOMEM.
 */
typedef int unpack_fn(const void *data, size_t len, void *out, size_t out_len);
int unpack_zstd(const void *data, size_t len, void *out, size_t out_len);
int unpack_zlib(const void *data, size_t len, void *out, size_t out_len);

#endif
