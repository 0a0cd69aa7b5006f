/* The store that is a directory (see dir.h). */
#include "cmds/record/store/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/base/rights.h"
#include "cmds/record/store/reserve.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/format/datadir.h"

/* The maximum number of parts that one system call writes. */
#define APPEND_PARTS 64

static struct store_dir *dir_of(struct store *store)
{
	return container_of(store, struct store_dir, store);
}

static int fd_of(struct store *store)
{
	return dir_of(store)->fd;
}

/*
 * If the file is a link or a FIFO, or has a second hard link, the function returns -EINVAL, and
 * writes nothing. In an existing recording, another user may have made such a file.
 */
static int dir_open(struct store *store, const char *name)
{
	int fd cleanup_fd = openat(fd_of(store), name,
				   O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK |
					   O_NOCTTY | O_CLOEXEC,
				   0644);
	struct stat st;

	if (fd < 0)
		return errno == ELOOP || errno == ENXIO ? -EINVAL : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) && st.st_nlink <= 1 ? take_fd(&fd) : -EINVAL;
}

/*
 * Skip @at bytes of @parts, and write the rest with one system call, which may write less than the
 * rest. Returns the number of bytes written, or -1 with errno.
 */
static ssize_t write_from(int fd, const struct iovec *parts, int nr, size_t at)
{
	struct iovec rest[APPEND_PARTS];
	int nr_rest = 0;

	for (int i = 0; i < nr && nr_rest < APPEND_PARTS; i++) {
		size_t skipped = MIN(at, parts[i].iov_len);

		at -= skipped;
		if (skipped < parts[i].iov_len)
			rest[nr_rest++] = (struct iovec){ (char *)parts[i].iov_base + skipped,
							  parts[i].iov_len - skipped };
	}
	return writev(fd, rest, nr_rest);
}

/* Appends all parts. If that fails, the bytes that were already written are cut off again. */
static int dir_append(struct store *store, int stream, const struct iovec *parts, int nr)
{
	size_t len = iovec_bytes(parts, nr);
	size_t done = 0;
	struct stat st;
	int code = 0;

	while (done < len && code == 0) {
		ssize_t n = write_from(stream, parts, nr, done);

		if (n > 0)
			done += n;
		else if (n == 0)
			code = -EIO;
		else if (errno != EINTR)
			code = -errno;
	}
	if (done == len) {
		if (reserve_ahead(stream, len))
			dir_of(store)->has_reserved = true;
		return 0;
	}

	/* If ftruncate() fails, the file ends in an incomplete record, which readers ignore. */
	if (done && fstat(stream, &st) == 0 && ftruncate(stream, st.st_size - (off_t)done) < 0)
		code = -errno;
	return code;
}

static void dir_close(struct store *store, int stream)
{
	close(stream);
}

/*
 * True when the file of @stream may stay open. A recording of thousands of tasks may need more
 * files than the process may have open.
 */
static bool dir_may_stay_open(struct store *store, int stream)
{
	return stream < sysconf(_SC_OPEN_MAX) / 2;
}

static int write_parts(int fd, const struct iovec *parts, int nr)
{
	int ret = 0;

	for (int i = 0; ret == 0 && i < nr; i++)
		ret = fd_write_all(fd, parts[i].iov_base, parts[i].iov_len);
	return ret;
}

#define TMP_FLAGS (O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/*
 * Opens and empties the existing temporary file @tmp. Returns its descriptor, or -EINVAL on
 * failure. It is a failure when @tmp is not a regular file, belongs to another user, or has more
 * than one hard link.
 */
static int reuse_tmp(int dir_fd, const char *tmp)
{
	int fd cleanup_fd = openat(dir_fd, tmp, TMP_FLAGS);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
	    st.st_uid != geteuid() || ftruncate(fd, 0) < 0)
		return -EINVAL;
	return take_fd(&fd);
}

/*
 * Open a temporary file. The temporary file of `info` exists from the beginning, and marks the
 * directory as a recording. An existing file that reuse_tmp() refuses is removed.
 */
