/* Compression of what the page carries along. */
#ifndef UTRAIL_EXPORT_PACK_H
#define UTRAIL_EXPORT_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/containers/strbuf.h"

/*
 * Append the @len bytes at @data to @out as a stream of zlib, which browsers unpack by themselves
 * (RFC 1950). False: built without the library, or memory is short; @out is as it was.
 */
bool pack_zlib(struct strbuf *out, const void *data, size_t len);

#endif
