/* The probe's own system calls (see own_syscall.h). */
#include "libmcount/system/own_syscall.h"

#include <errno.h>
#include <signal.h>

struct seal seal;

long seal_refuse(void)
{
	errno = EPERM;
	return -1;
}

/*
 * The kernel finds out without a fault: rt_sigprocmask(2) gets an invalid "how", but copies the set
 * at @address before it looks at "how". Programs' filters allow this system call; they often forbid
 * others that look at memory.
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

bool own_quiet_begin(uint64_t *mask)
{
	uint64_t all = UINT64_MAX;

	return own_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, mask, sizeof(all)) == 0;
}

void own_quiet_end(uint64_t mask)
{
	own_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
}
