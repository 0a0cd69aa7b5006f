/* Descriptors and whole files: complete reads and writes. */
#ifndef UTRAIL_BASE_FD_H
#define UTRAIL_BASE_FD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

/* Write all @len bytes, also after interruptions. 0 or negative errno. */
int fd_write_all(int fd, const void *data, size_t len);

/*
 * Read until @len bytes or the end of the file. Returns the number of bytes (fewer at the end), or
 * negative errno.
 */
ssize_t fd_read_full(int fd, void *data, size_t len);

/* Like fd_read_full(), from a file offset; the descriptor's own offset does not move (pread(2)). */
ssize_t fd_pread_full(int fd, void *data, size_t len, uint64_t offset);

/*
 * Close @first and all descriptors above it. A child of a program with threads may call it: it
 * makes system calls only. Before Linux 5.9 descriptors above 65,535 stay open.
 */
void fd_close_from(unsigned first);

/*
 * Open a regular file for reading. Any other kind of file is an error at once: a FIFO would wait
 * for a writer, a device has no end. Returns the descriptor, or a negative errno: -EISDIR for a
 * directory, -EINVAL for other kinds.
 */
int file_open_regular(const char *path, struct uft_err *err);

/*
 * Append a whole file to @out, for text files of moderate size (maps, info, task.txt). Fails with
 * -EFBIG above @max_bytes.
 */
int file_read_all(const char *path, size_t max_bytes, struct strbuf *out, struct uft_err *err);

#endif
