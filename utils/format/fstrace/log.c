/* Reads logs of declared events (see log.h). The files are untrusted. */
#include "utils/format/fstrace/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/fd.h"

#define BUF_BYTES (4 * FST_LOG_LINE_MAX)

/* --- names --- */

#define SUFFIX ".log"

/*
 * libutrail-trace puts this stamp between the prefix and the suffix of an old file's name. Each
 * '0' stands for a digit.
 */
static const char stamp_shape[] = "-0000-00-00T00:00:00.000000";

#define STAMP_LEN (sizeof(stamp_shape) - 1)

static bool is_stamp(const char *text)
{
	for (size_t i = 0; i < STAMP_LEN; i++) {
		if (stamp_shape[i] == '0' ? text[i] < '0' || text[i] > '9'
					  : text[i] != stamp_shape[i])
			return false;
	}
	return true;
}

/*
 * The parts of a file's name.
 *
 * @len: the length of the prefix, or of the whole name if not @is_log
 * @is_log: the name ends in ".log", like the names of the files that libutrail-trace writes
 * @stamp: the stamp of an old file; NULL: there is none
 */
struct log_name {
	size_t len;
	bool is_log;
	const char *stamp;
};

static struct log_name name_of(const char *path)
{
	size_t len = strlen(path);
	size_t suffix = strlen(SUFFIX);

	if (len < suffix || strcmp(path + len - suffix, SUFFIX) != 0)
		return (struct log_name){ .len = len };
	len -= suffix;
	if (len > STAMP_LEN && is_stamp(path + len - STAMP_LEN))
		return (struct log_name){ len - STAMP_LEN, true, path + len - STAMP_LEN };
	return (struct log_name){ len, true, NULL };
}

static int compare_logs(const char *a, const struct log_name *x, const char *b,
			const struct log_name *y)
{
	size_t len = x->len < y->len ? x->len : y->len;
	int by_prefix = memcmp(a, b, len);

	if (by_prefix)
		return by_prefix;
	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return x->is_log - y->is_log;
}

static int compare_paths(const void *a, const void *b)
{
	const char *one = *(char *const *)a;
	const char *other = *(char *const *)b;
	struct log_name x = name_of(one);
	struct log_name y = name_of(other);
	int by_log = compare_logs(one, &x, other, &y);

	if (by_log)
		return by_log;
	if (x.stamp && y.stamp)
		return memcmp(x.stamp, y.stamp, STAMP_LEN);
	return !x.stamp - !y.stamp;
}

void fst_log_sort(char **paths, size_t nr)
{
	if (nr)
		qsort(paths, nr, sizeof(*paths), compare_paths);
}

void fst_log_open(struct fst_log *log, char **paths, size_t nr)
{
	struct log_name first = name_of(paths[0]);

	*log = (struct fst_log){
		.prefix = paths[0], .prefix_len = first.len, .paths = paths, .nr_paths = 1, .fd = -1
	};
	for (; log->nr_paths < nr; log->nr_paths++) {
		struct log_name name = name_of(paths[log->nr_paths]);

		if (compare_logs(paths[0], &first, paths[log->nr_paths], &name) != 0)
			break;
	}
}

static void close_file(struct fst_log *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
}

void fst_log_close(struct fst_log *log)
{
	close_file(log);
	free(log->buf);
	log->buf = NULL;
}

/* --- lines --- */

static const char *path_of(const struct fst_log *log)
{
	return log->paths[log->nr_opened - 1];
}

/* Open the next file. Returns 1 on success, 0 when there is no other file, or a negative errno. */
static int open_next(struct fst_log *log, struct uft_err *err)
{
	if (log->nr_opened == log->nr_paths)
		return 0;
	if (!log->buf)
		log->buf = malloc(BUF_BYTES);
	if (!log->buf)
		return err_set_errno(err, -ENOMEM, "cannot read '%s'", log->paths[0]);
	log->nr_opened++;
	log->fd = open(path_of(log), O_RDONLY | O_CLOEXEC);
	if (log->fd < 0)
		return err_set_errno(err, -errno, "cannot open '%s'", path_of(log));
	log->at = log->len = 0;
	log->skips = false;
	log->number = 0;
	return 1;
}

/*
 * Read from the file, and append the new bytes to the unread bytes in the buffer. Returns 1 on
 * success, 0 at the end of the file, or a negative errno.
 */
static int read_more(struct fst_log *log, struct uft_err *err)
{
	ssize_t n;

	memmove(log->buf, log->buf + log->at, log->len - log->at);
	log->len -= log->at;
	log->at = 0;
	do {
		n = read(log->fd, log->buf + log->len, BUF_BYTES - log->len);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_set_errno(err, -errno, "cannot read '%s'", path_of(log));
	log->len += n;
	return n > 0;
}

static void parse_log_line(const char *text, size_t len, bool is_ended, struct fst_log_line *line)
{
	line->wrong_at = FST_LOG_LINE_MAX;
	line->wrong = len > FST_LOG_LINE_MAX
			      ? "the line is longer than 65536 bytes"
			      : fst_line_parse(text, len, &line->parts, &line->wrong_at);
	if (line->wrong || is_ended)
		return;
	line->wrong = "the line has no end";
	line->wrong_at = len;
}

/* Take the bytes in the buffer up to @end as a line. @is_ended: a newline is at @end */
static int take_line(struct fst_log *log, const char *end, bool is_ended, struct fst_log_line *line)
{
	const char *text = log->buf + log->at;

	*line = (struct fst_log_line){ .path = path_of(log), .number = ++log->number };
	parse_log_line(text, end - text, is_ended, line);
	log->at = end - log->buf + is_ended;
	return 1;
}

/*
 * Get the next line of the open file. Returns 1 on success, 0 at the end of the file, or a negative
 * errno.
 */
static int next_of_file(struct fst_log *log, struct fst_log_line *line, struct uft_err *err)
{
	size_t looked = 0;

	for (;;) {
		size_t left = log->len - log->at;
		char *text = log->buf + log->at;
		char *end = left > looked ? memchr(text + looked, '\n', left - looked) : NULL;
		bool skipped = log->skips;

		if (end && skipped)
			log->at += end - text + 1;
		log->skips = skipped && !end;
		if (end && !skipped)
			return take_line(log, end, true, line);
		if (end)
			continue;
		if (skipped)
			log->at = log->len;
		else if (left > FST_LOG_LINE_MAX) {
			log->skips = true;
			return take_line(log, text + left, false, line);
		}
		looked = log->len - log->at;

		int ret = read_more(log, err);

		if (ret < 0)
			return ret;
		if (ret == 0)
			return log->len > log->at ? take_line(log, log->buf + log->len, false, line)
						  : 0;
	}
}

int fst_log_next(struct fst_log *log, struct fst_log_line *line, struct uft_err *err)
{
	for (;;) {
		int ret = log->fd >= 0 ? next_of_file(log, line, err) : 0;

		if (ret != 0)
			return ret;
		close_file(log);
		ret = open_next(log, err);
		if (ret <= 0)
			return ret;
	}
}
