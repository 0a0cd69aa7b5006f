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
#include "utils/base/path.h"
#include "utils/format/datadir.h"
#include "utils/format/sym.h"
#include "utils/format/text.h"

#define CPU_NAME_SIZE 32

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

	const char *base = path_base(path);

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

	/* Nobody would ever delete it. */
	if (!datadir_has_name(name))
		return err_set_errno(err, -EINVAL, "cannot create '%s'", name);
	snprintf(tmp, sizeof(tmp), DATADIR_TMP("%s"), name);

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
	DIR *dir cleanup_dir = fd < 0 ? NULL : fdopendir(fd);

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
