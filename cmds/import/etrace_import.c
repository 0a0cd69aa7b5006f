/* Makes a recording from a text that lists process and file events (see etrace_import.h). */
#include "cmds/import/etrace_import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/events/events_log.h"
#include "cmds/import/dir.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/format/datadir.h"
#include "utils/builddb/etrace/etrace_read.h"

/* Encoded records stay in memory until this number of bytes is reached, and are then written. */
#define BUFFER_BYTES (1UL << 20)
/* More bytes than the first line of an etrace text has: the line contains at most one path. */
#define HEAD_BYTES   8192

/*
 * Limits on the size of the records, as multiples of the size of the imported text. HELD_TIMES
 * limits the records in memory, WRITTEN_TIMES the records in the file. Each limit is at least
 * BYTES_MIN. With --no-limit, no limit applies.
 */
#define BYTES_MIN     (64UL << 20)
#define HELD_TIMES    4
#define WRITTEN_TIMES 100

/*
 * @text_bytes: the length of the text
 * @program: the program that was executed first
 * @first_ns: the time of the first event; @reader has the time of the last record
 */
struct importing {
	const struct opts *opts;
	const char *path;
	struct log_problems problems;
	struct etrace_reader reader;
	struct store_dir dir;
	struct strbuf program;
	uint64_t text_bytes;
	uint64_t first_ns;
	uint64_t nr_events;
};

static int check_bytes(const struct importing *im, uint64_t bytes, unsigned times,
		       struct uft_err *err)
{
	uint64_t max = MAX(BYTES_MIN, im->text_bytes * times);

	if (im->opts->no_limit || bytes <= max)
		return 0;
	return err_set(err, -EDQUOT,
		       "cannot import '%s': its events would have more than %" PRIu64
		       " bytes, which is the limit for a text of this size; if you trust it, use "
		       "--no-limit",
		       im->path, max);
}

/* --- which files are meant --- */

/* Returns 1 for a file with an etrace text, 0 for another file, or a negative error with @err. */
static int is_text(const char *path, struct uft_err *err)
{
	char head[HEAD_BYTES];
	int fd cleanup_fd = file_open_regular(path, err);
	ssize_t len = fd < 0 ? fd : fd_pread_full(fd, head, sizeof(head), 0);
	const char *newline = len > 0 ? memchr(head, '\n', len) : NULL;

	if (fd < 0)
		return fd;
	if (len < 0)
		return err_set_errno(err, (int)len, "cannot read '%s'", path);
	return etrace_is_first_line(head, newline ? newline - head : len);
}

int etrace_is_given(const struct opts *opts, struct uft_err *err)
{
	int nr = 0;

	for (int i = 1; i < opts->nr_args; i++) {
		int ret = is_text(opts->args[i], err);

		if (ret < 0)
			return ret;
		nr += ret;
	}
	if (nr && opts->nr_args > 2)
		return err_set(err, -ERR_USAGE,
			       "events import: a text of process and file events is imported "
			       "alone: give one file");
	if (nr && (opts->import_into || opts->import_common))
		return err_set(err, -ERR_USAGE,
			       "option '--%s' means nothing for process and file events",
			       opts->import_into ? "into" : "common");
	return nr;
}

/* --- reading --- */

static void note_problem(void *self, uint64_t line, size_t at, const char *text)
{
	struct importing *im = self;

	log_problems_note(&im->problems, im->path, line, at, text);
}

static int read_lines(struct importing *im, struct uft_err *err)
{
	FILE *file cleanup_file = fopen(im->path, "re");
	char *text cleanup_free = NULL;
	struct stat status;
	size_t room = 0;
	ssize_t len;
	int ret;

	if (!file)
		return err_set_errno(err, -errno, "cannot open '%s'", im->path);
	im->text_bytes = fstat(fileno(file), &status) == 0 ? status.st_size : 0;
	while (!im->reader.oom && (len = getline(&text, &room, file)) > 0) {
		bool is_ended = text[len - 1] == '\n';

		if (check_bytes(im, im->reader.payloads.len, HELD_TIMES, err) < 0)
			return -EDQUOT;

		etrace_reader_take(&im->reader, text, len - is_ended);
		if (!is_ended)
			note_problem(im, im->reader.line, len, "the line has no end");
	}
	if (!im->reader.oom && !feof(file))
		return err_set_errno(err, -errno, "cannot read '%s'", im->path);
	ret = etrace_reader_end(&im->reader);
	log_problems_end(&im->problems);
	return ret < 0 ? err_set_errno(err, ret, "cannot import '%s'", im->path) : 0;
}

