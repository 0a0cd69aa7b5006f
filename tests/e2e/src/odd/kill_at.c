/*
 * Kills a program by SIGKILL at the beginning of its system call number N. Until then its threads
 * and children run undisturbed.
 *
 * usage: kill_at N PROGRAM [ARGUMENT...]
 *
 * The status is 0 when it was killed, 3 when it ended before, 77 when it cannot be traced.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(char **argv)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0) {
		perror("ptrace");
		_exit(77);
	}
	raise(SIGSTOP);
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

int main(int argc, char **argv)
{
	long left = argc > 2 ? 2 * atol(argv[1]) - 1 : 0;
	int status;

	if (left <= 0)
		return 2;

	pid_t pid = fork();

	if (pid == 0)
		run(argv + 2);
	waitpid(pid, &status, 0);
	if (!WIFSTOPPED(status))
		return WEXITSTATUS(status);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	for (long signal_nr = 0;;) {
		ptrace(PTRACE_SYSCALL, pid, NULL, (void *)signal_nr);
		waitpid(pid, &status, 0);
		if (!WIFSTOPPED(status))
			return 3;
		signal_nr = WSTOPSIG(status);
		/* SIGTRAP | 0x80: a stop at the beginning or the end of a system call. */
		if (signal_nr != (SIGTRAP | 0x80)) {
			if (signal_nr == SIGTRAP)
				signal_nr = 0;
			continue;
		}
		signal_nr = 0;
		if (--left == 0)
			break;
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return 0;
}
