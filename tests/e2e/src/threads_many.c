/*
 * A thousand short threads, at most twenty at a time.
 * cflags: -pthread
 * tree: main{finish{}}
 * task: worker{leaf{}leaf{}} x1000
 */
#include <pthread.h>

#include "program.h"

LEAF(leaf)
LEAF(finish)

FN void *worker(void *arg)
{
	leaf();
	leaf();
	KEEP();
	return arg;
}

int main(void)
{
	pthread_t t[20];

	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 20; i++) {
			if (pthread_create(&t[i], NULL, worker, NULL) != 0)
				return 9;
		}
		for (int i = 0; i < 20; i++)
			pthread_join(t[i], NULL);
	}
	finish();
	return 0;
}
