/*
 * `utrail events check`: checks that the lines of a log are as libutrail-trace writes them. Other
 * readers of logs report wrong lines with struct log_problems, too.
 */
#ifndef UTRAIL_CMDS_EVENTS_LOG_H
#define UTRAIL_CMDS_EVENTS_LOG_H

#include <stdint.h>

#include "cmds/opts.h"
#include "utils/base/err.h"

/*
 * List the errors in the files that opts->args names after its first word. Returns an exit status,
 * or negative with @err.
 */
int events_log_check(const struct opts *opts, struct uft_err *err);

/*
 * Wrong lines of a log's files; only the first ones of each file are reported.
 *
 * @msg: receives warnings; NULL: they are listed on stdout
 * @path, @nr: the file of the last problem, and its number of problems
 * @nr_all: problems of all files
 */
struct log_problems {
	const struct msg *msg;
	const char *path;
	uint64_t nr;
	uint64_t nr_all;
};

/* Note a wrong line. @number: the line's number, from 1 on; @at: the byte's number, from 0 on. */
void log_problems_note(struct log_problems *problems, const char *path, uint64_t number, size_t at,
		       const char *wrong);

/* Call it after the last problem of a file, or of all files. */
void log_problems_end(struct log_problems *problems);

#endif
