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
 * Open the module @path. If the module has no section .debug_line, also open the module's debug
 * file. Returns NULL when the module's build-id is not @build_id, when there is no debug
 * information, when memory is short, or in a build without libdw.
 *
 * @build_id: "": the module must have no build-id
 */
struct srcline *srcline_open(const char *path, const char *build_id);
void srcline_close(struct srcline *lines);

/*
 * Append "FILE:LINE" of the instruction at @addr. Returns false, and appends nothing, when the line
 * is unknown.
 *
 * @addr: relative to the module's map start
 * @lines: may be NULL
 */
bool srcline_put(struct srcline *lines, uint64_t addr, struct strbuf *out);

#endif
