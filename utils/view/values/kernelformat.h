/* Checks of the format files of the kernel's events, for libtraceevent. */
#ifndef UTRAIL_VIEW_KERNELFORMAT_H
#define UTRAIL_VIEW_KERNELFORMAT_H

#include <stdbool.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/text.h"

/*
 * Append a checked copy of @format: the head, the fields and the line "print fmt". libtraceevent
 * crashes on many formats that no kernel writes. If the line is malformed, or uses an unknown field
 * or function, its text is empty in the copy, and *@has_print is false. Returns false when the head
 * or a field is invalid.
 *
 * Documentation/trace/events.rst of the kernel, "Event formats".
 */
bool kernelformat_clean(struct text format, struct strbuf *out, bool *has_print);

#endif
