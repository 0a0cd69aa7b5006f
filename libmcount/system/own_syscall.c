/* The probe's own system calls (see own_syscall.h). */
#include "libmcount/system/own_syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

struct seal seal;

long seal_refuse(void)
{
	errno = EPERM;
	return -1;
}

/*
 * rt_sigprocmask(2) first reads the set at @address, and then refuses the invalid first argument
 * with EINVAL. So EINVAL means that @address is readable. The seccomp filters of programs allow
 * this system call.
 */
bool own_is_readable(uint64_t address)
{
	int saved = errno;
	long ret = own_syscall(SYS_rt_sigprocmask, ~0L, address, 0L, sizeof(uint64_t));
	bool is_readable = ret == -1 && errno == EINVAL;

	/* A hook must not change errno, which is the program's. */
	errno = saved;
	return is_readable;
}

long own_read_file(const char *path, char *to, size_t size)
{
	int fd = seal_allows_file() ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0)
				    : -1;
	long len = fd < 0 ? -1 : own_syscall(SYS_read, fd, to, size);

	if (fd >= 0)
		own_syscall(SYS_close, fd);
	return len;
}

bool own_quiet_begin(uint64_t *mask)
{
	uint64_t all = UINT64_MAX;

	return own_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, mask, sizeof(all)) == 0;
}

void own_quiet_end(uint64_t mask)
{
	own_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
}
