/* Writes `info` and `default.opts` of a recording: its program, its settings, its end. */
#ifndef UTRAIL_CMDS_RECORD_RUN_INFOFILE_H
#define UTRAIL_CMDS_RECORD_RUN_INFOFILE_H

#include "cmds/record/run/run.h"

/* Write `info` with the least that a reader needs, before the start. 0 or negative with @err. */
int infofile_begin(const struct run *run, struct uft_err *err);

/* Write `info` with everything, after the end. Returns 0 or negative with @err. */
int infofile_finish(const struct run *run, struct recorder *rec, struct uft_err *err);

/* Returns the command line in shell syntax, on the heap; NULL without memory. */
char *infofile_command_line(const struct opts *opts);

/*
 * Write options that reading commands must use, too (doc/formats/events.md, "default.opts").
 * Returns 0 or negative with @err.
 */
int infofile_default_opts(const struct run *run, struct uft_err *err);

#endif
