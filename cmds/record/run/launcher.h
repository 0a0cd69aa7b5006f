/*
 * Launchers. A launcher is a program of a few kilobytes whose code is in a library of many
 * megabytes. The option `-P .` records little of such a program.
 */
#ifndef UTRAIL_CMDS_RECORD_RUN_LAUNCHER_H
#define UTRAIL_CMDS_RECORD_RUN_LAUNCHER_H

#include "cmds/record/run/recorder.h"

/*
 * If -P names only the program @path, and this program is a launcher, append a sentence to @out.
 * The sizes of the code in the program and in its libraries decide if the program is a launcher.
 * The sentence suggests the -P option that records the library with the most code. The function
 * ignores libraries that are common to many programs, such as the C library.
 */
void launcher_describe(struct recorder *rec, const char *path, struct strbuf *out);

#endif
