/* Output files (see outfile.h). */
#include "utils/base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"

/*
 * The maximum number of names, each of 64 random bits, that make_tmp() tries. Also the maximum
 * number of times that outfile_append() examines the path again.
 */
#define TRIES 8

static int cannot_write(const char *path, int code, struct uft_err *err)
{
	return err_set_errno(err, code, "cannot write '%s'", path);
}

static int check_kind(const struct place *place, const char *path, struct uft_err *err)
{
	if (place->is_there && S_ISBLK(place->st.st_mode))
		return err_set(err, -EINVAL, "cannot write '%s': it is a block device", path);
	if (place->is_there && S_ISSOCK(place->st.st_mode))
		return err_set(err, -EINVAL, "cannot write '%s': it is a socket", path);
	return place_check_owner(place, path, err);
}

static int find_output_place(struct place *place, const char *path, struct uft_err *err)
{
	int ret = place_find(place, path, err);

	return ret < 0 ? ret : check_kind(place, path, err);
}

/*
 * Open the file that @place describes. Returns -EAGAIN if @place->name now names another file. A
 * link of procfs is not checked.
 */
static int open_found(const struct place *place, const char *path, int flags, struct uft_err *err)
{
	int nofollow = place->is_kernels ? 0 : O_NOFOLLOW;
	/* Without O_NONBLOCK, open(2) would wait for a reader of a FIFO. */
	int fd cleanup_fd = openat(place->dir_fd, place->name,
				   flags | nofollow | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ENXIO && S_ISFIFO(place->st.st_mode))
		return err_set(err, -ENXIO, "cannot write '%s': no process reads from this FIFO",
			       path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return cannot_write(path, -errno, err);
	if (!place->is_kernels && (st.st_dev != place->st.st_dev || st.st_ino != place->st.st_ino))
		return err_set(err, -EAGAIN, "cannot write '%s': another file was put in its place",
			       path);
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) < 0)
		return cannot_write(path, -errno, err);
	return take_fd(&fd);
}

