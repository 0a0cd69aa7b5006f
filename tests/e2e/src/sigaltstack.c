/*
 * A handler on an alternate stack, above and below the ordinary one. It returns, or leaves by
 * siglongjmp.
 * tree: main{work{handler{inner{}}after{}}jump{handler{inner{}}after{}}work{handler{inner{}}after{}}}
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "program.h"

static sigjmp_buf env;
static volatile int leave;

LEAF(inner)
LEAF(after)

FN void handler(int sig)
{
	inner();
	if (leave)
		siglongjmp(env, 1);
	KEEP();
}

FN void work(void)
{
	raise(SIGUSR1);
	after();
	KEEP();
}

FN void jump(void)
{
	leave = 1;
	if (sigsetjmp(env, 1) == 0)
		raise(SIGUSR1);
	leave = 0;
	after();
	KEEP();
}

int main(void)
{
	stack_t alternate = { .ss_size = 65536 };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	alternate.ss_sp = mmap(NULL, alternate.ss_size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (alternate.ss_sp == MAP_FAILED)
		return 9;
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	work();
	jump();
	work();
	return 0;
}
