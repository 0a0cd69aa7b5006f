/*
 * Eight threads make calls at the same time.
 * cflags: -pthread
 * tree: main{start{}start{}start{}start{}start{}start{}start{}start{}finish{}}
 * task: worker{work{leaf*100{}}} x8
 */
#include <pthread.h>

#include "program.h"

LEAF(leaf)

FN void work(void)
{
	for (int i = 0; i < 100; i++)
		leaf();
	KEEP();
}

FN void *worker(void *arg)
{
	work();
	KEEP();
	return arg;
}

FN void start(pthread_t *t)
{
	if (pthread_create(t, NULL, worker, NULL) != 0)
		exit(9);
	KEEP();
}

LEAF(finish)

int main(void)
{
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		start(&t[i]);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	finish();
	return 0;
}
