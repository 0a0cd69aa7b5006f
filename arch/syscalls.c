/*
 * Numbers of system calls (see syscalls.h). The kernel has a header asm/unistd.h for each ABI. The
 * numbers come from these headers.
 */
#include "arch/syscalls.h"

#include <linux/audit.h>

#define X32_BIT 0x40000000U

const struct syscall_abi syscall_abis[] = {
	{ AUDIT_ARCH_X86_64,
	  ~X32_BIT,
	  {
		  [SYSCALL_NONE] = -1,	    [SYSCALL_OPEN] = 2,
		  [SYSCALL_CREAT] = 85,	    [SYSCALL_OPENAT] = 257,
		  [SYSCALL_OPENAT2] = 437,  [SYSCALL_OPEN_BY_HANDLE_AT] = 304,
		  [SYSCALL_CLOSE] = 3,	    [SYSCALL_CLOSE_RANGE] = 436,
		  [SYSCALL_DUP] = 32,	    [SYSCALL_DUP2] = 33,
		  [SYSCALL_DUP3] = 292,	    [SYSCALL_FCNTL] = 72,
		  [SYSCALL_FCNTL64] = -1,   [SYSCALL_PIPE] = 22,
		  [SYSCALL_PIPE2] = 293,    [SYSCALL_RENAME] = 82,
		  [SYSCALL_RENAMEAT] = 264, [SYSCALL_RENAMEAT2] = 316,
		  [SYSCALL_LINK] = 86,	    [SYSCALL_LINKAT] = 265,
		  [SYSCALL_SYMLINK] = 88,   [SYSCALL_SYMLINKAT] = 266,
		  [SYSCALL_UNLINK] = 87,    [SYSCALL_UNLINKAT] = 263,
		  [SYSCALL_RMDIR] = 84,	    [SYSCALL_MOUNT] = 165,
		  [SYSCALL_UMOUNT] = -1,    [SYSCALL_UMOUNT2] = 166,
		  [SYSCALL_PRCTL] = 157,    [SYSCALL_CLONE] = 56,
		  [SYSCALL_CLONE3] = 435,   [SYSCALL_VFORK] = 58,
	  } },
	{ AUDIT_ARCH_I386,
	  ~0U,
	  {
		  [SYSCALL_NONE] = -1,	    [SYSCALL_OPEN] = 5,
		  [SYSCALL_CREAT] = 8,	    [SYSCALL_OPENAT] = 295,
		  [SYSCALL_OPENAT2] = 437,  [SYSCALL_OPEN_BY_HANDLE_AT] = 342,
		  [SYSCALL_CLOSE] = 6,	    [SYSCALL_CLOSE_RANGE] = 436,
		  [SYSCALL_DUP] = 41,	    [SYSCALL_DUP2] = 63,
		  [SYSCALL_DUP3] = 330,	    [SYSCALL_FCNTL] = 55,
		  [SYSCALL_FCNTL64] = 221,  [SYSCALL_PIPE] = 42,
		  [SYSCALL_PIPE2] = 331,    [SYSCALL_RENAME] = 38,
		  [SYSCALL_RENAMEAT] = 302, [SYSCALL_RENAMEAT2] = 353,
		  [SYSCALL_LINK] = 9,	    [SYSCALL_LINKAT] = 303,
		  [SYSCALL_SYMLINK] = 83,   [SYSCALL_SYMLINKAT] = 304,
		  [SYSCALL_UNLINK] = 10,    [SYSCALL_UNLINKAT] = 301,
		  [SYSCALL_RMDIR] = 40,	    [SYSCALL_MOUNT] = 21,
		  [SYSCALL_UMOUNT] = 22,    [SYSCALL_UMOUNT2] = 52,
		  [SYSCALL_PRCTL] = 172,    [SYSCALL_CLONE] = 120,
		  [SYSCALL_CLONE3] = 435,   [SYSCALL_VFORK] = 190,
	  } },
	{ 0 },
};

bool syscall_may_be(uint64_t number, enum syscall_id id)
{
	for (const struct syscall_abi *abi = syscall_abis; abi->audit_arch; abi++) {
		if ((number & abi->mask) == (uint64_t)abi->numbers[id])
			return true;
	}
	return false;
}
