/*
 * Writes the files `info` and `default.opts`. These files describe the program, the settings and
 * the result of a recording.
 */
#ifndef UTRAIL_CMDS_RECORD_RUN_INFOFILE_H
#define UTRAIL_CMDS_RECORD_RUN_INFOFILE_H

#include "cmds/record/run/run.h"

/*
 * Write `info` with the minimum that readers need. Call this function before the program starts.
 * Returns 0, or a negative error with @err.
 */
int infofile_begin(const struct run *run, struct uft_err *err);

/*
 * Write the complete `info`. Call this function after the end of the recording. Returns 0, or a
 * negative error with @err.
 */
int infofile_finish(const struct run *run, struct recorder *rec, struct uft_err *err);

/* Returns the command line in shell syntax, on the heap, or NULL when memory is short. */
char *infofile_command_line(const struct opts *opts);

/*
 * Write the file default.opts. It contains options of `record` that other commands must apply when
 * they read the recording (doc/formats/events.md, "default.opts"). Returns 0, or a negative error
 * with @err.
 */
int infofile_default_opts(const struct run *run, struct uft_err *err);

#endif
