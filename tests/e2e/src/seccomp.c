/*
 * Forbids itself all system calls but write and the exits; any other one kills it.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "program.h"

LEAF(before)
LEAF(after)

#define ALLOW(nr) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

FN int lock_down(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_write),
		ALLOW(SYS_exit),
		ALLOW(SYS_exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };
	int r = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) |
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);

	KEEP();
	return r;
}

int main(void)
{
	before();
	if (lock_down() != 0)
		return 9;
	for (int i = 0; i < 1000; i++)
		after();
	if (write(1, "still here\n", 11) != 11)
		_exit(8);
	/* exit() would run code of the C library, which may make any system call. */
	syscall(SYS_exit_group, 0);
	return 7;
}
