/* Four thousand threads exist at the same time and make calls. Prints the number of calls. */
#include <pthread.h>

#include "program.h"

#define THREADS 4096
#define CALLS	100

static pthread_barrier_t barrier;

LEAF(leaf)

FN void *worker(void *arg)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < CALLS; i++)
		leaf();
	pthread_barrier_wait(&barrier);
	return arg;
}

int main(void)
{
	static pthread_t threads[THREADS];
	pthread_attr_t attr;

	pthread_barrier_init(&barrier, NULL, THREADS);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], &attr, worker, NULL) != 0)
			return 9;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d calls\n", 1 + THREADS * (1 + CALLS));
	return 0;
}
