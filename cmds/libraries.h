/* The libraries that a program is loaded with. */
#ifndef UTRAIL_CMDS_LIBRARIES_H
#define UTRAIL_CMDS_LIBRARIES_H

#include "utils/base/containers/strbuf.h"

/*
 * Append to @paths the path of the program at @path and those of its libraries, each ended by a
 * zero byte (strbuf_list_each()). The program's dynamic linker lists them by its option --list
 * (ld.so(8)): the linker maps the program, and runs nothing of it. A program without such a linker
 * gets no paths. Returns 0, or negative when the linker cannot be asked.
 */
int libraries_of(const char *path, struct strbuf *paths);

#endif
