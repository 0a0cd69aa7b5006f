/*
 * Gives up all that it can: root, its place in the file system, its environment, its name spaces.
 * Then it goes on, forks, and executes.
 * cflags: -D_GNU_SOURCE
 */
#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../program.h"

LEAF(leaf)

FN int work(int n)
{
	for (int i = 0; i < n; i++)
		leaf();
	KEEP();
	return n;
}

FN int forks(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		work(100);
		_exit(7);
	}
	waitpid(pid, &status, 0);
	KEEP();
	return WEXITSTATUS(status);
}

int main(int argc, char *argv[])
{
	const char *how = argc > 1 ? argv[1] : "";
	int r = 0;

	work(100);
	if (strcmp(how, "user") == 0)
		r = setgroups(0, NULL) | setresgid(65534, 65534, 65534) |
		    setresuid(65534, 65534, 65534);
	else if (strcmp(how, "chroot") == 0)
		r = mkdir("empty", 0755) | chroot("empty") | chdir("/");
	else if (strcmp(how, "env") == 0)
		r = clearenv();
	else if (strcmp(how, "network") == 0)
		r = unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC);
	else if (strcmp(how, "secret") == 0)
		r = prctl(PR_SET_DUMPABLE, 0);
	else if (strcmp(how, "memory") == 0)
		r = setrlimit(RLIMIT_AS, &(struct rlimit){ 1 << 28, 1 << 28 });
	printf("%s %s %d\n", how, r ? "refused" : "done", work(1000));
	for (int i = 0; i < 5; i++)
		printf("%d\n", forks());
	work(100);
	fflush(stdout);
	if (argc > 1) {
		end_profiling();
		execl(argv[0], argv[0], NULL);
		execl("/proc/self/exe", argv[0], NULL);
	}
	return 3;
}
