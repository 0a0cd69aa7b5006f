/* Compression of the page's data. */
#ifndef UTRAIL_EXPORT_PACK_H
#define UTRAIL_EXPORT_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/containers/strbuf.h"

/*
 * Append the @len bytes at @data as a stream of zlib (RFC 1950), which browsers can unpack. Returns
 * false, with @out unchanged, in a build without zlib or when memory is short.
 */
bool pack_zlib(struct strbuf *out, const void *data, size_t len);

#endif
