/* Finds the files to which a task's path names refer (see named_files.h). */
#include "cmds/record/proc/named_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cmds/record/base/proc_status.h"
#include "cmds/record/proc/paths.h"

static void add_name(const char *name, struct strbuf *out)
{
	if (*name && strbuf_str(out)[out->len - !!out->len] != '/')
		strbuf_addch(out, '/');
	strbuf_addstr(out, name);
}

void named_files_given(const struct view *view, const char *name, struct strbuf *out)
{
	strbuf_reset(out);
	if (*name == '/' || !*view->base) {
		strbuf_addstr(out, name);
		return;
	}
	strbuf_addstr(out, view->base);
	add_name(name, out);
}

/* Returns @dir relative to the root of the task, or NULL when @dir is not below the root. */
static const char *within_root(const struct view *view, const char *dir)
{
	struct strbuf root cleanup_strbuf = { 0 };
	size_t len;

	if (view->root)
		strbuf_addstr(&root, view->root);
	else
		paths_link(view->tid, "root", &root);
	len = root.len == 1 ? 0 : root.len;
	if (!root.len || strncmp(dir, strbuf_str(&root), len) != 0)
		return NULL;
	return dir[len] == '/' || !dir[len] ? dir + len : NULL;
}

static int open_root(const struct view *view)
{
	return view->root ? open(view->root, O_PATH | O_DIRECTORY | O_CLOEXEC)
			  : paths_open_of(view->tid, "root", O_PATH | O_DIRECTORY);
}

/*
 * Returns the directory, relative to the root of the task, where the search for @name begins.
 * Returns NULL when the base directory is not below the root.
 */
static const char *begin_within_root(const struct view *view, const char *name)
{
	return *name == '/' ? "" : *view->base ? within_root(view, view->base) : NULL;
}

/* Opens the file that the task would open. Absolute links lead to files below the task's root. */
static int open_in_root(const struct view *view, const char *name, int flags)
{
	struct open_how how = { .flags = flags, .resolve = RESOLVE_IN_ROOT };
	const char *inside = begin_within_root(view, name);

	if (!inside) {
		errno = EXDEV;
		return -1;
	}

	struct strbuf whole cleanup_strbuf = { 0 };
	int root cleanup_fd = open_root(view);

	strbuf_addstr(&whole, inside);
	add_name(*name ? name : ".", &whole);
	return root < 0 || strbuf_oom(&whole)
		       ? -1
		       : (int)syscall(SYS_openat2, root, strbuf_str(&whole), &how, sizeof(how));
}

/*
 * Opens the directory in which the search for a relative name begins: view->dirfd, or the working
 * directory of the task.
 */
static int open_base(const struct view *view)
{
	char link[64] = "cwd";

	if (view->dirfd != AT_FDCWD)
		snprintf(link, sizeof(link), "fd/%d", view->dirfd);
	return paths_open_of(view->tid, link, O_PATH);
}

/*
 * Opens a file that open_in_root() could not open, for example because the whole path is too long,
 * or because the kernel has no openat2(2).
 */
static int open_from(const struct view *view, const char *name, int flags)
{
	int dir cleanup_fd = open_base(view);

	return dir < 0 ? -1 : openat(dir, *name ? name : ".", flags);
}

/* --- names that lead through procfs are opened step by step --- */

/* The maximum number of links that are followed for one name. The kernel has the same limit. */
#define LINKS_MAX     40
/* The inode of the root directory of every procfs. */
#define PROC_ROOT_INO 1

/*
 * @root: the root of the task
 * @at: the file that the walk has reached
 * @rest: the rest of the path that the walk still has to follow
 * @keeps_link: if the last name of the path is a link, the link is not followed
 */
struct walk {
	const struct view *view;
	int root;
	int at;
	struct strbuf rest;
	int nr_links;
	bool keeps_link;
};

static bool is_on_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static bool is_top_of_proc(int fd)
{
	struct stat st;

	return is_on_proc(fd) && fstat(fd, &st) == 0 && st.st_ino == PROC_ROOT_INO;
}

static bool is_root(const struct walk *walk)
{
	struct stat here;
	struct stat root;

	return fstat(walk->at, &here) == 0 && fstat(walk->root, &root) == 0 &&
	       here.st_dev == root.st_dev && here.st_ino == root.st_ino;
}

static bool is_link(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISLNK(st.st_mode);
}

