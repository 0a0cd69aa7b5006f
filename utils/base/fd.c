/* Descriptors and whole files (see fd.h). */
#include "utils/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

int fd_write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		at += n;
		len -= n;
	}
	return 0;
}

/* @offset: offset in the file; NULL: read at the descriptor's own offset */
static ssize_t read_full(int fd, void *data, size_t len, const uint64_t *offset)
{
	size_t done = 0;

	while (done < len) {
		char *to = (char *)data + done;
		ssize_t n = offset ? pread(fd, to, len - done, *offset + done)
				   : read(fd, to, len - done);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (n == 0)
			break;
		done += n;
	}
	return done;
}

ssize_t fd_read_full(int fd, void *data, size_t len)
{
	return read_full(fd, data, len, NULL);
}

ssize_t fd_pread_full(int fd, void *data, size_t len, uint64_t offset)
{
	return read_full(fd, data, len, &offset);
}

void fd_close_from(unsigned first)
{
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0U, 0) == 0)
		return;
#endif
	for (int fd = first; fd < 65536; fd++)
		close(fd);
}

int file_open_regular(const char *path, struct uft_err *err)
{
	int fd cleanup_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set_errno(err, -errno, "cannot open '%s'", path);
	if (S_ISDIR(st.st_mode))
		return err_set_errno(err, -EISDIR, "cannot open '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "cannot open '%s': it is no regular file", path);
	return take_fd(&fd);
}

/* Opens @path with O_PATH. Returns the descriptor, or a negative errno. */
static int find_strange(const char *path)
{
	int fd = -1;

	errno = ENOSYS;
#ifdef SYS_openat2
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS };

	fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
#endif
	/* In a sandbox that does not know openat2(2), openat2(2) may fail with EPERM. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int file_open_strange(const char *path)
{
	int found cleanup_fd = find_strange(path);
	char link[32];
	struct statfs system;
	struct stat st;

	if (found < 0)
		return found;
	if (fstat(found, &st) < 0 || fstatfs(found, &system) < 0)
		return -errno;
	/* Files of tracefs and debugfs have no size. */
	if (!S_ISREG(st.st_mode) || st.st_size == 0 || system.f_type == PROC_SUPER_MAGIC ||
	    system.f_type == SYSFS_MAGIC)
		return -EINVAL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	return file_open_regular(link, NULL);
}

int file_read_all(const char *path, size_t max_bytes, struct strbuf *out, struct uft_err *err)
{
	int fd cleanup_fd = file_open_regular(path, err);
	size_t start = out->len;

	if (fd < 0)
		return fd;

	for (;;) {
		if (!strbuf_grow(out, 65536))
			return err_set_errno(err, -ENOMEM, "cannot read '%s'", path);

		ssize_t n = fd_read_full(fd, out->data + out->len, 65536);

		if (n < 0)
			return err_set_errno(err, n, "cannot read '%s'", path);
		out->len += n;
		out->data[out->len] = '\0';
		if (out->len - start > max_bytes)
			return err_set(err, -EFBIG, "cannot read '%s': larger than %zu bytes", path,
				       max_bytes);
		if (n < 65536)
			return 0;
	}
}
