/*
 * A process with a thread, a forked child and one of vfork(2), which all have numbers of their own.
 * It calls leaf() as often as its argument says, and once in each of these.
 * ldflags: -lpthread
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "program.h"

LEAF(leaf)

static void *thread(void *arg)
{
	leaf();
	/* The recorder needs this time to look the thread up. */
	usleep(300000);
	return NULL;
}

FN void make_children(void)
{
	pthread_t other;

	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
	if (fork() == 0) {
		leaf();
		_exit(0);
	}
	wait(NULL);
	if (vfork() == 0) {
		leaf();
		_exit(0);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]); i++)
		leaf();
	make_children();
	return 0;
}
