/* Names of files as a task means them (see paths.h). */
#include "cmds/record/proc/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "utils/base/compiler.h"

/* No machine has smaller ones. */
#define PAGE_BYTES 4096U

static void link_name(pid_t tid, const char *name, char out[64])
{
	snprintf(out, 64, "/proc/%d/%s", tid, name);
}

int paths_open_of(pid_t tid, const char *name, int flags)
{
	char path[64];

	link_name(tid, name, path);
	return open(path, flags | O_CLOEXEC);
}

static bool read_link(const char *link, struct strbuf *out)
{
	char path[PATH_MAX];
	ssize_t len = readlink(link, path, sizeof(path));

	strbuf_reset(out);
	if (len > 0)
		strbuf_add(out, path, len);
	return len > 0;
}

void paths_link(pid_t tid, const char *name, struct strbuf *out)
{
	char link[64];

	link_name(tid, name, link);
	read_link(link, out);
}

bool paths_of_fd(pid_t tid, int fd, struct strbuf *out)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", tid, fd);
	return read_link(link, out);
}

bool paths_memory(pid_t tid, uint64_t addr, void *out, size_t size)
{
	struct iovec here = { out, size };
	struct iovec there = { (void *)(uintptr_t)addr, size };

	return process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* A page at a time: what is behind the string need not be there. */
bool paths_string(pid_t tid, uint64_t addr, struct strbuf *out)
{
	char bytes[PAGE_BYTES];

	strbuf_reset(out);
	while (out->len < PATH_MAX) {
		size_t size = PAGE_BYTES - addr % PAGE_BYTES;
		const char *end;

		size = MIN(size, PATH_MAX - out->len);
		if (!paths_memory(tid, addr, bytes, size))
			return false;
		end = memchr(bytes, '\0', size);
		strbuf_add(out, bytes, end ? (size_t)(end - bytes) : size);
		if (end)
			return true;
		addr += size;
	}
	return false;
}

static void directory(pid_t tid, int dirfd, struct strbuf *out)
{
	if (dirfd == AT_FDCWD)
		paths_link(tid, "cwd", out);
	else
		paths_of_fd(tid, dirfd, out);
}

static void add_name(const char *name, struct strbuf *out)
{
	if (*name && strbuf_str(out)[out->len - !!out->len] != '/')
		strbuf_addch(out, '/');
	strbuf_addstr(out, name);
}

void paths_given(pid_t tid, int dirfd, const char *name, struct strbuf *out)
{
	strbuf_reset(out);
	if (*name == '/') {
		strbuf_addstr(out, name);
		return;
	}
	directory(tid, dirfd, out);
	if (out->len)
		add_name(name, out);
	else
		strbuf_addstr(out, name);
}

/* @dir without the way to the task's root; NULL: it is not below that. */
static const char *within_root(pid_t tid, const char *dir)
{
	struct strbuf root cleanup_strbuf = { 0 };
	size_t len;

	paths_link(tid, "root", &root);
	len = root.len == 1 ? 0 : root.len;
	if (!root.len || strncmp(dir, strbuf_str(&root), len) != 0)
		return NULL;
	return dir[len] == '/' || !dir[len] ? dir + len : NULL;
}

/* As the task would find it, links that begin with a slash among what is on the way: within its own root. */
static int open_in_root(pid_t tid, int dirfd, const char *name)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	struct strbuf path cleanup_strbuf = { 0 };
	const char *inside = "";

	if (*name != '/') {
		directory(tid, dirfd, &path);
		inside = within_root(tid, strbuf_str(&path));
	}
	if (!inside) {
		errno = EXDEV;
		return -1;
	}

	struct strbuf whole cleanup_strbuf = { 0 };
	int root = paths_open_of(tid, "root", O_PATH | O_DIRECTORY);
	int fd;

	strbuf_addstr(&whole, inside);
	add_name(*name ? name : ".", &whole);
	fd = root < 0 || strbuf_oom(&whole)
		     ? -1
		     : (int)syscall(SYS_openat2, root, strbuf_str(&whole), &how, sizeof(how));
	if (root >= 0)
		close(root);
	return fd;
}

/* What is below a directory that is out of its root, or too long a way off. */
static int open_from(pid_t tid, int dirfd, const char *name)
{
	char link[64] = "cwd";
	int dir;
	int fd;

	if (dirfd != AT_FDCWD)
		snprintf(link, sizeof(link), "fd/%d", dirfd);
	dir = paths_open_of(tid, link, O_PATH);
	fd = dir < 0 ? -1 : openat(dir, *name ? name : ".", O_PATH | O_CLOEXEC);
	if (dir >= 0)
		close(dir);
	return fd;
}

static int open_path(pid_t tid, int dirfd, const char *name)
{
	int fd = open_in_root(tid, dirfd, name);

	return fd < 0 && *name != '/' && errno != ENOENT ? open_from(tid, dirfd, name) : fd;
}

void paths_target(pid_t tid, int dirfd, const char *name, struct strbuf *out)
{
	char link[64];
	int fd = open_path(tid, dirfd, name);

	strbuf_reset(out);
	if (fd < 0)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	read_link(link, out);
	close(fd);
}

/* A name that is a directory's own: "..", "/", "dir/.". */
static bool names_directory(const char *last)
{
	return !*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
}

void paths_place(pid_t tid, int dirfd, const char *name, struct strbuf *out)
{
	struct strbuf dir cleanup_strbuf = { 0 };
	struct strbuf last cleanup_strbuf = { 0 };
	size_t len = strlen(name);
	size_t at;

	while (len > 1 && name[len - 1] == '/')
		len--;
	for (at = len; at && name[at - 1] != '/'; at--)
		;
	strbuf_add(&dir, name, at);
	strbuf_add(&last, name + at, len - at);
	if (names_directory(strbuf_str(&last))) {
		paths_target(tid, dirfd, name, out);
	} else {
		paths_target(tid, dirfd, strbuf_str(&dir), out);
		if (out->len)
			add_name(strbuf_str(&last), out);
	}
	if (!out->len)
		paths_given(tid, dirfd, name, out);
}
