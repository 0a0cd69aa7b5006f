/* The libraries that a program is loaded with. */
#ifndef UTRAIL_CMDS_LIBRARIES_H
#define UTRAIL_CMDS_LIBRARIES_H

#include "utils/base/containers/strbuf.h"

/*
 * Ask the dynamic linker of the program at @path whom it would load with it, itself included:
 * ld.so(8), --list, which maps the program and runs nothing of it. The paths are appended to
 * @paths, each ended by a zero byte (strbuf_list_each()). None when the program has no such linker.
 * 0, or negative: the linker cannot be asked.
 */
int libraries_of(const char *path, struct strbuf *paths);

#endif
