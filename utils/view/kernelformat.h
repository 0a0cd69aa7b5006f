/* Format files of the kernel's events: are they what a kernel writes? */
#ifndef UTRAIL_VIEW_KERNELFORMAT_H
#define UTRAIL_VIEW_KERNELFORMAT_H

#include <stdbool.h>

#include "utils/base/strbuf.h"
#include "utils/format/text.h"

/*
 * libtraceevent reads what kernels write, and falls over much of the rest. So it gets to see a copy
 * of @format that has only what is known to be well-formed: the lines of fields, and of the line
 * "print fmt" the text and the expressions behind it if they are such, speak of fields that there
 * are, and use functions that the library knows. Else that text is empty, and *@has_print is false.
 * Returns false when not even the fields are good.
 *
 * Documentation/trace/events.rst of the kernel, "Event formats".
 */
bool kernelformat_clean(struct text format, struct strbuf *out, bool *has_print);

#endif
