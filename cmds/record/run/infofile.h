/* `info` and `default.opts` of a recording: what it is of, how it was made, how it ended. */
#ifndef UTRAIL_CMDS_RECORD_RUN_INFOFILE_H
#define UTRAIL_CMDS_RECORD_RUN_INFOFILE_H

#include "cmds/record/run/run.h"

/* Before the program starts: `info` with what a reader needs at least. 0 or negative with @err. */
int infofile_begin(const struct run *run, struct uft_err *err);

/* When it has ended: `info` with everything. 0 or negative with @err. */
int infofile_finish(const struct run *run, struct recorder *rec, struct uft_err *err);

/* The command line as a shell takes it; of the heap, NULL without memory. */
char *infofile_command_line(const struct opts *opts);

/*
 * Options that reading commands are to use, too (doc/formats/events.md, "default.opts"). 0 or
 * negative with @err.
 */
int infofile_default_opts(const struct run *run, struct uft_err *err);

#endif
