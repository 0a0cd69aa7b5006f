/* Reads a task's links and files in /proc, and the task's memory (see paths.h). */
#include "cmds/record/proc/paths.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "utils/base/compiler.h"
#include "utils/base/fd.h"

/* The smallest page size of all machines. */
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

ssize_t paths_read_of(pid_t tid, const char *name, char *text, size_t size)
{
	int fd cleanup_fd = paths_open_of(tid, name, O_RDONLY);
	ssize_t len = fd < 0 ? -1 : fd_read_full(fd, text, size - 1);

	text[MAX(len, 0)] = '\0';
	return len;
}

bool paths_read_link(const char *link, struct strbuf *out)
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
	paths_read_link(link, out);
}

bool paths_of_fd(pid_t tid, int fd, struct strbuf *out)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", tid, fd);
	return paths_read_link(link, out);
}

bool paths_memory(pid_t tid, uint64_t addr, void *out, size_t size)
{
	struct iovec here = { out, size };
	struct iovec there = { (void *)(uintptr_t)addr, size };

	return process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* Each page is read separately, because the page after the string may be unmapped. */
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

void paths_directory(pid_t tid, int dirfd, struct strbuf *out)
{
	if (dirfd == AT_FDCWD)
		paths_link(tid, "cwd", out);
	else
		paths_of_fd(tid, dirfd, out);
}