static int open_tmp(int dir_fd, const char *tmp, mode_t mode)
{
	int fd = openat(dir_fd, tmp, TMP_FLAGS | O_CREAT | O_EXCL, mode);

	if (fd >= 0 || errno != EEXIST)
		return fd >= 0 ? fd : -errno;
	fd = reuse_tmp(dir_fd, tmp);
	if (fd >= 0)
		return fd;
	if (unlinkat(dir_fd, tmp, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(dir_fd, tmp, TMP_FLAGS | O_CREAT | O_EXCL, mode);
	return fd >= 0 ? fd : -errno;
}

/*
 * Writes a temporary file, which readers ignore. In one step, the temporary file then replaces the
 * former file @name.
 */
static int dir_publish(struct store *store, const char *name, const struct iovec *parts, int nr,
		       int *stream, struct uft_err *err)
{
	char tmp[NAME_MAX + 8];
	int dir_fd = fd_of(store);
	struct rights paused cleanup_rights_pause = rights_pause();

	/*
	 * A later recorder refuses to replace a directory that contains a file with an unknown
	 * name. So no such file is created.
	 */
	if (!datadir_has_name(name))
		return err_set_errno(err, -EINVAL, "cannot create '%s'", name);
	snprintf(tmp, sizeof(tmp), DATADIR_TMP("%s"), name);

	int fd cleanup_fd = open_tmp(dir_fd, tmp, datadir_is_private(name) ? 0600 : 0644);

	if (fd < 0)
		return err_set_errno(err, fd, "cannot create '%s'", name);

	int ret = write_parts(fd, parts, nr);

	if (ret == 0 && renameat(dir_fd, tmp, dir_fd, name) < 0)
		ret = -errno;
	if (ret < 0) {
		unlinkat(dir_fd, tmp, 0);
		return err_set_errno(err, ret, "cannot write '%s'", name);
	}
	if (stream) {
		close(*stream);
		*stream = take_fd(&fd);
	}
	return 0;
}

static int dir_read(struct store *store, const char *name, size_t max, struct strbuf *out)
{
	struct rights paused cleanup_rights_pause = rights_pause();
	int fd cleanup_fd = openat(fd_of(store), name, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;

	size_t len = MIN((size_t)st.st_size, max);

	if (!strbuf_grow(out, len))
		return -ENOMEM;

	ssize_t n = fd_read_full(fd, out->data + out->len, len);

	if (n < 0)
		return n;
	out->len += n;
	out->data[out->len] = '\0';
	return 0;
}

static int dir_overwrite_end(struct store *store, const char *name, const void *data, size_t len)
{
	struct rights paused cleanup_rights_pause = rights_pause();
	int fd cleanup_fd = openat(fd_of(store), name,
				   O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_nlink > 1 || st.st_size < (off_t)len)
		return -EINVAL;

	ssize_t n = pwrite(fd, data, len, st.st_size - (off_t)len);

	return n < 0 ? -errno : (size_t)n == len ? 0 : -EIO;
}

static void dir_remove(struct store *store, const char *name)
{
	unlinkat(fd_of(store), name, 0);
}

static int dir_place(struct store *store, struct stat *place)
{
	return fstat(fd_of(store), place) < 0 ? -errno : 0;
}

void store_dir_use(struct store_dir *dir, int fd)
{
	static const struct store_ops ops = {
		.open = dir_open,
		.append = dir_append,
		.close = dir_close,
		.may_stay_open = dir_may_stay_open,
		.publish = dir_publish,
		.overwrite_end = dir_overwrite_end,
		.read = dir_read,
		.remove = dir_remove,
		.place = dir_place,
	};

	*dir = (struct store_dir){ .store.ops = &ops, .fd = fd };
}

void store_dir_close(struct store_dir *dir)
{
	if (dir->has_reserved)
		reserve_release(dir->fd);
	cleanup_fd_fn(&dir->fd);
	dir->fd = -1;
}

DIR *store_dir_list(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (!list && fd >= 0)
		close(fd);
	return list;
}

void store_dir_give_to_user(const struct store_dir *dir)
{
	const char *uid = getenv("SUDO_UID");
	const char *gid = getenv("SUDO_GID");

	if (geteuid() != 0 || !uid || !gid)
		return;

	uid_t user = strtoul(uid, NULL, 10);
	gid_t group = strtoul(gid, NULL, 10);
	DIR *list cleanup_dir = store_dir_list(dir->fd);

	for (struct dirent *e = list ? readdir(list) : NULL; e; e = readdir(list)) {
		/*
		 * The entry ".." is not in the recording. When fchownat(2) fails, the file stays
		 * root's, and root can change its owner later.
		 */
		if (strcmp(e->d_name, "..") != 0)
			(void)!fchownat(dir->fd, e->d_name, user, group, AT_SYMLINK_NOFOLLOW);
	}
}
