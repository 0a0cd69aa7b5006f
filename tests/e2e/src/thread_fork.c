/*
 * Four threads make calls and fork five children each, which make calls, too.
 * cflags: -pthread
 */
#include <pthread.h>
#include <sys/wait.h>

#include "program.h"

LEAF(leaf)

FN void child_work(void)
{
	for (int i = 0; i < 10; i++)
		leaf();
	KEEP();
}

FN void *worker(void *arg)
{
	for (int i = 0; i < 5; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			child_work();
			_exit(0);
		}
		leaf();
		waitpid(pid, NULL, 0);
	}
	KEEP();
	return arg;
}

int main(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	puts("done");
	return 0;
}
