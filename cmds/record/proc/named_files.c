/* Finds the files that a task's names refer to (see named_files.h). */
#include "cmds/record/proc/named_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* Opens the file in the way that the task would: absolute links start at the root of the task. */
static int open_in_root(const struct view *view, const char *name, int flags)
{
	struct open_how how = { .flags = flags, .resolve = RESOLVE_IN_ROOT };
	const char *inside = *name == '/' ? "" : *view->base ? within_root(view, view->base) : NULL;

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
 * Opens a file relative to a directory outside of the task's root, or with a path that is too long.
 */
static int open_from(const struct view *view, const char *name, int flags)
{
	char link[64] = "cwd";

	if (view->dirfd != AT_FDCWD)
		snprintf(link, sizeof(link), "fd/%d", view->dirfd);
	int dir cleanup_fd = paths_open_of(view->tid, link, O_PATH);

	return dir < 0 ? -1 : openat(dir, *name ? name : ".", flags);
}

/* Opens the file @name for identification. @links: flags for its last name, O_NOFOLLOW or 0 */
static int open_path(const struct view *view, const char *name, int links)
{
	int flags = O_PATH | O_CLOEXEC | links;
	int fd = open_in_root(view, name, flags);

	/* If the task has gone on, its working directory may have changed, and cannot be used. */
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
 * Removes the kernel's suffix " (deleted)". The file existed when the task used its name, and was
 * removed after it was opened here.
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

/* True for a last name that means a directory itself: "", "." or "..". */
static bool names_directory(const char *last)
{
	return !*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
}

/*
 * Find the part of @dir that still exists, and append the removed rest as the task gave it. @out
 * stays empty when the result would be a guess.
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
	/* The path of the base directory has no links in it, so it needs no search. */
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
 * resulting directory. Returns the rest of @name. The path of the base directory has no links in
 * it.
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
