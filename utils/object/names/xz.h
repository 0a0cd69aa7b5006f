/* Unpacking of xz streams, for .gnu_debugdata. */
#ifndef UTRAIL_OBJECT_XZ_H
#define UTRAIL_OBJECT_XZ_H

#include <stddef.h>

#include "utils/base/containers/strbuf.h"

/*
 * Append the content of an xz stream. Returns 0, -ENOSYS in a build without liblzma, -EFBIG when
 * the content has more than @max_bytes or unpacking needs more than 128 MiB, -EINVAL for damaged
 * data, or -ENOMEM. @out is undefined after a failure.
 */
int xz_decode(const void *data, size_t len, size_t max_bytes, struct strbuf *out);

#endif
