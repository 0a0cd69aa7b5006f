/* prctl(2), interposed, since some options forbid system calls or instructions that hooks need. */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#include "libmcount/program/interpose.h"
#include "libmcount/system/undo.h"
#include "libmcount/hot/probe.h"
#include "libmcount/system/seal.h"

EXPORTED int prctl(int option, ...);

/*
 * True for strict seccomp (seccomp(2)), and for PR_SET_TSC with PR_TSC_SIGSEGV. With these settings
 * a hook would kill the program by a forbidden system call, or by a read of the time-stamp counter.
 */
static bool forbids_hooks(int option, unsigned long arg)
{
	return (option == PR_SET_SECCOMP && arg == SECCOMP_MODE_STRICT) ||
	       (option == PR_SET_TSC && arg == PR_TSC_SIGSEGV);
}

void prctl_before(int option, unsigned long first, unsigned long second)
{
	if (option == PR_SET_SECCOMP && first == SECCOMP_MODE_FILTER)
		seal_before_filter(second);
	/* New threads inherit PR_TSC_SIGSEGV. So each new thread must check its setting. */
	if (option == PR_SET_TSC && first == PR_TSC_SIGSEGV)
		atomic_store(&probe.may_lack_counter, true);
	if (forbids_hooks(option, first))
		thread_before_cage();
}

int prctl(int option, ...)
{
	static void *next;
	int (*fn)(int, unsigned long, unsigned long, unsigned long,
		  unsigned long) = interposed(&next, "prctl");
	unsigned long args[4];
	va_list ap;

	/* Like libc's prctl(), passes on all four arguments even if the caller gave fewer. */
	va_start(ap, option);
	for (int i = 0; i < 4; i++)
		args[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if (!fn)
		return interpose_fail();
	prctl_before(option, args[0], args[1]);
	undo_enter();

	int ret = fn(option, args[0], args[1], args[2], args[3]);

	undo_exit();
	return ret;
}

OWN_NAME(prctl);
