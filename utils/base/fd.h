/* Descriptors and whole files: complete reads and writes. */
#ifndef UTRAIL_BASE_FD_H
#define UTRAIL_BASE_FD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"

/* Write @len bytes, and go on after interruptions. Returns 0 or a negative errno. */
int fd_write_all(int fd, const void *data, size_t len);

/*
 * Read @len bytes, and go on after interruptions. Returns the number of bytes read, or a negative
 * errno. The number is less than @len only at the end of the file.
 */
ssize_t fd_read_full(int fd, void *data, size_t len);

/*
 * Like fd_read_full(), but reads from @offset in the file, and does not change the descriptor's own
 * offset (pread(2)).
 */
ssize_t fd_pread_full(int fd, void *data, size_t len, uint64_t offset);

/*
 * Close @first and all descriptors above it. After fork(2), the child of a program with threads may
 * call this function. Before Linux 5.9, descriptors above 65,535 stay open.
 */
void fd_close_from(unsigned first);

/*
 * Open a regular file for reading. Returns the descriptor, or a negative errno: -EISDIR for a
 * directory, -ENXIO for a socket, -EINVAL for any other kind of file. FIFOs and devices are
 * refused, because a read from a FIFO may wait, and a device may have no end.
 */
int file_open_regular(const char *path, struct uft_err *err);

/*
 * Like file_open_regular(), for a name that was read from an untrusted file. Other files than
 * regular files are refused before they are opened, because the opening of a device may already
 * have an effect. Files of procfs, sysfs and the like are refused, because a read may remove the
 * data of such a file. Empty files are refused, because files of tracefs and debugfs have the size
 * 0. In all these cases, the error is -EINVAL. Links of procfs to files and directories of this
 * process, such as /proc/self/cwd, are refused, too (-ELOOP, since Linux 5.6).
 */
int file_open_strange(const char *path);

/* Append the bytes of file @path to @out. Returns -EFBIG when the file exceeds @max_bytes. */
int file_read_all(const char *path, size_t max_bytes, struct strbuf *out, struct uft_err *err);

#endif
