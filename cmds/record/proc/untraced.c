/* Removes CLONE_UNTRACED from a system call (see untraced.h). */
#include "cmds/record/proc/untraced.h"

#include <linux/sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "arch/remote.h"
#include "arch/syscalls.h"

/*
 * The maximum size of a struct clone_args, in bytes. The members that a kernel knows take less
 * space. The kernel accepts a struct of at most a page if all bytes after these members are 0
 * (clone(2), E2BIG).
 */
#define ARGS_MAX 4096UL

/*
 * Leaf functions may use this number of bytes below the stack pointer (System V ABI for AMD64, "The
 * Stack Frame"). The i386 ABI has no such bytes.
 */
#define RED_ZONE 128UL

struct args {
	uint64_t bytes;
	uint64_t words[ARGS_MAX / sizeof(uint64_t)];
};

static bool read_args(pid_t tid, const struct __ptrace_syscall_info *info, struct args *args)
{
	struct iovec here = { args->words, args->bytes };
	struct iovec there = { (void *)(uintptr_t)info->seccomp.args[0], args->bytes };

	return process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)args->bytes;
}

/*
 * Writes @args to free space on the task's stack, so that the kernel can read @args there. The
 * program's own struct stays unchanged. Returns the address of that space, or 0 when the write
 * fails.
 */
static uint64_t write_args(pid_t tid, const struct __ptrace_syscall_info *info, struct args *args)
{
	uint64_t at = (info->stack_pointer - RED_ZONE - args->bytes) & ~15UL;
	struct iovec here = { args->words, args->bytes };
	struct iovec there = { (void *)(uintptr_t)at, args->bytes };

	return process_vm_writev(tid, &here, 1, &there, 1, 0) == (ssize_t)args->bytes ? at : 0;
}

static void take_out_of_memory(pid_t tid, const struct __ptrace_syscall_info *info)
{
	struct args args = { .bytes = info->seccomp.args[1] };
	uint64_t at;

	/*
	 * If the arguments are too short or too long, or cannot be read, the kernel will refuse
	 * the system call.
	 */
	if (args.bytes < CLONE_ARGS_SIZE_VER0 || args.bytes > ARGS_MAX ||
	    !read_args(tid, info, &args) || !(args.words[0] & CLONE_UNTRACED))
		return;
	args.words[0] &= ~(uint64_t)CLONE_UNTRACED;
	at = write_args(tid, info, &args);
	if (at)
		arch_remote_set_argument(tid, info->arch, at);
}

void untraced_take_out(pid_t tid, const struct __ptrace_syscall_info *info)
{
	if (syscall_may_be(info->seccomp.nr, SYSCALL_CLONE) &&
	    info->seccomp.args[0] & CLONE_UNTRACED)
		arch_remote_set_argument(tid, info->arch,
					 info->seccomp.args[0] & ~(uint64_t)CLONE_UNTRACED);
	if (syscall_may_be(info->seccomp.nr, SYSCALL_CLONE3))
		take_out_of_memory(tid, info);
}
