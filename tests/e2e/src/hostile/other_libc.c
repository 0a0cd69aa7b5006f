/*
 * Uses each function of libc that the probe interposes, with another C library. Argument: a program
 * to start.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf env;
static volatile int handled;

static void handler(int sig)
{
	handled++;
}

static void *thread(void *arg)
{
	return arg;
}

int main(int argc, char **argv)
{
	char *args[] = { "true", NULL };
	pthread_t t;
	pid_t pid;
	int status;

	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	if (!setjmp(env))
		longjmp(env, 1);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, &status, 0);
	posix_spawnp(&pid, "true", NULL, NULL, args, NULL);
	waitpid(pid, &status, 0);
	printf("handled %d\n", handled);
	return 7;
}
