/*
 * `utrail events check`: checks that the lines of a log have the form that libutrail-trace writes.
 * `events check` and `events import` report wrong lines with struct log_problems.
 */
#ifndef UTRAIL_CMDS_EVENTS_LOG_H
#define UTRAIL_CMDS_EVENTS_LOG_H

#include <stdint.h>

#include "cmds/opts.h"
#include "utils/base/err.h"

/*
 * Check the logs whose paths are in opts->args, from opts->args[1] on. List the errors in these
 * logs. Returns an exit status, or a negative error with @err.
 */
int events_log_check(const struct opts *opts, struct uft_err *err);

/*
 * Counts the wrong lines of logs. The first wrong lines of each file are reported one by one. For
 * the other wrong lines of a file, only their number is reported.
 *
 * @msg: receives warnings; NULL: the reports go to stdout
 * @path: the file of the last wrong line
 * @nr: the number of wrong lines in @path
 * @nr_all: the number of wrong lines in all files
 */
struct log_problems {
	const struct msg *msg;
	const char *path;
	uint64_t nr;
	uint64_t nr_all;
};

/*
 * Count a wrong line. Report the line if it is one of the first wrong lines of the file. @number is
 * the line's number, from 1. @at is the offset of the wrong byte in the line, from 0.
 */
void log_problems_note(struct log_problems *problems, const char *path, uint64_t number, size_t at,
		       const char *wrong);

/*
 * Report the number of wrong lines in problems->path that log_problems_note() has not reported one
 * by one. Call this function after the last file. When a wrong line of another file follows,
 * log_problems_note() itself calls this function for the former file.
 */
void log_problems_end(struct log_problems *problems);

#endif
