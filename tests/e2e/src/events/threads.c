/* Many threads, which block all signals, make events at the same time.
 *
 * ldflags: -pthread
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "part.h"

#define THREADS 8
#define ROUNDS	20000

static long sums[THREADS];

PART int step(int n)
{
	DTRACE_PROBE1(e, step, n);
	return n & 3;
}

static void *work(void *arg)
{
	long *sum = arg;

	DTRACE_PROBE(e, begin);
	for (int i = 0; i < ROUNDS; i++)
		*sum += step(i);
	DTRACE_PROBE(e, end);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	sigset_t all;
	long total = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &sums[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		total += sums[i];
	}
	printf("%ld\n", total);
	return 0;
}
