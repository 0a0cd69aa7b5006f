/* Reading proc.dat from disk, record by record. */
#ifndef UTRAIL_PIPELINE_PROC_FILE_H
#define UTRAIL_PIPELINE_PROC_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"
#include "utils/format/proc_dat.h"

/*
 * @buf: a buffer of @cap bytes. The bytes in [@at, @len) were read and are not decoded yet
 * @offset: the offset in the file at which the buffer ends
 * @is_damaged: an error has occurred, so no more records are read
 */
struct proc_file {
	char path[PATH_MAX];
	int fd;
	uint8_t *buf;
	size_t cap;
	size_t at;
	size_t len;
	uint64_t offset;
	bool is_big_endian;
	bool is_damaged;
};

/*
 * Open proc.dat in the data directory @dir. Returns 0, -ENOENT when there is no such file, or
 * another negative errno with @err. In all cases, proc_file_close() must be called.
 */
int proc_file_open(struct proc_file *file, const char *dir, bool is_big_endian,
		   struct uft_err *err);
void proc_file_close(struct proc_file *file);
#define cleanup_proc_file cleanup(proc_file_close)

/*
 * Read the next record of any kind. Its data is valid until the next call. Returns 1 on success, 0
 * at the end of the file, or a negative errno with @err. If the file grows, the next call after
 * the end returns the new records. After an error, all calls return 0.
 */
int proc_file_next(struct proc_file *file, struct proc_record *rec, struct uft_err *err);

#endif
