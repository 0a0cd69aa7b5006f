/* Reading proc.dat (see proc_file.h). */
#include "utils/pipeline/recording/proc_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/format/datadir.h"

#define BUFFER_BYTES (64U * 1024)

/*
 * If the buffer is smaller than @wanted bytes, enlarge the buffer. Then fill the rest of the buffer
 * with the next bytes of the file. Returns 1 on success, 0 at the end of the file, or a negative
 * errno.
 */
static int refill_proc_file(struct proc_file *file, size_t wanted)
{
	size_t left = file->len - file->at;

	memmove(file->buf, file->buf + file->at, left);
	file->at = 0;
	file->len = left;
	if (wanted > file->cap) {
		uint8_t *grown = realloc(file->buf, wanted);

		if (!grown)
			return -ENOMEM;
		file->buf = grown;
		file->cap = wanted;
	}

	ssize_t got = fd_pread_full(file->fd, file->buf + left, file->cap - left, file->offset);

	if (got < 0)
		return got;
	file->len += got;
	file->offset += got;
	return got > 0;
}

static int damaged(struct proc_file *file, int code, const struct uft_err *why, struct uft_err *err)
{
	file->is_damaged = true;
	if (why->code)
		return err_set(err, code, "'%s': %s", file->path, why->text);
	return err_set_errno(err, code, "'%s': cannot read", file->path);
}

int proc_file_next(struct proc_file *file, struct proc_record *rec, struct uft_err *err)
{
	while (!file->is_damaged) {
		struct uft_err why = { 0 };
		size_t wanted;
		ssize_t used = proc_record_decode(file->buf + file->at, file->len - file->at,
						  file->is_big_endian, rec, &wanted, &why);

		if (used > 0) {
			file->at += used;
			return 1;
		}
		if (used == 0)
			used = refill_proc_file(file, wanted);
		if (used < 0)
			return damaged(file, used, &why, err);
		if (used == 0)
			return 0;
	}
	return 0;
}

int proc_file_open(struct proc_file *file, const char *dir, bool is_big_endian, struct uft_err *err)
{
	struct uft_err why = { 0 };

	*file = (struct proc_file){ .fd = -1, .is_big_endian = is_big_endian };
	if (snprintf(file->path, sizeof(file->path), "%s/" DATADIR_PROCESSES, dir) >= PATH_MAX)
		return -ENOENT;
	file->fd = file_open_regular(file->path, &why);
	if (file->fd == -ENOENT)
		return -ENOENT;
	if (file->fd < 0)
		return err_set(err, file->fd, "%s", why.text);
	file->buf = malloc(BUFFER_BYTES);
	file->cap = BUFFER_BYTES;
	return file->buf ? 0 : err_set_errno(err, -ENOMEM, "cannot read '%s'", file->path);
}

void proc_file_close(struct proc_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->buf);
	*file = (struct proc_file){ .fd = -1 };
}
