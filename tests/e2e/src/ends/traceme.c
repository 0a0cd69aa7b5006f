/*
 * Asks its parent to trace it in the way that @argv[1] names, then handles a signal and ends with
 * status 6. "handled": no more; "thread": a thread asks; "stop": it waits for its tracer by
 * SIGSTOP; "exec": it asks, then executes another program; "trap": the signal is a SIGTRAP of its
 * own; "killed": SIGTERM ends it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

static volatile int nr;

static void handle(int sig)
{
	nr++;
}

static void ask(void)
{
	/* A process that has a tracer already is refused. */
	printf("%s\n", ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? "asked" : "refused");
	fflush(stdout);
}

static void *thread(void *arg)
{
	ask();
	raise(SIGUSR1);
	return NULL;
}

int main(int argc, char *argv[])
{
	pthread_t other;

	signal(SIGUSR1, handle);
	signal(SIGTRAP, handle);
	if (strcmp(argv[1], "thread") == 0) {
		pthread_create(&other, NULL, thread, NULL);
		pthread_join(other, NULL);
		return nr == 1 ? 6 : 1;
	}
	if (strcmp(argv[1], "after") == 0) {
		raise(SIGUSR1);
		return nr == 1 ? 6 : 1;
	}
	ask();
	if (strcmp(argv[1], "exec") == 0) {
		execl(argv[0], argv[0], "after", NULL);
		return 1;
	}
	if (strcmp(argv[1], "killed") == 0)
		raise(SIGTERM);
	if (strcmp(argv[1], "stop") == 0)
		raise(SIGSTOP);
	if (strcmp(argv[1], "trap") == 0)
		kill(getpid(), SIGTRAP);
	else
		raise(SIGUSR1);
	raise(SIGUSR1);
	return nr == 2 ? 6 : 1 + nr;
}
