/*
 * A program in a sandbox that makes some system calls in the handler of SIGSYS. The kernel kills
 * such a program if the signal is blocked during the call. The registers are those of x86_64.
 */
#include "point.h"

#if defined(__x86_64__) && defined(__LP64__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static _Atomic int nr_by_main, nr_by_others;

static long do_pwrite(const greg_t *regs)
{
	const struct iovec part = { (void *)regs[REG_RSI], (size_t)regs[REG_RDX] };

	return syscall(SYS_pwritev, regs[REG_RDI], &part, 1L, regs[REG_R10], 0L);
}

static long do_wait(const greg_t *regs)
{
	siginfo_t ended = { .si_pid = 0 };

	if (syscall(SYS_waitid, P_PID, regs[REG_RDI], &ended, WEXITED | regs[REG_RDX], NULL) < 0)
		return -1;
	*(int *)regs[REG_RSI] = ended.si_code == CLD_EXITED ? ended.si_status << 8
							    : ended.si_status;
	return ended.si_pid;
}

static void make_call(int signal_number, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	int error = errno;
	long ret = info->si_syscall == SYS_wait4 ? do_wait(regs) : do_pwrite(regs);

	regs[REG_RAX] = ret < 0 ? -errno : ret;
	errno = error;
	if (syscall(SYS_gettid) == getpid())
		nr_by_main++;
	else
		nr_by_others++;
}

static void enter_sandbox(void)
{
	const struct sigaction action = { .sa_sigaction = make_call, .sa_flags = SA_SIGINFO };
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_wait4, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	CHECK_IS(sigaction(SIGSYS, &action, NULL), 0);
	CHECK_IS(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	CHECK_IS(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

POINT(sandbox_may_make_the_calls_of_all_threads)
{
	trace_event_id_t id = open_id("x");
	int fd = make_file(), nr_of_create;
	trace_attr_t attr;
	trace_id_t trid;

	small_attr(&attr, POSIX_TRACE_FLUSH, 256);
	enter_sandbox();
	trid = make_log(fd, &attr);
	nr_of_create = nr_by_main;
	CHECK(nr_of_create >= 2); /* the log's first header, and the wait for the keeper's parent */
	/* The library's thread flushes when half of the stream is in use. */
	write_numbers(id, 0, 200);
	for (int tries = 0; tries < 10000 && !nr_by_others; tries++)
		usleep(1000);
	CHECK(nr_by_others > 0);
	CHECK_IS(posix_trace_flush(trid), 0);
	CHECK(nr_by_main > nr_of_create);
	CHECK_IS(posix_trace_shutdown(trid), 0);
	/* In exit(), LeakSanitizer would make a process that calls wait4 with SIGSYS blocked. */
	_exit(0);
}
#endif
