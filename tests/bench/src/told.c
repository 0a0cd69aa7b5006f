/*
 * Makes calls with arguments and results. The calls form binary trees of five levels, as calls of a
 * real program might. Any number of threads make them at once.
 */
#include <pthread.h>
#include <stdlib.h>

#ifdef __clang__
#define FN __attribute__((noinline))
#else
#define FN __attribute__((noipa))
#endif

static long rounds;

FN long leaf(long n)
{
	return n + 1;
}

#define LEVEL(name, below)                                   \
	FN long name(long n)                                 \
	{                                                    \
		return below(2 * n) + below(2 * n + 1) % 97; \
	}
LEVEL(level3, leaf)
LEVEL(level2, level3)
LEVEL(level1, level2)
LEVEL(level0, level1)

static void *work(void *arg)
{
	for (long i = 0; i < rounds; i++)
		level0(i);
	return arg;
}

/* told THREADS CALLS: makes CALLS calls in all threads together, 31 at a time. */
int main(int argc, char *argv[])
{
	int threads = atoi(argv[1]);
	pthread_t *t = calloc(threads, sizeof(*t));

	rounds = atol(argv[2]) / threads / 31;
	for (int i = 1; i < threads; i++)
		pthread_create(&t[i], NULL, work, NULL);
	work(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(t[i], NULL);
	return 0;
}
