/* The libraries that a program is loaded with. */
#ifndef UTRAIL_CMDS_LIBRARIES_H
#define UTRAIL_CMDS_LIBRARIES_H

#include "utils/base/containers/strbuf.h"

/*
 * Find the libraries of the program at @path, and the program itself. Its dynamic linker prints
 * them with --list (ld.so(8)): it maps the program, and runs nothing of it. The paths are appended
 * to @paths, each ended by a zero byte (strbuf_list_each()). A program without such a linker gets
 * no paths. Returns 0, or negative when the linker cannot be asked.
 */
int libraries_of(const char *path, struct strbuf *paths);

#endif
