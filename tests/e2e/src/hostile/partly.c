/*
 * Becomes untraceable half-way, in the way that its argument names.
 * cflags: -D_GNU_SOURCE
 */
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../program.h"

LEAF(leaf)

static void calls(int nr)
{
	for (int i = 0; i < nr; i++)
		leaf();
}

static int thread(void *arg)
{
	calls(10);
	return 0;
}

static int with_shared_memory(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	pid_t pid = clone(thread, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	return waitpid(pid, NULL, __WALL) == pid ? 0 : 1;
}

/*
 * Forks by syscall(3), and not by fork(3). This function has no hooks: a record of its return would
 * report the child to the recorder at once.
 */
__attribute__((no_instrument_function)) static pid_t raw_fork(unsigned long flags)
{
	return syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, 0L);
}

static int child_of(pid_t pid)
{
	int status = 1;

	if (pid == 0) {
		calls(10);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : 1;
}

/* A child that begins when its parent has ended. Only a recorder that knows of it waits for it. */
static int left_behind(unsigned long flags)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends) < 0)
		return 1;
	pid = raw_fork(flags);
	if (pid != 0)
		return pid < 0;
	close(ends[1]);
	while (read(ends[0], &byte, 1) > 0)
		;
	usleep(300000);
	calls(10);
	_exit(0);
}

static int few_descriptors(rlim_t hard)
{
	struct rlimit before, three = { 3, 3 };
	pid_t pid;

	getrlimit(RLIMIT_NOFILE, &before);
	three.rlim_max = hard ? hard : before.rlim_max;
	/* Check that the descriptors below the limit are all in use. */
	for (int fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			return 1;
	}
	pid = fork();
	if (pid == 0) {
		setrlimit(RLIMIT_NOFILE, &three);
		calls(10);
		getrlimit(RLIMIT_NOFILE, &before);
		_exit(before.rlim_cur == 3 && before.rlim_max == three.rlim_max ? 0 : 1);
	}
	return child_of(pid);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int r = 0;

	calls(10);
	if (strcmp(how, "thread") == 0)
		r = with_shared_memory();
	else if (strcmp(how, "fork") == 0)
		r = child_of(raw_fork(0));
	else if (strcmp(how, "network") == 0)
		r = child_of(raw_fork(CLONE_NEWUSER | CLONE_NEWNET));
	else if (strcmp(how, "pids") == 0)
		r = child_of(raw_fork(CLONE_NEWUSER | CLONE_NEWPID));
	else if (strcmp(how, "left") == 0)
		r = left_behind(0);
	else if (strcmp(how, "pids-left") == 0)
		r = left_behind(CLONE_NEWUSER | CLONE_NEWPID);
	else if (strcmp(how, "pids-network") == 0)
		r = child_of(raw_fork(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET));
	else if (strcmp(how, "unshare") == 0)
		r = unshare(CLONE_NEWUSER | CLONE_NEWPID) ? 1 : child_of(fork());
	else if (strcmp(how, "unshare-network") == 0)
		r = unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET) ? 1 : child_of(fork());
	else if (strcmp(how, "descriptors") == 0)
		r = few_descriptors(0);
	else if (strcmp(how, "hard") == 0)
		r = few_descriptors(3);
	calls(10);
	printf("%d\n", r);
	fflush(stdout);
	if (strcmp(how, "strict") == 0) {
		if (syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL) != 0)
			return 9;
		calls(10);
		/* exit_group(2) is forbidden by now. */
		syscall(SYS_exit, 4);
	}
	return 4;
}