static int make_tmp(struct outfile *out, mode_t mode, struct uft_err *err)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t random;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return cannot_write(out->path, -errno, err);
		snprintf(out->tmp, sizeof(out->tmp), ".utrail-%016" PRIx64 ".tmp", random);
		out->fd = openat(out->place.dir_fd, out->tmp,
				 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (out->fd >= 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	out->tmp[0] = '\0';
	return err_set_errno(err, -errno, "cannot create a file beside '%s'", out->path);
}

static void drop_tmp(struct outfile *out)
{
	if (out->tmp[0])
		unlinkat(out->place.dir_fd, out->tmp, 0);
	out->tmp[0] = '\0';
}

/*
 * Gives the new file the owner, the group and the permission bits of the old file. If @mode has
 * rights for the owner alone, the new file gets only the owner's permission bits. Returns false on
 * failure. fchown(2) comes before fchmod(2), because fchown(2) clears bits of the mode.
 */
static bool keeps_owner(const struct outfile *out, mode_t mode)
{
	const struct stat *old = &out->place.st;
	mode_t kept = mode & 077 ? 0777 : 0700;
	struct stat st;

	return fstat(out->fd, &st) == 0 &&
	       ((st.st_uid == old->st_uid && st.st_gid == old->st_gid) ||
		fchown(out->fd, old->st_uid, old->st_gid) == 0) &&
	       fchmod(out->fd, old->st_mode & kept) == 0;
}

int outfile_open(struct outfile *out, const char *path, mode_t mode, struct uft_err *err)
{
	*out = OUTFILE_CLOSED;
	out->path = path;

	struct place *place = &out->place;
	int ret = find_output_place(place, path, err);

	if (ret < 0)
		return ret;
	if (place->is_there && (place->is_kernels || !S_ISREG(place->st.st_mode))) {
		/*
		 * If the path leads to a link of procfs, as /dev/stdout does, append: other
		 * programs may write to the same file.
		 */
		out->fd = open_found(place, path, O_WRONLY | (place->is_kernels ? O_APPEND : 0),
				     err);
		return out->fd < 0 ? out->fd : 0;
	}
	/* Other users must not read the new file before it has the mode of the old one. */
	ret = make_tmp(out, place->is_there ? 0600 : mode, err);
	if (ret < 0 || !place->is_there || keeps_owner(out, mode))
		return ret;
	close(out->fd);
	drop_tmp(out);
	out->fd = open_found(place, path, O_WRONLY, err);
	return out->fd < 0 ? out->fd : 0;
}

/* If the old content is longer than the new content, cut the file after the new content. */
static int finish_in_place(const struct outfile *out)
{
	const struct place *place = &out->place;
	bool has_end = S_ISREG(place->st.st_mode) && !place->is_kernels;
	off_t end = has_end ? lseek(out->fd, 0, SEEK_CUR) : -1;

	return end >= 0 && ftruncate(out->fd, end) < 0 ? -errno : 0;
}

int outfile_publish(struct outfile *out, struct uft_err *err)
{
	struct place *place = &out->place;

	if (!out->tmp[0]) {
		int ret = finish_in_place(out);

		return ret < 0 ? cannot_write(out->path, ret, err) : 0;
	}
	/* Some file systems do not support fsync(2). */
	if (fsync(out->fd) < 0 && errno != EINVAL && errno != ENOSYS)
		return cannot_write(out->path, -errno, err);
	if (renameat(place->dir_fd, out->tmp, place->dir_fd, place->name) < 0)
		return cannot_write(out->path, -errno, err);
	out->tmp[0] = '\0';
	return 0;
}

void outfile_deinit(struct outfile *out)
{
	drop_tmp(out);
	if (out->fd >= 0)
		close(out->fd);
	out->fd = -1;
	place_deinit(&out->place);
}

int outfile_check(const char *path, struct uft_err *err)
{
	struct place place cleanup_place;
	int ret = find_output_place(&place, path, err);

	if (ret < 0 || place.is_kernels || (place.is_there && !S_ISREG(place.st.st_mode)))
		return ret;
	if (faccessat(place.dir_fd, ".", W_OK | X_OK, AT_EACCESS) == 0)
		return 0;
	return cannot_write(path, -errno, err);
}

/*
 * Refuse a file that has several names (hard links) if other users may write to the directory of
 * @path. One of these users may have made @path a second name of an unrelated file.
 */
static int check_names(const struct place *place, const char *path, struct uft_err *err)
{
	if (!S_ISREG(place->st.st_mode) || place->is_kernels || !place->is_shared ||
	    place->st.st_nlink < 2)
		return 0;
	return err_set(err, -EACCES,
		       "cannot write '%s': it is one of several names of a file, in a directory "
		       "where others may write; remove it, or name another file",
		       path);
}

static int append_once(const char *path, mode_t mode, struct uft_err *err)
{
	struct place place cleanup_place;
	int ret = find_output_place(&place, path, err);

	if (ret < 0)
		return ret;
	if (place.is_there) {
		ret = check_names(&place, path, err);
		return ret < 0 ? ret : open_found(&place, path, O_WRONLY | O_APPEND, err);
	}

	int fd = openat(place.dir_fd, place.name,
			O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd >= 0 ? fd : cannot_write(path, -errno, err);
}

int outfile_append(const char *path, mode_t mode, struct uft_err *err)
{
	struct uft_err first = { 0 };
	int fd = append_once(path, mode, &first);

	/* Retry if another process has created, replaced or removed the file after the check. */
	for (int i = 0; i < TRIES && (fd == -EEXIST || fd == -EAGAIN || fd == -ENOENT); i++) {
		struct uft_err again = { 0 };

		fd = append_once(path, mode, &again);
		first = again;
	}
	return fd >= 0 ? fd : err_set(err, fd, "%s", first.text);
}

int outfile_put(const char *path, const void *data, size_t len, struct uft_err *err)
{
	struct outfile out cleanup_outfile;
	int ret = outfile_open(&out, path, 0644, err);

	if (ret < 0)
		return ret;
	ret = fd_write_all(out.fd, data, len);
	return ret < 0 ? cannot_write(path, ret, err) : outfile_publish(&out, err);
}
