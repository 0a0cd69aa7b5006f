/* Numbers of the system calls that a recorder watches, for each system call ABI. */
#ifndef UTRAIL_ARCH_SYSCALLS_H
#define UTRAIL_ARCH_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * System calls. All system calls before SYSCALL_NOT_WATCHED concern files, or the name of a task.
 * fcntl64(2) counts as fcntl(2).
 */
enum syscall_id {
	SYSCALL_NONE,
	SYSCALL_OPEN,
	SYSCALL_CREAT,
	SYSCALL_OPENAT,
	SYSCALL_OPENAT2,
	SYSCALL_OPEN_BY_HANDLE_AT,
	SYSCALL_CLOSE,
	SYSCALL_CLOSE_RANGE,
	SYSCALL_DUP,
	SYSCALL_DUP2,
	SYSCALL_DUP3,
	SYSCALL_FCNTL,
	SYSCALL_FCNTL64,
	SYSCALL_PIPE,
	SYSCALL_PIPE2,
	SYSCALL_RENAME,
	SYSCALL_RENAMEAT,
	SYSCALL_RENAMEAT2,
	SYSCALL_LINK,
	SYSCALL_LINKAT,
	SYSCALL_SYMLINK,
	SYSCALL_SYMLINKAT,
	SYSCALL_UNLINK,
	SYSCALL_UNLINKAT,
	SYSCALL_RMDIR,
	SYSCALL_MOUNT,
	SYSCALL_UMOUNT,
	SYSCALL_UMOUNT2,
	SYSCALL_PRCTL,
	SYSCALL_NOT_WATCHED,
	SYSCALL_CLONE = SYSCALL_NOT_WATCHED,
	SYSCALL_CLONE3,
	SYSCALL_VFORK,
	SYSCALL_BEYOND,
};

/*
 * @audit_arch: AUDIT_ARCH_*, as in the kernel's data for filters and tracers
 * @mask: the bits of a number that identify the system call. Numbers of x32 programs are those of
 *        x86_64 with one more bit
 * @numbers: the index is enum syscall_id; negative: the ABI has no such system call
 */
struct syscall_abi {
	uint32_t audit_arch;
	uint32_t mask;
	int16_t numbers[SYSCALL_BEYOND];
};

/*
 * The system call ABIs of all architectures for which utrail has a recorder. In the last element,
 * @audit_arch is 0.
 */
extern const struct syscall_abi syscall_abis[];

/*
 * True when @number stands for system call @id in at least one ABI. This function is for processes
 * whose ABI is unknown. In the ABI of the process, the number may stand for another system call.
 */
bool syscall_may_be(uint64_t number, enum syscall_id id);

#endif
