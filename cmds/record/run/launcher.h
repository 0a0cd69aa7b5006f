/*
 * Launchers: programs of a few kilobytes whose code is in a library of many megabytes. -P . records
 * little of such a program.
 */
#ifndef UTRAIL_CMDS_RECORD_RUN_LAUNCHER_H
#define UTRAIL_CMDS_RECORD_RUN_LAUNCHER_H

#include "cmds/record/run/recorder.h"

/*
 * If -P is about the program alone, and the sizes of code show that the program @path is a
 * launcher, append to @out a sentence that names the library with its code.
 */
void launcher_describe(struct recorder *rec, const char *path, struct strbuf *out);

#endif
