/*
 * Makes a data directory, and handles a former directory of the same name (see dir.h).
 *
 * A recorder locks its directory with flock(2) until the recorder ends. The lock stays when the
 * directory is renamed. A directory belongs to the recorder that holds the lock of the directory.
 * Before a recorder has locked its new directory, another recorder may rename the directory. In
 * this case the first recorder begins again.
 *
 * Only recordings and empty directories are renamed. A file is deleted only if its name is a name
 * that recordings use for files. If a link stands in the place of a recording or of a file, nothing
 * is deleted. No file is deleted before all files have been checked.
 */
#include "cmds/record/store/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/place.h"
#include "utils/format/datadir.h"
#include "utils/format/header.h"
#include "utils/format/task_txt.h"

/*
 * The first file of a recording, which later becomes `info`. If the recorder is killed right after
 * the start, this file shows that the directory is a recording.
 */
#define MARKER	       DATADIR_TMP("info")
/*
 * The number of attempts to make a directory while other recorders change the same directory, and
 * the pause between two attempts, in microseconds.
 */
#define TRIES	       100
#define TRY_AGAIN_US   10000
/* The number of bytes that are read from task.txt. The first line is not longer than this. */
#define FIRST_LINE_MAX (PATH_MAX + 128)

/*
 * The result when another recorder has locked the directory, or has changed the directory during
 * the call. The caller begins again.
 */
#define CHANGED_MEANWHILE 1

/* The place of a directory: @name in @dir_fd. @path: the name of the directory in messages */
struct spot {
	int dir_fd;
	const char *name;
	const char *path;
};

static int open_spot(const struct spot *spot, int flags)
{
	return openat(spot->dir_fd, spot->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
}

/* Returns the next name other than "." and "..". Returns NULL at the end. */
static const char *next_name(DIR *dir)
{
	struct dirent *e;

	do {
		e = readdir(dir);
	} while (e && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0));
	return e ? e->d_name : NULL;
}

static bool is_empty(int dir_fd)
{
	DIR *dir cleanup_dir = store_dir_list(dir_fd);

	return dir && !next_name(dir);
}

static int open_regular(int dir_fd, const char *name)
{
	struct stat file;
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

	if (fd >= 0 && (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode))) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

static bool has_info(int dir_fd)
{
	uint8_t bytes[HEADER_SIZE];
	struct data_header header;
	int fd cleanup_fd = open_regular(dir_fd, "info");

	return fd >= 0 && fd_read_full(fd, bytes, sizeof(bytes)) == sizeof(bytes) &&
	       header_decode(bytes, sizeof(bytes), &header, NULL) == 0;
}

/*
 * True when task.txt shows that the directory is a recording. An unfinished recording by uftrace
 * has task.txt, but has no `info`.
 */
static bool has_tasks(int dir_fd)
{
	char bytes[FIRST_LINE_MAX];
	int fd cleanup_fd = open_regular(dir_fd, "task.txt");
	ssize_t len = fd < 0 ? -1 : fd_read_full(fd, bytes, sizeof(bytes));
	struct text in = text_of(bytes, len > 0 ? len : 0);
	struct task_line line;

	return task_txt_next(&in, &line, NULL) > 0;
}

static bool has_marker(int dir_fd)
{
	int fd cleanup_fd = open_regular(dir_fd, MARKER);

	return fd >= 0;
}

/* True for a directory that may be renamed: it is empty, or a complete or incomplete recording. */
static bool is_recording(int dir_fd)
{
	/*
	 * A new directory is first empty, and then has the marker, which later becomes `info`. If
	 * the directory changes while the loop tests it, all tests of the first round may fail. The
	 * second round then finds the new state.
	 */
	for (int i = 0; i < 2; i++) {
		if (has_marker(dir_fd) || has_info(dir_fd) || has_tasks(dir_fd) || is_empty(dir_fd))
			return true;
	}
	return false;
}

static int check_names(int dir_fd, const char *path, struct uft_err *err)
{
	DIR *dir cleanup_dir = store_dir_list(dir_fd);

	if (!dir)
		return err_set_errno(err, -errno, "cannot open '%s'", path);
	for (const char *name; (name = next_name(dir)) != NULL;) {
		struct stat file;
		bool is_gone = fstatat(dir_fd, name, &file, AT_SYMLINK_NOFOLLOW) < 0;
		bool is_file = !is_gone &&
			       (S_ISREG(file.st_mode) ||
				/* the FIFO between uftrace and the programs it traces */
				(S_ISFIFO(file.st_mode) && strcmp(name, ".channel") == 0));

		if (!is_gone && !(is_file && datadir_has_name(name)))
			return err_set(
				err, -EEXIST,
				"cannot replace '%s': '%s' in it is not a file of a recording; "
				"remove or rename that directory, or use -d",
				path, name);
	}
	return 0;
}

