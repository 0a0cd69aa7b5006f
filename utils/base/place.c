/* Paths are followed one name at a time, so that each link is checked (see place.h). */
#include "utils/base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "utils/base/cleanup.h"

/* The number of links that the kernel follows: path_resolution(7) */
#define LINKS_MAX 40

/*
 * A path being followed.
 *
 * @rest: the names still to follow
 * @nr_links: number of links followed so far
 * @stops_at_last: the last name is not followed
 * @only_of: (uid_t)-1 until the walk follows a link that belongs neither to the caller nor to root.
 *         After that, the owner of the link: the file must belong to this user
 */
struct walk {
	const char *path;
	char rest[PATH_MAX];
	int nr_links;
	bool stops_at_last;
	uid_t only_of;
};

static bool is_ours(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/*
 * True when all users may create names in the directory, or when the directory is sticky and
 * belongs neither to the caller nor to root.
 */
static bool is_public(const struct stat *dir)
{
	return (dir->st_mode & S_IWOTH) || ((dir->st_mode & S_ISVTX) && !is_ours(dir->st_uid));
}

static int walk_failed(const struct walk *walk, int code, struct uft_err *err)
{
	return err_set_errno(err, code, "cannot %s '%s'",
			     walk->stops_at_last ? "create directory" : "write", walk->path);
}

static int move_to(struct place *place, const char *name, const struct walk *walk,
		   struct uft_err *err)
{
	int fd = openat(place->dir_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return walk_failed(walk, -errno, err);
	close(place->dir_fd);
	place->dir_fd = fd;
	return 0;
}

/*
 * Move the first name of @walk->rest to @name. @is_last becomes true when the path ends directly
 * after this name.
 */
static int take_name(struct walk *walk, char *name, bool *is_last)
{
	const char *from = walk->rest + strspn(walk->rest, "/");
	size_t len = strcspn(from, "/");
	const char *after = from + len + strspn(from + len, "/");

	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, from, len);
	name[len] = '\0';
	*is_last = !*after;
	/* "x/" names a directory: the next name is "." */
	if (*is_last && from[len] == '/') {
		strcpy(walk->rest, ".");
		*is_last = false;
	} else {
		memmove(walk->rest, after, strlen(after) + 1);
	}
	return 0;
}

/* True for a link of procfs, such as /proc/self/fd/1. The target of the link may have no name. */
static bool is_kernels_link(int link_fd, const struct stat *dir)
{
	struct statfs fs;

	return fstatfs(link_fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC &&
	       !(dir->st_mode & S_IWOTH);
}

static int check_link(struct walk *walk, const struct stat *dir, const struct stat *link,
		      struct uft_err *err)
{
	if (++walk->nr_links > LINKS_MAX)
		return walk_failed(walk, -ELOOP, err);
	if (is_ours(link->st_uid))
		return 0;
	if (is_public(dir))
		return err_set(err, -EACCES,
			       "cannot write '%s': there is a link that user %u has made in a "
			       "directory where others may write; remove it, or name another file",
			       walk->path, link->st_uid);
	if (walk->only_of != (uid_t)-1 && walk->only_of != link->st_uid)
		return err_set(err, -EACCES,
			       "cannot write '%s': a link that user %u has made leads to a link of "
			       "user %u; name the file itself",
			       walk->path, walk->only_of, link->st_uid);
	walk->only_of = link->st_uid;
	return 0;
}

/* Put the target path of a link in front of @walk->rest. */
static int read_link(struct walk *walk, int link_fd, bool *is_absolute, struct uft_err *err)
{
	char text[PATH_MAX];
	ssize_t len = readlinkat(link_fd, "", text, sizeof(text));
	size_t rest = strlen(walk->rest);

	if (len <= 0)
		return walk_failed(walk, len < 0 ? -errno : -ENOENT, err);
	if (len + 1 + rest + 1 > sizeof(walk->rest))
		return walk_failed(walk, -ENAMETOOLONG, err);
	memmove(walk->rest + len + (rest > 0), walk->rest, rest + 1);
	if (rest)
		walk->rest[len] = '/';
	memcpy(walk->rest, text, len);
	*is_absolute = text[0] == '/';
	return 0;
}

static int start_at(struct place *place, bool is_absolute, const struct walk *walk,
		    struct uft_err *err)
{
	int fd = open(is_absolute ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return walk_failed(walk, -errno, err);
	if (place->dir_fd >= 0)
		close(place->dir_fd);
	place->dir_fd = fd;
	return 0;
}

static int follow_link(struct place *place, struct walk *walk, int link_fd, const struct stat *dir,
		       struct uft_err *err)
{
	bool is_absolute = false;
	int ret = check_link(walk, dir, &place->st, err);

	if (ret == 0)
		ret = read_link(walk, link_fd, &is_absolute, err);
	return ret == 0 && is_absolute ? start_at(place, true, walk, err) : ret;
}

/*
 * @owner is the owner of the file, or of the directory if the file is new. If the path has led
 * through a link of a user who is neither the caller nor root, check that @owner is this link's
 * owner (walk->only_of).
 */
static int check_end(uid_t owner, const struct walk *walk, struct uft_err *err)
{
	if (walk->only_of == (uid_t)-1 || owner == walk->only_of)
		return 0;
	return err_set(err, -EACCES,
		       "cannot write '%s': a link that user %u has made leads to a file of user "
		       "%u; name the file itself",
		       walk->path, walk->only_of, owner);
}

/* Follow one name. Returns 1 after the last name. */
static int walk_step(struct place *place, struct walk *walk, struct uft_err *err)
{
	struct stat dir;
	bool is_last;
	int ret = take_name(walk, place->name, &is_last);

	if (ret < 0 || fstat(place->dir_fd, &dir) < 0)
		return walk_failed(walk, ret < 0 ? ret : -errno, err);
	place->is_shared = is_public(&dir) || !is_ours(dir.st_uid);

	int fd cleanup_fd = openat(place->dir_fd, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (is_last && walk->stops_at_last)
		return check_end(dir.st_uid, walk, err) ?: 1;
	place->is_there = fd >= 0 && fstat(fd, &place->st) == 0;
	if (!place->is_there && (errno != ENOENT || !is_last))
		return walk_failed(walk, -errno, err);
	if (place->is_there && S_ISLNK(place->st.st_mode)) {
		place->is_kernels = is_last && is_kernels_link(fd, &dir);
		if (!place->is_kernels)
			return follow_link(place, walk, fd, &dir, err);
		if (fstatat(place->dir_fd, place->name, &place->st, 0) < 0)
			return walk_failed(walk, -errno, err);
	}
	if (!is_last)
		return move_to(place, place->name, walk, err);
	if (place->is_there && S_ISDIR(place->st.st_mode))
		return walk_failed(walk, -EISDIR, err);
	return check_end(place->is_there ? place->st.st_uid : dir.st_uid, walk, err) ?: 1;
}

/* Follow the first @len bytes of @walk->path. */
static int walk_all(struct place *place, struct walk *walk, size_t len, struct uft_err *err)
{
	int ret;

	*place = PLACE_NOWHERE;
	if (len == 0 || len >= sizeof(walk->rest))
		return walk_failed(walk, len ? -ENAMETOOLONG : -ENOENT, err);
	memcpy(walk->rest, walk->path, len);
	walk->rest[len] = '\0';
	ret = start_at(place, walk->path[0] == '/', walk, err);
	while (ret == 0)
		ret = walk->rest[strspn(walk->rest, "/")] ? walk_step(place, walk, err)
							  : walk_failed(walk, -EISDIR, err);
	return ret < 0 ? ret : 0;
}

int place_find(struct place *place, const char *path, struct uft_err *err)
{
	struct walk walk = { .path = path, .only_of = (uid_t)-1 };

	return walk_all(place, &walk, strlen(path), err);
}

int place_find_parent(struct place *place, const char *path, struct uft_err *err)
{
	struct walk walk = { .path = path, .stops_at_last = true, .only_of = (uid_t)-1 };
	size_t len = strlen(path);
	int ret;

	while (len > 1 && path[len - 1] == '/')
		len--;
	ret = walk_all(place, &walk, len, err);
	if (ret == 0 && (strcmp(place->name, ".") == 0 || strcmp(place->name, "..") == 0))
		return walk_failed(&walk, -EISDIR, err);
	return ret;
}

int place_check_owner(const struct place *place, const char *path, struct uft_err *err)
{
	struct stat dir;

	if (!place->is_there || !place->is_shared || place->is_kernels || is_ours(place->st.st_uid))
		return 0;
	if (S_ISREG(place->st.st_mode) && fstat(place->dir_fd, &dir) == 0 && !is_public(&dir))
		return 0;
	return err_set(err, -EACCES,
		       "cannot write '%s': it belongs to user %u, who has put it into a directory "
		       "where others may write; remove it, or name another file",
		       path, place->st.st_uid);
}

void place_deinit(struct place *place)
{
	if (place->dir_fd >= 0)
		close(place->dir_fd);
	place->dir_fd = -1;
}
