/* Checks that format files of the kernel's events are such as a kernel writes. */
#ifndef UTRAIL_VIEW_KERNELFORMAT_H
#define UTRAIL_VIEW_KERNELFORMAT_H

#include <stdbool.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/text.h"

/*
 * libtraceevent reads formats of kernels, and crashes on many others. So it gets a copy of @format
 * with the well-formed parts only: the lines of fields, and of the line "print fmt" the text and
 * its expressions. These must use existing fields and functions of the library; else the text is
 * empty, and *@has_print is false. Returns false when even the fields are invalid.
 *
 * Documentation/trace/events.rst of the kernel, "Event formats".
 */
bool kernelformat_clean(struct text format, struct strbuf *out, bool *has_print);

#endif
