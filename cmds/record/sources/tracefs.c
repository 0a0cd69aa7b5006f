/* Reads and writes the kernel's tracefs (see tracefs.h). */
#include "cmds/record/sources/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"

/* Files of tracefs have no size. They are read in pieces until the end of the file. */
#define READ_BYTES 65536

/* A file that setmntent(3) has opened must be closed by endmntent(3). */
static void close_mounts(FILE **mounts)
{
	if (*mounts)
		endmntent(*mounts);
}

/*
 * Finds the mount point of tracefs, otherwise the directory "tracing" of a mounted debugfs. Returns
 * false if neither file system is mounted.
 */
static bool find_mount(char path[static PATH_MAX])
{
	FILE *mounts cleanup(close_mounts) = setmntent("/proc/self/mounts", "r");
	struct mntent *mount;
	bool has_debugfs = false;

	while (mounts && (mount = getmntent(mounts))) {
		if (strcmp(mount->mnt_type, "tracefs") == 0) {
			snprintf(path, PATH_MAX, "%s", mount->mnt_dir);
			return true;
		}
		if (strcmp(mount->mnt_type, "debugfs") == 0 && !has_debugfs) {
			snprintf(path, PATH_MAX, "%s/tracing", mount->mnt_dir);
			has_debugfs = true;
		}
	}
	return has_debugfs;
}

static const char *advice(int code)
{
	switch (code) {
	case -EACCES:
		return "; root can";
	case -EPERM:
		return "; this kernel forbids it even to root (lockdown?)";
	case -ENOENT:
		return "; 'mount -t tracefs nodev /sys/kernel/tracing' may help";
	default:
		return "";
	}
}

static int fail_at_file(struct uft_err *err, int code, const char *what, const char *name)
{
	return err_set(err, code, "cannot %s '%s': %s%s", what, name, strerror(-code),
		       advice(code));
}

int tracefs_open(struct uft_err *err)
{
	char path[PATH_MAX] = "/sys/kernel/tracing";
	bool is_mounted = find_mount(path);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int code = -errno;

	/* If tracefs is not mounted, the directory @path is empty, and cannot be used. */
	if (fd >= 0 && is_mounted)
		return fd;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || !is_mounted)
		return err_set(err, -ENOENT,
			       "tracefs is not mounted; 'mount -t tracefs nodev "
			       "/sys/kernel/tracing' does that");
	return fail_at_file(err, code, "open", path);
}

int tracefs_read(int dir_fd, const char *name, struct strbuf *out, struct uft_err *err)
{
	int fd cleanup_fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return fail_at_file(err, -errno, "open", name);
	do {
		if (!strbuf_grow(out, READ_BYTES))
			return err_set_errno(err, -ENOMEM, "cannot read '%s'", name);
		n = read(fd, out->data + out->len, READ_BYTES);
		if (n > 0)
			out->len += n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0)
		return fail_at_file(err, -errno, "read", name);
	out->data[out->len] = '\0';
	return 0;
}

int tracefs_write(int dir_fd, const char *name, const char *text, struct uft_err *err)
{
	int fd cleanup_fd = openat(dir_fd, name, O_WRONLY | O_CLOEXEC);
	int ret = fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));

	return ret < 0 ? fail_at_file(err, ret, "write to", name) : 0;
}

int tracefs_open_empty(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_TRUNC | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int tracefs_list_events(struct strbuf *out, struct uft_err *err)
{
	int fd cleanup_fd = tracefs_open(err);

	return fd < 0 ? fd : tracefs_read(fd, "available_events", out, err);
}

bool tracefs_next_event(struct text *names, struct text *name)
{
	bool whole;

	while (text_line(names, name, &whole)) {
		if (memchr(name->at, ':', text_left(name)))
			return true;
	}
	return false;
}
