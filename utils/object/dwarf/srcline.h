/* Source lines of single instructions, from the line table of a module's debug information. */
#ifndef UTRAIL_OBJECT_SRCLINE_H
#define UTRAIL_OBJECT_SRCLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/strbuf.h"

/* Ends with srcline_close(). */
struct srcline;

/*
 * Open the module @path, and its separate debug file if it has no lines of its own. The module must
 * have the build-id @build_id ("": none). NULL when it has another one, without debug information,
 * in a build without libdw, or when memory is short.
 */
struct srcline *srcline_open(const char *path, const char *build_id);
void srcline_close(struct srcline *lines);

/*
 * Append "FILE:LINE" of the instruction at @addr, relative to the module's map start. FILE is
 * written as in dwarf_info.h. False, with nothing appended, when the line is unknown. @lines may be
 * NULL.
 */
bool srcline_put(struct srcline *lines, uint64_t addr, struct strbuf *out);

#endif
