/* Source of events: extern.dat (see src_extern.h). */
#include "utils/pipeline/sources/src_extern.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/format/text.h"

#define BUFFER_BYTES	(64 * 1024)
#define EXTERN_TEXT_MAX 1023

/*
 * A line that is kept for sorting. @nr: its number in the file, by which lines of the same time are
 * ordered. @text: on the heap
 */
struct held_line {
	uint64_t time_ns;
	uint64_t nr;
	char *text;
	size_t len;
};

/*
 * @buf: the bytes [@at, @len) were read, but no line was taken from them yet
 * @nr_lines: number of lines taken
 * @file_ended: the rest of the file is in the buffer
 * @is_within: the buffer begins in the middle of a line that did not fit
 * @held: a heap of lines, the earliest at the top
 * @shown: the text of the line that the source's read() has delivered last
 * @why: the error that ended the reading of lines
 */
struct src_extern {
	struct source source;
	char *path;
	int fd;
	char *buf;
	size_t at;
	size_t len;
	uint64_t offset;
	uint64_t nr_lines;
	bool file_ended;
	bool is_within;
	struct held_line *held;
	size_t nr_held;
	char *shown;
	struct uft_err why;
};

static bool is_before(const struct held_line *a, const struct held_line *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->nr < b->nr;
}

static void push_held_line(struct src_extern *src, struct held_line line)
{
	size_t at = src->nr_held++;

	while (at && is_before(&line, &src->held[(at - 1) / 2])) {
		src->held[at] = src->held[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	src->held[at] = line;
}

static struct held_line pop_held_line(struct src_extern *src)
{
	struct held_line first = src->held[0];
	struct held_line last = src->held[--src->nr_held];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= src->nr_held)
			break;
		if (child + 1 < src->nr_held && is_before(&src->held[child + 1], &src->held[child]))
			child++;
		if (!is_before(&src->held[child], &last))
			break;
		src->held[at] = src->held[child];
		at = child;
	}
	src->held[at] = last;
	return first;
}

/*
 * Fill the buffer. The bytes [@at, @len) move to the start of the buffer, and bytes of the file are
 * added at the end. Returns 0 or a negative errno.
 */
static int refill_extern(struct src_extern *src, struct uft_err *err)
{
	size_t left = src->len - src->at;

	memmove(src->buf, src->buf + src->at, left);
	src->at = 0;
	src->len = left;

	ssize_t got = fd_pread_full(src->fd, src->buf + left, BUFFER_BYTES - left, src->offset);

	if (got < 0)
		return err_set_errno(err, got, "cannot read '%s'", src->path);
	src->len += got;
	src->offset += got;
	src->file_ended = src->len < BUFFER_BYTES;
	return 0;
}

/*
 * Read a line, or the part of it that fits into the buffer. Returns 1 on success, 0 at the end, or
 * a negative errno.
 */
static int next_line(struct src_extern *src, struct text *line, struct uft_err *err)
{
	for (;;) {
		char *at = src->buf + src->at;
		size_t left = src->len - src->at;
		char *end = left ? memchr(at, '\n', left) : NULL;
		bool is_rest = src->is_within;

		if (!end && !src->file_ended && left < BUFFER_BYTES) {
			int ret = refill_extern(src, err);

			if (ret < 0)
				return ret;
			continue;
		}
		if (!left)
			return 0;
		src->is_within = !end && !src->file_ended;
		*line = text_of(at, end ? (size_t)(end - at) : left);
		src->at += text_left(line) + (end != NULL);
		if (is_rest)
			continue;
		src->nr_lines++;
		return 1;
	}
}

