/*
 * Programs of a few kilobytes whose code is in a library of many megabytes: -P . shows little of
 * these.
 */
#ifndef UTRAIL_CMDS_RECORD_RUN_LAUNCHER_H
#define UTRAIL_CMDS_RECORD_RUN_LAUNCHER_H

#include "cmds/record/run/recorder.h"

/*
 * Name the library that has the code of the program @path, if rules of -P are about the program
 * alone and it is a launcher, by the sizes of their code. Appended to @out, which stays empty
 * otherwise.
 */
void launcher_describe(struct recorder *rec, const char *path, struct strbuf *out);

#endif
