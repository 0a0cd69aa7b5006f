/*
 * Makes checked copies of the format files of the kernel's events. libtraceevent parses only these
 * copies.
 */
#ifndef UTRAIL_VIEW_KERNELFORMAT_H
#define UTRAIL_VIEW_KERNELFORMAT_H

#include <stdbool.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/text.h"

/*
 * Append a checked copy of @format (Documentation/trace/events.rst of the kernel, "Event formats").
 * libtraceevent crashes on many formats that no kernel writes. Returns false when the head or a
 * field is invalid, when @format has more than 32 KiB, or when memory is short.
 *
 * @has_print: becomes false when the line "print fmt" is malformed, or uses an unknown field or
 *         function. In this case, the text of the line is empty in the copy
 */
bool kernelformat_clean(struct text format, struct strbuf *out, bool *has_print);

#endif