static int hold_line(struct src_extern *src, struct text line, struct uft_err *err)
{
	struct held_line held = { .nr = src->nr_lines };

	if (line.at == line.end || *line.at == '#')
		return 0;
	if (!text_fixed(&line, 9, &held.time_ns) || !text_word(&line, " "))
		return err_set(err, -EINVAL,
			       "cannot read '%s': line %llu: expected '<s>.<ns> <message>'",
			       src->path, (unsigned long long)src->nr_lines);
	/* UINT64_MAX means that there is no event. */
	held.time_ns = MIN(held.time_ns, UINT64_MAX - 1);
	held.len = MIN(text_left(&line), (size_t)EXTERN_TEXT_MAX);
	held.text = malloc(held.len + 1);
	if (!held.text)
		return err_set_errno(err, -ENOMEM, "cannot read '%s'", src->path);
	memcpy(held.text, line.at, held.len);
	push_held_line(src, held);
	return 0;
}

/* Read as many lines as may be held. Returns 0 or a negative errno. */
static int hold_lines(struct src_extern *src, struct uft_err *err)
{
	struct text line;
	int ret = 1;

	while (src->nr_held < EXTERN_HELD_MAX && (ret = next_line(src, &line, err)) > 0) {
		ret = hold_line(src, line, err);
		if (ret < 0)
			break;
	}
	return MIN(ret, 0);
}

static uint64_t extern_next_ns(struct source *source)
{
	const struct src_extern *src = (const struct src_extern *)source;

	/* An invalid line is reported after the valid ones are shown. */
	return src->nr_held ? src->held[0].time_ns : src->why.code ? 0 : UINT64_MAX;
}

/* Each call delivers at most one line of extern.dat, because recordings have few such lines. */
static ssize_t extern_read(struct source *source, struct event *events, size_t max,
			   uint64_t until_ns, struct uft_err *err)
{
	struct src_extern *src = (struct src_extern *)source;

	free(src->shown);
	src->shown = NULL;
	if (!src->nr_held && src->why.code)
		return err_set(err, src->why.code, "%s", src->why.text);
	if (!src->nr_held || src->held[0].time_ns > until_ns)
		return 0;

	struct held_line line = pop_held_line(src);

	if (!src->why.code)
		hold_lines(src, &src->why);
	src->shown = line.text;
	*events = (struct event){
		.time_ns = line.time_ns,
		.id = EVENT_ID_EXTERN_DATA,
		.type = EVENT_EXTERN,
		.data = (const uint8_t *)line.text,
		.data_len = line.len,
	};
	return 1;
}

static void extern_close(struct source *source)
{
	struct src_extern *src = (struct src_extern *)source;

	for (size_t i = 0; src->held && i < src->nr_held; i++)
		free(src->held[i].text);
	if (src->fd >= 0)
		close(src->fd);
	free(src->held);
	free(src->shown);
	free(src->buf);
	free(src->path);
	free(src);
}

static int open_path(const char *path, int fd, struct source **out, struct uft_err *err)
{
	static const struct source_ops ops = {
		.next_ns = extern_next_ns,
		.read = extern_read,
		.close = extern_close,
	};
	struct src_extern *src = calloc(1, sizeof(*src));

	if (!src) {
		close(fd);
		return err_set_errno(err, -ENOMEM, "cannot read '%s'", path);
	}
	*src = (struct src_extern){
		.source = { .ops = &ops },
		.path = strdup(path),
		.fd = fd,
		.buf = malloc(BUFFER_BYTES),
		.held = reallocarray(NULL, EXTERN_HELD_MAX, sizeof(struct held_line)),
	};

	int ret = src->path && src->buf && src->held
			  ? hold_lines(src, err)
			  : err_set_errno(err, -ENOMEM, "cannot read '%s'", path);

	if (ret < 0)
		extern_close(&src->source);
	else
		*out = &src->source;
	return ret;
}

int src_extern_open(const struct trace_data *data, struct source **out, struct uft_err *err)
{
	char path[PATH_MAX];
	struct uft_err why = { 0 };

	*out = NULL;
	if (snprintf(path, sizeof(path), "%s/extern.dat", data->dir) >= (int)sizeof(path))
		return 0;

	int fd = file_open_regular(path, &why);

	if (fd == -ENOENT)
		return 0;
	return fd < 0 ? err_set(err, fd, "%s", why.text) : open_path(path, fd, out, err);
}
