/* The libraries that a program is loaded with. */
#ifndef UTRAIL_CMDS_LIBRARIES_H
#define UTRAIL_CMDS_LIBRARIES_H

#include "utils/base/containers/strbuf.h"

/*
 * Append to @paths the paths of the libraries of the program @path, each with its NUL. The dynamic
 * linker is one of them. Appends nothing when the program has no dynamic linker with --list
 * (ld.so(8)) in a library directory of the system. Returns 0, or a negative errno when the linker
 * cannot be run.
 *
 * No code of the program runs: the dynamic linker only maps the program. The program's file may be
 * a stranger's, and names the linker, so a linker in any other directory is not run. Nothing is
 * appended either when the program names libraries whose code the linker would run (DT_AUDIT), or
 * when its headers might hide such names. The file must not change meanwhile.
 */
int libraries_of(const char *path, struct strbuf *paths);

#endif