/* Opens the directory that the task would reach through /proc/self or /proc/thread-self. */
static int open_self(const struct view *view, bool is_thread)
{
	struct strbuf status cleanup_strbuf = { 0 };
	char path[64];
	int len;

	if (proc_status_read(view->tid, &status) < 0)
		return -1;
	len = snprintf(path, sizeof(path), "/proc/%d", atoi(proc_status_field(&status, "Tgid")));
	if (is_thread)
		snprintf(path + len, sizeof(path) - len, "/task/%d", view->tid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Opens the entry @name of the directory that the walk has reached. The entry may be a link. */
static int open_entry(const struct walk *walk, const char *name, bool keeps_link)
{
	bool is_thread = strcmp(name, "thread-self") == 0;

	if ((is_thread || strcmp(name, "self") == 0) && !keeps_link && is_top_of_proc(walk->at))
		return open_self(walk->view, is_thread);
	if (strcmp(name, "..") == 0 && is_root(walk))
		name = ".";

	int fd = openat(walk->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	/*
	 * Let the kernel follow links such as /proc/<pid>/exe, because the text of such a link is
	 * not a path.
	 */
	if (fd >= 0 && !keeps_link && is_link(fd) && is_on_proc(fd) && !is_top_of_proc(walk->at)) {
		close(fd);
		fd = openat(walk->at, name, O_PATH | O_CLOEXEC);
	}
	return fd;
}

static void move_to(struct walk *walk, int fd)
{
	if (walk->at >= 0)
		close(walk->at);
	walk->at = fd;
}

/* Puts the text of the link @fd at the beginning of walk->rest. Returns false with errno. */
static bool follow_link(struct walk *walk, int fd)
{
	char text[PATH_MAX];
	struct strbuf rest = { 0 };
	ssize_t len = readlinkat(fd, "", text, sizeof(text));

	if (len <= 0 || ++walk->nr_links > LINKS_MAX) {
		errno = len <= 0 ? ENOENT : ELOOP;
		return false;
	}
	strbuf_add(&rest, text, len);
	strbuf_addch(&rest, '/');
	strbuf_add(&rest, strbuf_str(&walk->rest), walk->rest.len);
	strbuf_deinit(&walk->rest);
	walk->rest = rest;
	if (text[0] == '/')
		move_to(walk, fcntl(walk->root, F_DUPFD_CLOEXEC, 0));
	return walk->at >= 0 && !strbuf_oom(&rest);
}

/* Makes the next step. Returns 1 on success, 0 when no step is left, or -1 with errno. */
static int make_step(struct walk *walk)
{
	const char *begin = strbuf_str(&walk->rest);
	size_t skipped = strspn(begin, "/");
	size_t len = strcspn(begin + skipped, "/");
	char name[NAME_MAX + 1];
	bool keeps_link;

	if (!len)
		return 0;
	if (len > NAME_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(name, begin + skipped, len);
	name[len] = '\0';
	walk->rest.len -= skipped + len;
	memmove(walk->rest.data, begin + skipped + len, walk->rest.len + 1);
	keeps_link = walk->keeps_link && !walk->rest.len;

	int fd = open_entry(walk, name, keeps_link);

	if (fd < 0)
		return -1;
	if (keeps_link || !is_link(fd)) {
		move_to(walk, fd);
		return 1;
	}

	bool is_followed = follow_link(walk, fd);

	close(fd);
	return is_followed ? 1 : -1;
}

/*
 * Opens a file by one step for each part of its name. In this way /proc/self is the directory of
 * the task. If the kernel resolved the whole name, /proc/self would be the recorder's directory.
 */
static int open_by_steps(const struct view *view, const char *name, int links)
{
	const char *inside = begin_within_root(view, name);
	int root cleanup_fd = open_root(view);
	struct walk walk = { .view = view, .root = root, .at = -1, .keeps_link = links != 0 };
	int ret = 1;

	if (inside && root >= 0)
		walk.at = fcntl(root, F_DUPFD_CLOEXEC, 0);
	else if (!inside && !view->is_late)
		walk.at = open_base(view);
	if (inside)
		strbuf_addstr(&walk.rest, inside);
	add_name(name, &walk.rest);
	while (walk.at >= 0 && !strbuf_oom(&walk.rest) && ret > 0)
		ret = make_step(&walk);
	if (ret != 0)
		move_to(&walk, -1);
	strbuf_deinit(&walk.rest);
	return walk.at;
}

/*
 * True when openat2(2) may have failed with @error because @name leads through procfs. With
 * RESOLVE_IN_ROOT, openat2(2) fails at links such as /proc/<pid>/exe.
 */
static bool may_need_steps(const char *name, int error)
{
	return error == EXDEV || error == ELOOP ||
	       (error == ENOENT && (strstr(name, "self") || strncmp(name, "/dev/", 5) == 0));
}

/*
 * Opens the file @name. The descriptor can only identify the file (O_PATH), not read it.
 *
 * @links: O_NOFOLLOW when a link at the end of @name must not be followed, otherwise 0
 */
static int open_path(const struct view *view, const char *name, int links)
{
	int flags = O_PATH | O_CLOEXEC | links;
	int fd = open_in_root(view, name, flags);

	if (fd >= 0 ? is_on_proc(fd) : may_need_steps(name, errno)) {
		if (fd >= 0)
			close(fd);
		return open_by_steps(view, name, links);
	}
	/*
	 * If view->is_late is set, the task may have changed its working directory after
	 * the use of @name. In this case the working directory is not used.
	 */
	return fd < 0 && *name != '/' && errno != ENOENT && !view->is_late
		       ? open_from(view, name, flags)
		       : fd;
}

int named_files_open(const struct view *view, const char *name)
{
	return open_path(view, name, 0);
}

bool named_files_has(const struct view *view, const char *name)
{
	int fd cleanup_fd = open_path(view, name, O_NOFOLLOW);

	return fd >= 0;
}

/*
 * Removes the suffix " (deleted)" from @path. The kernel adds this suffix if the file of @fd has
 * been removed. But when the task used the path of the file, the file still existed.
 */
static void forget_removal(int fd, struct strbuf *path)
{
	static const char removed[] = " (deleted)";
	size_t len = sizeof(removed) - 1;
	struct stat st;

	if (path->len > len && strcmp(path->data + path->len - len, removed) == 0 &&
	    fstat(fd, &st) == 0 && st.st_nlink == 0) {
		path->len -= len;
		path->data[path->len] = '\0';
	}
}

void named_files_target(const struct view *view, const char *name, struct strbuf *out)
{
	char link[64];
	int fd cleanup_fd = open_path(view, name, 0);

	strbuf_reset(out);
	if (fd < 0)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	paths_read_link(link, out);
	if (view->is_late)
		forget_removal(fd, out);
}

/* True when the last name of a path shows that the path is a directory: "", "." or "..". */
static bool names_directory(const char *last)
{
	return !*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
}

/*
 * Resolve the part of @dir that still exists, and append the rest of @dir without its "."
 * components. If the rest contains "..", @out stays empty, because a missing component may have
 * been a link.
 */
static void find_rest(const struct view *view, const struct strbuf *dir, struct strbuf *out)
{
	struct strbuf begin cleanup_strbuf = { 0 };
	struct strbuf rest cleanup_strbuf = { 0 };

	strbuf_add(&begin, strbuf_str(dir), dir->len);
	while (begin.len && !out->len) {
		struct strbuf longer cleanup_strbuf = { 0 };
		size_t at;

		while (begin.len > 1 && begin.data[begin.len - 1] == '/')
			begin.data[--begin.len] = '\0';
		for (at = begin.len; at && begin.data[at - 1] != '/'; at--)
			;
		if (at == begin.len || strcmp(begin.data + at, "..") == 0)
			return;
		if (strcmp(begin.data + at, ".") != 0)
			strbuf_addstr(&longer, begin.data + at);
		if (rest.len && longer.len)
			add_name(strbuf_str(&rest), &longer);
		else
			strbuf_add(&longer, strbuf_str(&rest), rest.len);
		strbuf_reset(&rest);
		strbuf_add(&rest, strbuf_str(&longer), longer.len);
		begin.len = at;
		begin.data[at] = '\0';
		if (at)
			named_files_target(view, begin.data, out);
		else
			strbuf_addstr(out, view->base);
	}
	if (out->len)
		add_name(strbuf_str(&rest), out);
}

static void find_directory(const struct view *view, const struct strbuf *dir, struct strbuf *out)
{
	/* The path in view->base contains no links, so the path is copied without a search. */
	if (!dir->len && *view->base) {
		strbuf_addstr(out, view->base);
		return;
	}
	named_files_target(view, strbuf_str(dir), out);
	if (!out->len && view->is_late && !strbuf_oom(dir))
		find_rest(view, dir, out);
}

/*
 * Go up from the base directory once for each ".." at the beginning of @name. @base gets the
 * resulting directory. Returns the rest of @name. The file system is not searched, because the path
 * of the base directory contains no links.
 */
static const char *climb_name(const struct view *view, const char *name, struct strbuf *base)
{
	const char *at = name;

	strbuf_addstr(base, view->base);
	while (at[0] == '.' && at[at[1] == '.' ? 2 : 1] == '/') {
		const char *slash = strrchr(strbuf_str(base), '/');

		if (at[1] == '.' && slash && strcmp(base->data, view->root) != 0) {
			base->len = slash == base->data ? 1 : slash - base->data;
			base->data[base->len] = '\0';
		}
		at += strcspn(at, "/");
		at += strspn(at, "/");
	}
	return at;
}

static void find_place(const struct view *view, const char *name, struct strbuf *out)
{
	struct strbuf dir cleanup_strbuf = { 0 };
	struct strbuf last cleanup_strbuf = { 0 };
	size_t len = strlen(name);
	size_t at;

	strbuf_reset(out);
	while (len > 1 && name[len - 1] == '/')
		len--;
	for (at = len; at && name[at - 1] != '/'; at--)
		;
	strbuf_add(&dir, name, at);
	strbuf_add(&last, name + at, len - at);
	if (names_directory(strbuf_str(&last))) {
		named_files_target(view, name, out);
	} else {
		find_directory(view, &dir, out);
		if (out->len)
			add_name(strbuf_str(&last), out);
	}
	if (!out->len)
		named_files_given(view, name, out);
}

void named_files_of(const struct view *view, const char *name, struct strbuf *out)
{
	struct strbuf base cleanup_strbuf = { 0 };
	struct view above = *view;
	const char *rest = name;

	if (view->is_late && view->root && *view->base && *name == '.')
		rest = climb_name(view, name, &base);
	if (rest != name && *rest && !strbuf_oom(&base)) {
		above.base = strbuf_str(&base);
		find_place(&above, rest, out);
	} else {
		find_place(view, name, out);
	}
}
