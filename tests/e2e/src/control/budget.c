/*
 * Calls a tiny function until its input ends: in one thread, in four ("threads"), in two processes
 * ("fork"), or with a filter of system calls ("caged"). With "after" it then loads a library and
 * forks a child. At its end it prints "counted right" if the results of all calls were right. The
 * status is 3.
 */
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../program.h"

#define CALLS 20000

FN unsigned tiny(unsigned n)
{
	KEEP();
	return n + 1;
}

FN unsigned work(unsigned n)
{
	for (unsigned i = 0; i < CALLS; i++)
		n = tiny(n);
	KEEP();
	return n;
}

static QUIET int has_input(void)
{
	struct pollfd in = { .events = POLLIN };

	return poll(&in, 1, 0) != 0;
}

static QUIET void *run(void *arg)
{
	unsigned n = 0;
	unsigned rounds = 0;

	for (; !has_input(); rounds++)
		n = work(n);
	return (void *)(uintptr_t)(n == rounds * CALLS && rounds);
}

/* A filter that forbids nothing. */
QUIET static int cage(void)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog filter = { 1, code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

QUIET static int after(void)
{
	void *library = dlopen("libm.so.6", RTLD_NOW);
	double (*root)(double) = library ? (double (*)(double))dlsym(library, "cbrt") : NULL;
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(work(0) == CALLS ? 3 : 1);
	return root && (int)(root(27) + 0.5) == 3 && waitpid(child, &status, 0) == child &&
	       WIFEXITED(status) && WEXITSTATUS(status) == 3;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	unsigned nr = argc > 1 && strcmp(argv[1], "threads") == 0 ? 3 : 0;
	pid_t child = argc > 1 && strcmp(argv[1], "fork") == 0 ? fork() : -1;
	uintptr_t is_good = argc > 1 && strcmp(argv[1], "caged") == 0 ? cage() : 1;

	for (unsigned i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	is_good &= (uintptr_t)run(NULL);
	for (unsigned i = 0; i < nr; i++) {
		void *result;

		pthread_join(threads[i], &result);
		is_good &= (uintptr_t)result;
	}
	if (child == 0)
		_exit(is_good ? 3 : 1);
	if (child > 0) {
		int status;

		waitpid(child, &status, 0);
		is_good &= WIFEXITED(status) && WEXITSTATUS(status) == 3;
	}
	if (argc > 1 && strcmp(argv[1], "after") == 0)
		is_good &= (uintptr_t)after();
	puts(is_good ? "counted right" : "lost count");
	return 3;
}
