/* The libraries that a program is loaded with. */
#ifndef UTRAIL_CMDS_LIBRARIES_H
#define UTRAIL_CMDS_LIBRARIES_H

#include "cmds/terminal/msg.h"
#include "utils/base/containers/strbuf.h"

/*
 * Append to @paths the paths of the libraries of the program @path, each with its NUL. The dynamic
 * linker counts as one of the libraries. This function runs the linker with --list (ld.so(8)).
 *
 * Returns 0, or a negative errno when the linker cannot be run. Returns 1, and appends nothing,
 * when the linker must not be run: the linker is not in a library directory of the system, or the
 * program's headers would make the linker run code of the program.
 *
 * With --list, the linker only maps the program and its libraries. The headers of the libraries are
 * not checked. The file @path must not change during the call.
 */
int libraries_of(const char *path, struct strbuf *paths);

/*
 * Warn that the libraries of the program @path are not shown. Call this when libraries_of() has
 * returned 1.
 */
void libraries_warn(const char *path, const struct msg *msg);

#endif
