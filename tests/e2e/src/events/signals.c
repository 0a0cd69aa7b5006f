/* A program blocks all signals and handles SIGTRAP itself, and is not affected by the recorder.
 *
 * shows: main{e:blocked work{e:work} trap{e:trap} e:done}
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "part.h"

static volatile sig_atomic_t traps;

PART void trap(int sig)
{
	DTRACE_PROBE1(e, trap, sig);
	traps++;
}

PART int work(int n)
{
	DTRACE_PROBE1(e, work, n);
	return n + 1;
}

int main(void)
{
	struct sigaction action = { .sa_handler = trap };
	sigset_t all, now;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	DTRACE_PROBE(e, blocked);
	printf("%d\n", work(1));
	sigprocmask(SIG_SETMASK, NULL, &now);
	printf("%d\n", sigismember(&now, SIGTRAP));
	sigaction(SIGTRAP, &action, NULL);
	sigemptyset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	raise(SIGTRAP);
	printf("%d traps\n", traps);
	DTRACE_PROBE(e, done);
	return traps;
}
