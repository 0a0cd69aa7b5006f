/* Checks that format files of the kernel's events are such as a kernel writes. */
#ifndef UTRAIL_VIEW_KERNELFORMAT_H
#define UTRAIL_VIEW_KERNELFORMAT_H

#include <stdbool.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/text.h"

/*
 * libtraceevent crashes on many formats that no kernel writes. So it gets a checked copy of
 * @format: the head, the lines of the fields, and the line "print fmt". The copy has an empty text
 * in that line, and *@has_print is false, if the line is malformed, or if an expression in it uses
 * a field that @format does not have, or a function that the library does not know. Returns false
 * when the head or a field is invalid.
 *
 * Documentation/trace/events.rst of the kernel, "Event formats".
 */
bool kernelformat_clean(struct text format, struct strbuf *out, bool *has_print);

#endif