/* --- writing --- */

static void know(struct importing *im, const struct proc_record *rec)
{
	struct proc_exec exec;

	/* Records that only name the CPU of a task are no events. */
	if (rec->kind == PROC_CPU)
		return;
	if (!im->nr_events++)
		im->first_ns = rec->time_ns;
	if (!im->program.len && rec->kind == PROC_EXEC &&
	    proc_exec_decode(rec->data, rec->len, PROC_IS_BIG, &exec))
		strbuf_add(&im->program, exec.program.at, text_left(&exec.program));
}

static int write_records(struct importing *im, struct uft_err *err)
{
	struct store *store = &im->dir.store;
	struct strbuf payload cleanup_strbuf = { 0 };
	struct strbuf buffered cleanup_strbuf = { 0 };
	struct proc_record rec;
	uint64_t bytes = 0;
	int stream = store_open(store, DATADIR_PROCESSES);
	int ret = stream;

	while (ret >= 0 && (ret = etrace_reader_next(&im->reader, &rec, &payload)) > 0) {
		know(im, &rec);
		bytes += PROC_HEAD_BYTES + rec.len;
		ret = check_bytes(im, bytes, WRITTEN_TIMES, err);
		if (ret < 0)
			break;
		proc_record_encode(&rec, &buffered);
		if (buffered.len < BUFFER_BYTES)
			continue;
		ret = strbuf_oom(&buffered)
			      ? -ENOMEM
			      : store_append(store, stream, buffered.data, buffered.len);
		strbuf_reset(&buffered);
	}
	if (ret == 0)
		ret = strbuf_oom(&buffered)
			      ? -ENOMEM
			      : store_append(store, stream, strbuf_str(&buffered), buffered.len);
	if (stream >= 0)
		store_close(store, stream);
	return ret;
}

/*
 * Writes `info`. Leaves out the offset between timestamps and the time of day, because this offset
 * is unknown.
 */
static int write_info(struct importing *im, struct uft_err *err)
{
	struct info info cleanup_info = { .elapsed_ns = im->reader.last_ns - im->first_ns };
	struct data_header header = import_dir_header(im->opts);
	int ret = import_dir_describe(im->opts, strbuf_str(&im->program), im->program.len, &info);

	if (ret < 0)
		return err_set_errno(err, ret, "cannot write 'info'");
	info.mask &= ~(uint64_t)INFO_UTC_OFFSET;
	return import_dir_publish(&im->dir, &header, &info, err);
}

static int write_all(struct importing *im, struct uft_err *err)
{
	int ret = import_dir_make(&im->dir, im->opts->data_dir, "--event-full\n", err);

	if (ret < 0)
		return ret;
	ret = write_records(im, err);
	if (ret < 0 && err->code)
		return ret;
	if (ret < 0)
		return err_set_errno(err, ret, "cannot write '%s'", DATADIR_PROCESSES);
	ret = store_publish(&im->dir.store, "task.txt", "", 0, err);
	if (ret == 0)
		ret = write_info(im, err);
	if (ret == 0)
		store_dir_give_to_user(&im->dir);
	return ret;
}

static void deinit_importing(struct importing *im)
{
	etrace_reader_deinit(&im->reader);
	store_dir_close(&im->dir);
	strbuf_deinit(&im->program);
}

int etrace_import(const struct opts *opts, struct uft_err *err)
{
	struct importing im cleanup(deinit_importing) = {
		.opts = opts,
		.path = opts->args[1],
		.problems = { .msg = &opts->msg },
		.reader = { .note = note_problem },
		.dir = STORE_DIR_CLOSED,
	};
	int ret;

	im.reader.self = &im;
	ret = read_lines(&im, err);
	if (ret == 0 && !im.reader.nr_records)
		ret = err_set(err, -ENODATA, "there is no event in '%s'", im.path);
	if (ret == 0)
		ret = write_all(&im, err);
	if (ret < 0)
		return ret;
	msg_list("%llu events of %zu tasks are in '%s', %llu lines were wrong",
		 (unsigned long long)im.nr_events, im.reader.nr_tasks, opts->data_dir,
		 (unsigned long long)im.problems.nr_all);
	return im.problems.nr_all ? CMD_FAILED : CMD_DONE;
}