/*
 * If @is_last is true, delete the files that mark the directory as a recording. Otherwise delete
 * all other files of the recording. The caller deletes the marking files last. If the recorder is
 * killed before this last step, the directory still counts as a recording.
 */
static int remove_files(int dir_fd, const char *path, bool is_last, struct uft_err *err)
{
	DIR *dir cleanup_dir = store_dir_list(dir_fd);

	if (!dir)
		return err_set_errno(err, -errno, "cannot open '%s'", path);
	for (const char *name; (name = next_name(dir)) != NULL;) {
		bool tells = strcmp(name, "info") == 0 || strcmp(name, MARKER) == 0;

		if (!datadir_has_name(name) || tells != is_last)
			continue;
		if (unlinkat(dir_fd, name, 0) < 0 && errno != ENOENT)
			return err_set_errno(err, -errno, "cannot remove '%s/%s'", path, name);
	}
	return 0;
}

static int remove_all(int dir_fd, const struct spot *spot, struct uft_err *err)
{
	/*
	 * A recording may lack `info`. So make a marker, which is deleted last. If the marker
	 * cannot be made (full disk), the files are deleted without a marker.
	 */
	int marker = openat(dir_fd, MARKER, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (marker >= 0)
		close(marker);

	int ret = remove_files(dir_fd, spot->path, false, err);

	if (ret == 0)
		ret = remove_files(dir_fd, spot->path, true, err);
	if (ret == 0 && unlinkat(spot->dir_fd, spot->name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		ret = err_set_errno(err, -errno, "cannot remove '%s'", spot->path);
	return ret;
}

/* True when @dir_fd is the directory at @spot, and the name at @spot is not a link. */
static bool is_at(int dir_fd, const struct spot *spot)
{
	struct stat mine, there;

	return fstat(dir_fd, &mine) == 0 &&
	       fstatat(spot->dir_fd, spot->name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

/* Lock the directory. Returns false when another process has the lock. */
static bool lock_dir(int dir_fd)
{
	return flock(dir_fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/*
 * Delete the recording at @spot, if there is a recording. Returns CHANGED_MEANWHILE when another
 * recorder has locked the recording. The lock is released when that recorder ends.
 */
static int remove_recording(const struct spot *spot, struct uft_err *err)
{
	const char *path = spot->path;
	int fd cleanup_fd = open_spot(spot, O_NOFOLLOW);

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return err_set(err, -EEXIST,
			       "cannot replace '%s': it is not a directory but a file or a link; "
			       "remove it or use -d",
			       path);
	if (fd < 0)
		return err_set_errno(err, -errno, "cannot open '%s'", path);
	if (!lock_dir(fd) || !is_at(fd, spot))
		return CHANGED_MEANWHILE;
	if (!is_recording(fd))
		return err_set(err, -EEXIST,
			       "cannot replace '%s': it is not a recording; remove it or use -d",
			       path);

	int ret = check_names(fd, path, err);

	return ret < 0 ? ret : remove_all(fd, spot, err);
}

/* Rename the directory at @spot to @old, a name that does not exist. */
static int rename_dir(const struct spot *spot, const struct spot *old, struct uft_err *err)
{
	int ret = renameat2(spot->dir_fd, spot->name, old->dir_fd, old->name, RENAME_NOREPLACE);

	/*
	 * Not every file system supports RENAME_NOREPLACE. Without this flag, renameat(2) replaces
	 * @old only if @old is an empty directory, so no file is lost.
	 */
	if (ret < 0 && (errno == EINVAL || errno == ENOSYS))
		ret = renameat(spot->dir_fd, spot->name, old->dir_fd, old->name);
	if (ret == 0)
		return 0;
	if (errno == ENOENT || errno == EEXIST || errno == ENOTEMPTY)
		return CHANGED_MEANWHILE;
	return err_set_errno(err, -errno, "cannot rename '%s' to '%s'", spot->path, old->path);
}

/*
 * Remove the recording at @old, if there is one. Then rename the directory at @spot to @old. A
 * recorder that is writing to the directory goes on writing to the renamed directory.
 */
static int put_aside(const struct spot *spot, const struct spot *old, struct uft_err *err)
{
	const char *path = spot->path;
	int fd cleanup_fd = open_spot(spot, 0);

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 && errno != ENOTDIR)
		return err_set_errno(err, -errno, "cannot open '%s'", path);
	if (fd < 0 || !is_recording(fd)) {
		/*
		 * If the directory is not at its path any more, another recorder has renamed it,
		 * and is about to remove it.
		 */
		if (fd >= 0 && !is_at(fd, spot))
			return CHANGED_MEANWHILE;
		return err_set(err, -EEXIST,
			       "cannot record into '%s': it exists and is not a recording; use -d",
			       path);
	}

	int ret = remove_recording(old, err);

	return ret ? ret : rename_dir(spot, old, err);
}

/*
 * True when the directory is ours. Another user with write permission may have replaced the
 * directory that was just made.
 */
static bool is_mine(int dir_fd)
{
	struct stat st;

	return fstat(dir_fd, &st) == 0 && st.st_uid == geteuid();
}

/* Make and lock a new directory. Returns CHANGED_MEANWHILE when another recorder was faster. */
static int make_dir(const struct spot *spot, int *dir_fd, struct uft_err *err)
{
	const char *path = spot->path;

	if (mkdirat(spot->dir_fd, spot->name, 0755) < 0)
		return errno == EEXIST
			       ? CHANGED_MEANWHILE
			       : err_set_errno(err, -errno, "cannot create directory '%s'", path);

	int fd cleanup_fd = open_spot(spot, O_NOFOLLOW);

	if (fd < 0 && errno != ENOENT)
		return err_set_errno(err, -errno, "cannot open directory '%s'", path);
	if (fd < 0 || !is_mine(fd) || !lock_dir(fd) || !is_at(fd, spot) || !is_empty(fd))
		return CHANGED_MEANWHILE;

	int marker cleanup_fd = openat(fd, MARKER, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (marker < 0)
		return errno == ENOENT
			       ? CHANGED_MEANWHILE
			       : err_set_errno(err, -errno, "cannot create a file in '%s'", path);
	*dir_fd = fd;
	fd = -1;
	return 0;
}

static int give_up(const struct spot *spot, const struct spot *old, struct uft_err *err)
{
	int fd cleanup_fd = open_spot(old, O_NOFOLLOW);

	if (fd >= 0 && !lock_dir(fd))
		return err_set(err, -EBUSY,
			       "cannot replace '%s': a recorder is still writing into it; wait for "
			       "its end or use -d",
			       old->path);
	return err_set(err, -EBUSY,
		       "cannot record into '%s': others begin to record into it, too; use -d",
		       spot->path);
}

/*
 * Finds the parent directory of @path, and follows links on the way. @old_name gets the last part
 * of @path, with ".old" at the end.
 */
static int find_spots(struct place *place, const char *path, char old_name[static NAME_MAX + 5],
		      struct uft_err *err)
{
	int ret = place_find_parent(place, path, err);

	if (ret == 0)
		snprintf(old_name, NAME_MAX + 5, "%s.old", place->name);
	return ret;
}

int store_dir_make(struct store_dir *dir, const char *given, struct uft_err *err)
{
	struct place place cleanup_place = PLACE_NOWHERE;
	char path[PATH_MAX];
	char old_path[PATH_MAX];
	char old_name[NAME_MAX + 5];
	size_t len = strlen(given);
	int dir_fd = -1;

	while (len > 1 && given[len - 1] == '/')
		len--;
	if (snprintf(path, sizeof(path), "%.*s", (int)MIN(len, (size_t)PATH_MAX), given) >=
		    (int)sizeof(path) ||
	    snprintf(old_path, sizeof(old_path), "%s.old", path) >= (int)sizeof(old_path))
		return err_set_errno(err, -ENAMETOOLONG, "cannot record into '%s'", given);

	int ret = find_spots(&place, path, old_name, err);

	if (ret < 0)
		return ret;

	const struct spot spot = { place.dir_fd, place.name, path };
	const struct spot old = { place.dir_fd, old_name, old_path };

	for (int i = 0; i < TRIES; i++) {
		ret = put_aside(&spot, &old, err);
		if (ret == 0)
			ret = make_dir(&spot, &dir_fd, err);
		if (ret == 0)
			store_dir_use(dir, dir_fd);
		if (ret <= 0)
			return ret;
		usleep(TRY_AGAIN_US);
	}
	return give_up(&spot, &old, err);
}
