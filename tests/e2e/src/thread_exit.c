/*
 * Threads that end by pthread_exit, and one that is cancelled while it sleeps, with cleanup
 * handlers.
 * cflags: -pthread
 * tree: main{}
 * task: worker{leaver{cleanup{}
 * task: sleeper{waits{cleanup{}
 */
#include <pthread.h>

#include "program.h"

FN void cleanup(void *arg)
{
	KEEP();
}

FN void leaver(void)
{
	pthread_cleanup_push(cleanup, NULL);
	pthread_exit(NULL);
	pthread_cleanup_pop(0);
	KEEP();
}

FN void *worker(void *arg)
{
	leaver();
	KEEP();
	return arg;
}

FN void waits(void)
{
	pthread_cleanup_push(cleanup, NULL);
	sleep(60);
	pthread_cleanup_pop(0);
	KEEP();
}

FN void *sleeper(void *arg)
{
	waits();
	KEEP();
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_create(&b, NULL, sleeper, NULL);
	usleep(20000);
	pthread_cancel(b);
	pthread_join(b, NULL);
	puts("joined");
	return 0;
}
