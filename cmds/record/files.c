/* The data directory and the files in it (see files.h). */
#include "cmds/record/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/record/peer.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/format/header.h"
#include "utils/format/sym.h"
#include "utils/format/text.h"

#define CPU_NAME_SIZE 32

/* What a file is called until it is complete. */
#define TMP_NAME(name) "." name ".tmp"

static void cleanup_dir_fn(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool is_empty(int dir_fd)
{
	int fd = dup(dir_fd);
	DIR *dir cleanup(cleanup_dir_fn) = fd < 0 ? NULL : fdopendir(fd);

	if (!dir)
		return false;
	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		if (!is_dot(e->d_name))
			return false;
	}
	return true;
}

static bool has_file(int dir_fd, const char *name)
{
	return faccessat(dir_fd, name, F_OK, 0) == 0;
}

/*
 * A directory that we may put aside: a recording, ours or uftrace's, or an empty one. Of one whose recorder was killed when it
 * had just begun there may be no more than the first file.
 */
static bool is_recording(int dir_fd)
{
	uint8_t bytes[HEADER_SIZE];
	struct data_header header;
	int fd cleanup_fd = openat(dir_fd, "info", O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && fd_read_full(fd, bytes, sizeof(bytes)) == sizeof(bytes) &&
	    header_decode(bytes, sizeof(bytes), &header, NULL) == 0)
		return true;
	return has_file(dir_fd, "default.opts") || has_file(dir_fd, TMP_NAME("default.opts")) ||
	       is_empty(dir_fd);
}

/* Recordings are flat: a directory within one is not ours and makes this fail. */
static int remove_recording(const char *path, struct uft_err *err)
{
	DIR *dir cleanup(cleanup_dir_fn) = opendir(path);

	if (!dir)
		return errno == ENOENT ? 0 : err_set_errno(err, -errno, "cannot open '%s'", path);
	if (!is_recording(dirfd(dir)))
		return err_set(err, -EEXIST,
			       "cannot replace '%s': it is not a recording; remove it or use -d",
			       path);
	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		if (!is_dot(e->d_name) && unlinkat(dirfd(dir), e->d_name, 0) < 0)
			return err_set_errno(err, -errno, "cannot remove '%s/%s'", path, e->d_name);
	}
	if (rmdir(path) < 0)
		return err_set_errno(err, -errno, "cannot remove '%s'", path);
	return 0;
}

static int put_aside(const char *path, struct uft_err *err)
{
	char old[PATH_MAX];
	int fd cleanup_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 && errno != ENOTDIR)
		return err_set_errno(err, -errno, "cannot open '%s'", path);
	if (fd < 0 || !is_recording(fd))
		return err_set(err, -EEXIST,
			       "cannot record into '%s': it exists and is not a recording; use -d",
			       path);
	if (snprintf(old, sizeof(old), "%s.old", path) >= (int)sizeof(old))
		return err_set_errno(err, -ENAMETOOLONG, "cannot rename '%s'", path);

	int ret = remove_recording(old, err);

	if (ret == 0 && rename(path, old) < 0)
		ret = err_set_errno(err, -errno, "cannot rename '%s' to '%s'", path, old);
	return ret;
}

int files_make_dir(const char *path, struct uft_err *err)
{
	int ret = put_aside(path, err);

	if (ret < 0)
		return ret;
	if (mkdir(path, 0755) < 0)
		return err_set_errno(err, -errno, "cannot create directory '%s'", path);

	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_set_errno(err, -errno, "cannot open directory '%s'", path);
	return fd;
}

/* Whether the symbol file @name stands for this module; -ENOENT when there is no such file. */
static int stands_for(int dir_fd, const char *name, const char *path, const char *build_id)
{
	char text[PATH_MAX + 512];
	int fd cleanup_fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;

	ssize_t len = fd_read_full(fd, text, sizeof(text) - 1);

	if (len < 0)
		return len;
	text[len] = '\0';

	char line[PATH_MAX + 32];

	snprintf(line, sizeof(line), "# path name: %s\n", path);
	if (!strstr(text, line))
		return false;
	snprintf(line, sizeof(line), "# build-id: %s\n", build_id);
	return !build_id[0] || strstr(text, line);
}

bool files_choose_name(int dir_fd, const char *path, const char *build_id, char *name, size_t size)
{
	/* The name must be found by what map files say, where a path is a part of a line. */
	struct strbuf escaped cleanup_strbuf = { 0 };
	struct rights paused cleanup_rights_pause = rights_pause();

	text_put_name(&escaped, path, strlen(path));
	path = strbuf_str(&escaped);

	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	snprintf(name, size, "%s.sym", base);

	int found = stands_for(dir_fd, name, path, build_id);

	if (found == false) {
		uint16_t sum = 0;

		for (const char *c = path; *c; c++)
			sum += (unsigned char)*c;
		if (build_id[0])
			snprintf(name, size, "%s-%.4s.sym", base, build_id);
		else
			snprintf(name, size, "%s-%04x.sym", base, sum);
		found = stands_for(dir_fd, name, path, build_id);
	}
	return found == -ENOENT;
}

int files_publish(int dir_fd, const char *name, const void *data, size_t len, struct uft_err *err)
{
	char tmp[NAME_MAX + 8];
	struct rights paused cleanup_rights_pause = rights_pause();

	snprintf(tmp, sizeof(tmp), TMP_NAME("%s"), name);

	int fd cleanup_fd = openat(dir_fd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_set_errno(err, -errno, "cannot create '%s'", name);

	int ret = fd_write_all(fd, data, len);

	if (ret == 0 && renameat(dir_fd, tmp, dir_fd, name) < 0)
		ret = -errno;
	if (ret < 0) {
		unlinkat(dir_fd, tmp, 0);
		return err_set_errno(err, ret, "cannot write '%s'", name);
	}
	return 0;
}

void files_give_to_user(int dir_fd)
{
	const char *uid = getenv("SUDO_UID");
	const char *gid = getenv("SUDO_GID");

	if (geteuid() != 0 || !uid || !gid)
		return;

	uid_t user = strtoul(uid, NULL, 10);
	gid_t group = strtoul(gid, NULL, 10);
	int fd = dup(dir_fd);
	DIR *dir cleanup(cleanup_dir_fn) = fd < 0 ? NULL : fdopendir(fd);

	for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
		/* ".." is not ours; whatever cannot be given stays root's, which root can mend. */
		if (strcmp(e->d_name, "..") != 0 &&
		    fchownat(dir_fd, e->d_name, user, group, AT_SYMLINK_NOFOLLOW) < 0)
			return;
	}
}

static void cpu_name(char name[static CPU_NAME_SIZE], const char *prefix, unsigned cpu)
{
	snprintf(name, CPU_NAME_SIZE, "%s%u.dat", prefix, cpu);
}

int files_open_cpu(int dir_fd, const char *prefix, unsigned cpu)
{
	char name[CPU_NAME_SIZE];

	cpu_name(name, prefix, cpu);

	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	return fd < 0 ? -errno : fd;
}

int files_publish_cpu(int dir_fd, const char *prefix, unsigned cpu, const struct strbuf *content)
{
	char name[CPU_NAME_SIZE];

	cpu_name(name, prefix, cpu);
	return files_publish(dir_fd, name, content->data, content->len, NULL);
}

void files_remove_cpus(int dir_fd, const char *prefix, unsigned nr)
{
	char name[CPU_NAME_SIZE];

	for (unsigned i = 0; i < nr; i++) {
		cpu_name(name, prefix, i);
		unlinkat(dir_fd, name, 0);
	}
}
