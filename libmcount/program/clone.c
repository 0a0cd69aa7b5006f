/*
 * The probe's versions of clone(2) and _Fork(3). Also probe_syscall(), which the probe's version of
 * syscall(3) calls first. When these functions make a child process, libc does not call its fork
 * handlers, so the probe prepares for the child here. When the program sets a filter of system
 * calls with syscall(3), the probe first prepares for the filter (seal.h).
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "libmcount/system/own_syscall.h"
#include "libmcount/program/interpose.h"
#include "libmcount/program/lend.h"
#include "libmcount/hot/probe.h"
#include "libmcount/system/seal.h"

typedef int clone_fn(int (*fn)(void *), void *stack, int flags, void *arg, ...);
typedef pid_t fork_fn(void);

EXPORTED clone_fn clone;
EXPORTED fork_fn _Fork;

/*
 * The work of the child. The child finds this struct on its parent's stack, or in a copy of that
 * stack.
 */
struct child {
	int (*fn)(void *);
	void *arg;
	struct thread *lent;
};

static int begin_child(void *arg)
{
	struct child *child = arg;

	thread_after_fork();
	return child->fn(child->arg);
}

static int begin_lent_child(void *arg)
{
	const struct child *child = arg;

	lend_begin(child->lent);
	return child->fn(child->arg);
}

/* True when the child has this thread's memory and thread-local storage while this thread waits. */
static bool is_lending(uint64_t flags)
{
	return (flags & CLONE_VM) && (flags & CLONE_VFORK) && !(flags & CLONE_SETTLS);
}

int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	static void *next;
	clone_fn *real = interposed(&next, "clone");
	struct child child = { fn, arg, NULL };
	void *more[3];
	va_list ap;

	/*
	 * parent_tid, tls, child_tid. Like libc, the probe passes on all three, even if the caller
	 * gave fewer.
	 */
	va_start(ap, arg);
	for (int i = 0; i < 3; i++)
		more[i] = va_arg(ap, void *);
	va_end(ap);
	if (!real)
		return interpose_fail();
	if (fn && !(flags & CLONE_VM)) {
		thread_before_fork();
		return real(begin_child, stack, flags, &child, more[0], more[1], more[2]);
	}
	if (fn && is_lending(flags)) {
		child.lent = lend_prepare(0);

		int pid = real(begin_lent_child, stack, flags, &child, more[0], more[1], more[2]);

		lend_end(child.lent);
		return pid;
	}
	thread_before_sharing(flags);
	return real(fn, stack, flags, arg, more[0], more[1], more[2]);
}

pid_t _Fork(void)
{
	static void *next;
	fork_fn *real = interposed(&next, "_Fork");

	if (!real)
		return interpose_fail();
	thread_before_fork();

	pid_t pid = real();

	if (pid == 0)
		thread_after_fork();
	return pid;
}

uint32_t probe_syscall(long number, uint64_t first, uint64_t second, uint64_t third)
{
	uint64_t flags = first;

	if (number == SYS_prctl) {
		prctl_before(first, second, third);
		return PROBE_CHILD_NONE;
	}

	/*
	 * The struct clone_args of clone3(2) begins with the flags. If the struct cannot be read,
	 * the kernel will refuse the system call.
	 */
	if (number == SYS_clone3)
		flags = own_is_readable(first) ? *(const uint64_t *)first : CLONE_VM | CLONE_VFORK;
	if (number == SYS_seccomp) {
		if (first == SECCOMP_SET_MODE_FILTER)
			seal_before_filter(third);
		if (first == SECCOMP_SET_MODE_STRICT)
			thread_before_cage();
		return PROBE_CHILD_NONE;
	}
	if (number == SYS_fork)
		flags = 0;
	if (number == SYS_vfork || (number == SYS_clone && is_lending(flags) && !second))
		return PROBE_CHILD_LENT;
	thread_before_sharing(flags);
	if (flags & CLONE_VM)
		return PROBE_CHILD_NONE;
	thread_before_fork();
	return PROBE_CHILD_FORKED;
}

long probe_syscall_failed(long result)
{
	errno = -result;
	return -1;
}
