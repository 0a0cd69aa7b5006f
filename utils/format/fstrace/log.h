/*
 * Logs of declared events as they lie on disk: one that was turned is several files, which are read
 * as one.
 */
#ifndef UTRAIL_FSTRACE_LOG_H
#define UTRAIL_FSTRACE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/format/fstrace/line.h"

/* A longer one is no line that anybody takes, wherever it ends. Bytes without the newline. */
#define FST_LOG_LINE_MAX 65536

/*
 * The files of one log, the oldest first.
 *
 * @prefix: the common beginning of their names, of @prefix_len bytes
 * @paths, @nr_paths: borrowed; @nr_opened of them were, or are, read
 * @buf, @at, @len: [@at, @len) of @buf was not looked at yet
 * @skips: the rest of a line that is too long
 * @number: of the line that was read last, in its file
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
 * A line, until the next one is read.
 *
 * @path, @number: where it stands, counted from 1
 * @wrong: NULL, or why it is none; @wrong_at: at which byte, counted from 0. Otherwise @parts are
 *         known
 */
struct fst_log_line {
	const char *path;
	uint64_t number;
	const char *wrong;
	size_t wrong_at;
	struct fst_line parts;
};

/*
 * Put @paths, @nr of them, in order: those of a log follow each other, by the time in the names
 * that old files have, "PREFIX-YYYY-MM-DDThh:mm:ss.dddddd.log", and "PREFIX.log" is the newest one.
 * A name of any other form is a log of its own.
 */
void fst_log_sort(char **paths, size_t nr);

/*
 * The first log in @paths, which are in order. Its files are opened one by one. It ends with
 * fst_log_close().
 */
void fst_log_open(struct fst_log *log, char **paths, size_t nr);
void fst_log_close(struct fst_log *log);

/*
 * 1 with the next line, right or wrong; 0 at the end; negative with @err when a file cannot be
 * read.
 */
int fst_log_next(struct fst_log *log, struct fst_log_line *line, struct uft_err *err);

#endif
