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
 * True when memory can be read. The kernel says so without a fault: rt_sigprocmask(2) copies the
 * set before it finds that there is no such "how". Among the system calls that look at memory,
 * filters always allow this one.
 */
bool own_is_readable(uint64_t address)
{
	int saved = errno;
	long ret = own_syscall(SYS_rt_sigprocmask, ~0L, address, 0L, sizeof(uint64_t));
	bool is_readable = ret == -1 && errno == EINVAL;

	/* The program may have set errno, and read it after a call that ends a frame. */
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
