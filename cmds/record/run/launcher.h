/*
 * Launchers: programs of a few kilobytes whose code is in a library of many megabytes. -P . records
 * little of such a program.
 */
#ifndef UTRAIL_CMDS_RECORD_RUN_LAUNCHER_H
#define UTRAIL_CMDS_RECORD_RUN_LAUNCHER_H

#include "cmds/record/run/recorder.h"

/*
 * Append to @out the name of the library that has the code of the program @path. This is done only
 * if the rules of -P are about the program alone, and the sizes of code show a launcher.
 */
void launcher_describe(struct recorder *rec, const char *path, struct strbuf *out);

#endif
