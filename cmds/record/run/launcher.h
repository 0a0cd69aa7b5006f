/*
 * Programs of a few kilobytes whose code is in a library of many megabytes: -P . says little of
 * these.
 */
#ifndef UTRAIL_CMDS_RECORD_RUN_LAUNCHER_H
#define UTRAIL_CMDS_RECORD_RUN_LAUNCHER_H

#include "cmds/record/run/recorder.h"

/*
 * Say which library the code of the program @path is in, if rules of -P are about the program alone
 * and it is a launcher: by the sizes of what could be patched. Appended to @out, which stays empty
 * otherwise.
 */
void launcher_describe(struct recorder *rec, const char *path, struct strbuf *out);

#endif
