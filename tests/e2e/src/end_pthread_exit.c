/*
 * main ends with pthread_exit; the process goes on until its last thread is done.
 * cflags: -pthread
 * tree: main{leave{
 * task: worker{late{}}
 */
#include <pthread.h>

#include "program.h"

LEAF(late)

FN void *worker(void *arg)
{
	usleep(30000);
	late();
	KEEP();
	return arg;
}

FN void leave(void)
{
	pthread_exit(NULL);
	KEEP();
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, worker, NULL);
	leave();
	return 3;
}
