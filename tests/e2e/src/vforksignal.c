/*
 * A vfork child shares the memory of its parent, but its changes of signal handlers do not reach
 * the parent.
 * status: 7
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

#include "program.h"

static sigjmp_buf back;
static volatile int caught;

LEAF(leaf)

static void on_fault(int sig)
{
	caught++;
	siglongjmp(back, 1);
}

int main(void)
{
	struct sigaction act = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
	struct sigaction old;

	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGABRT, &act, NULL);
	leaf();

	pid_t pid = vfork();

	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGABRT, SIG_IGN);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	if (sigaction(SIGSEGV, NULL, &old) != 0 || old.sa_handler != on_fault)
		return 1;
	if (sigsetjmp(back, 1) == 0)
		*(volatile int *)8 = 0;
	if (sigsetjmp(back, 1) == 0)
		raise(SIGABRT);
	leaf();
	printf("caught %d\n", caught);
	return caught == 2 ? 7 : 2;
}
