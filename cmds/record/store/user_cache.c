/* The user's cache directory (see user_cache.h). */
#include "cmds/record/store/user_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmds/record/base/settings.h"
#include "cmds/record/store/dir.h"
#include "utils/base/fd.h"
#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"

#define DIR_NAME       "utrail"
#define SUFFIX	       ".functions"
#define UNDONE	       ".new"
/* The age after which an unfinished file is taken for the leftover of a killed writer. */
#define UNDONE_SECONDS 600

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/*
 * True when the thread has the user's own rights. False in a setuid program, and while the thread
 * has the rights of another user (rights_enter()).
 */
static bool is_ourselves(void)
{
	/* setfsuid(2) with an impossible user changes nothing, and returns the current user. */
	return getuid() == geteuid() && getgid() == getegid() &&
	       (uid_t)setfsuid((uid_t)-1) == geteuid();
}

static bool is_ours(int fd, mode_t others_may_not)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	       !(st.st_mode & others_may_not);
}

/*
 * Opens the directory @name in the directory @parent. If @name is missing, first makes @name with
 * mode 0700. Does not follow links. Returns -1 if @name cannot be made or opened, if the owner of
 * @name is not the effective user of the process, or if the mode of @name has a bit of
 * @others_may_not.
 */
static int open_below(int parent, const char *name, mode_t others_may_not)
{
	int fd cleanup_fd = openat(parent, name, OPEN_DIR | O_NOFOLLOW);

	if (fd < 0 && errno == ENOENT && mkdirat(parent, name, 0700) == 0)
		fd = openat(parent, name, OPEN_DIR | O_NOFOLLOW);
	return is_ours(fd, others_may_not) ? take_fd(&fd) : -1;
}

/* Opens the directory that has the caches of all programs. The user may have made it a link. */
static int open_around(void)
{
	const char *path = getenv("XDG_CACHE_HOME");
	int fd cleanup_fd = -1;

	if (path && path[0]) {
		fd = path[0] == '/' ? open(path, OPEN_DIR) : -1;
		return is_ours(fd, 0) ? take_fd(&fd) : -1;
	}
	path = getenv("HOME");
	fd = path && path[0] == '/' ? open(path, OPEN_DIR) : -1;
	return is_ours(fd, 0) ? open_below(fd, ".cache", 0) : -1;
}

int user_cache_open(void)
{
	int around cleanup_fd = is_ourselves() ? open_around() : -1;

	return around < 0 ? -1 : open_below(around, DIR_NAME, S_IWGRP | S_IWOTH);
}

bool user_cache_read(int dir, const char *name, struct strbuf *out)
{
	int fd cleanup_fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	ssize_t len;

	if (!is_ours(fd, S_IWGRP | S_IWOTH) || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size <= 0 || (unsigned long long)st.st_size > USER_CACHE_FILE_MAX ||
	    !strbuf_grow(out, st.st_size))
		return false;
	len = fd_read_full(fd, out->data, st.st_size);
	if (len != st.st_size)
		return false;
	out->len = len;
	out->data[len] = '\0';
	futimens(fd, NULL);
	return true;
}

void user_cache_write(int dir, const char *name, const void *data, size_t len)
{
	char fresh[NAME_MAX + 1];
	int fd cleanup_fd = -1;

	if (len > USER_CACHE_FILE_MAX)
		return;
	snprintf(fresh, sizeof(fresh), "%s.%d" UNDONE, name, (int)getpid());
	fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (fd_write_all(fd, data, len) < 0 || renameat(dir, fresh, dir, name) < 0)
		unlinkat(dir, fresh, 0);
	user_cache_shrink(dir, USER_CACHE_BYTES_MAX);
}

/* A file of the cache. @used: the time when the file was last used, in nanoseconds */
struct kept {
	uint64_t used;
	uint64_t bytes;
	char name[NAME_MAX + 1];
};

struct kept_list {
	struct kept *list;
	size_t nr;
	size_t cap;
	uint64_t bytes;
};

static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name);

	return len > strlen(end) && strcmp(name + len - strlen(end), end) == 0;
}

static void look_at(int dir, const char *name, struct kept_list *kept)
{
	struct stat st;
	struct kept *list;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return;
	if (ends_in(name, UNDONE) && st.st_mtim.tv_sec + UNDONE_SECONDS < time(NULL))
		unlinkat(dir, name, 0);
	if (!ends_in(name, SUFFIX))
		return;
	list = vec_room(kept->list, kept->nr, &kept->cap, sizeof(*list));
	if (!list)
		return;
	kept->list = list;
	list[kept->nr] = (struct kept){ timespec_ns(&st.st_mtim), st.st_size, "" };
	snprintf(list[kept->nr++].name, sizeof(list->name), "%s", name);
	kept->bytes += st.st_size;
}

_Static_assert(offsetof(struct kept, used) == 0, "ordered by order_u64()");

void user_cache_shrink(int dir, unsigned long long max_bytes)
{
	struct kept_list kept = { 0 };
	DIR *names cleanup_dir = store_dir_list(dir);

	for (struct dirent *entry; names && (entry = readdir(names));)
		look_at(dir, entry->d_name, &kept);
	if (kept.nr)
		qsort(kept.list, kept.nr, sizeof(*kept.list), order_u64);
	for (size_t i = 0; i < kept.nr && kept.bytes > max_bytes; i++) {
		if (unlinkat(dir, kept.list[i].name, 0) == 0)
			kept.bytes -= kept.list[i].bytes;
	}
	free(kept.list);
}
