/* Reads logs of declared events. The files of a rotated log are read as one log. */
#ifndef UTRAIL_FSTRACE_LOG_H
#define UTRAIL_FSTRACE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/format/fstrace/line.h"

/* The longest valid line, in bytes without the newline. */
#define FST_LOG_LINE_MAX 65536

/*
 * The files of one log, the oldest first.
 *
 * @prefix: the common beginning of the files' names, which has @prefix_len bytes
 * @paths: borrowed; the first @nr_opened have been opened
 * @buf: [@at, @len) is unread
 * @skips: the rest of an overlong line must be skipped
 * @number: the number of lines that fst_log_next() has taken from the open file
 */
struct fst_log {
	const char *prefix;
	size_t prefix_len;
	char **paths;
	size_t nr_paths;
	size_t nr_opened;
	int fd;
	char *buf;
	size_t at;
	size_t len;
	bool skips;
	uint64_t number;
};

/*
 * A line, valid until the next call of fst_log_next().
 *
 * @path: the file that contains the line
 * @number: the number of the line in the file, from 1 on
 * @wrong: the error, at the byte @wrong_at; NULL: the line is valid
 * @parts: the parts of a valid line
 */
struct fst_log_line {
	const char *path;
	uint64_t number;
	const char *wrong;
	size_t wrong_at;
	struct fst_line parts;
};

/*
 * Sort @paths by log, and the files of a log by time. The files of a log have the same PREFIX, and
 * names of these forms:
 *
 * - Old files: "PREFIX-YYYY-MM-DDThh:mm:ss.dddddd.log"
 * - The newest file: "PREFIX.log"
 *
 * A file whose name has neither form is a log of its own.
 */
void fst_log_sort(char **paths, size_t nr);

/*
 * Open the log to which the first of the sorted @paths belongs. Sets log->nr_paths to the number of
 * the log's files. These files are the first ones of @paths. fst_log_close() closes the log.
 */
void fst_log_open(struct fst_log *log, char **paths, size_t nr);
void fst_log_close(struct fst_log *log);

/*
 * Get the next line, which may be invalid. Returns 1 on success, 0 at the end, or a negative errno
 * with @err if a file is unreadable.
 */
int fst_log_next(struct fst_log *log, struct fst_log_line *line, struct uft_err *err);

#endif
