/* Eight threads make the first calls of fifty functions at the same time. */
#include <pthread.h>

#include "../program.h"
#include "names.h"

#define THREADS 8

static pthread_barrier_t barrier;

#define MEET_AND_CALL(name)             \
	pthread_barrier_wait(&barrier); \
	sum += name(1);

static QUIET void *racer(void *arg)
{
	long sum = 0;

	FUNCTIONS(MEET_AND_CALL)
	return (void *)sum;
}

static FN long race(void)
{
	pthread_t threads[THREADS];
	long sum = 0;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, racer, NULL) != 0)
			exit(9);
	}
	for (int i = 0; i < THREADS; i++) {
		void *result;

		pthread_join(threads[i], &result);
		sum += (long)result;
	}
	KEEP();
	return sum;
}

int main(void)
{
	return race() == THREADS * 50 ? 0 : 1;
}
