/*
 * Prints its pid. Eight threads make calls until its input ends, each within a call that stays
 * open.
 * cflags: -pthread
 */
#include <pthread.h>
#include <sched.h>

#include "../program.h"

static volatile int ended;
static pthread_barrier_t all_have_begun;

LEAF(leaf)
LEAF(other)

FN void inner(void)
{
	leaf();
	other();
	KEEP();
}

FN void outer(void)
{
	inner();
	leaf();
	inner();
	KEEP();
}

FN void recurse(int n)
{
	leaf();
	if (n)
		recurse(n - 1);
	KEEP();
}

FN void *worker(void *arg)
{
	pthread_barrier_wait(&all_have_begun);
	while (!ended) {
		outer();
		recurse(5);
		/* A pause keeps the recording small. */
		usleep(1000);
	}
	KEEP();
	return arg;
}

int main(void)
{
	pthread_t t[8];
	char byte;

	setvbuf(stdout, NULL, _IONBF, 0);
	pthread_barrier_init(&all_have_begun, NULL, 9);
	for (int i = 0; i < 8; i++) {
		if (pthread_create(&t[i], NULL, worker, NULL) != 0)
			return 9;
	}
	/* A test that reads the pid looks at all threads, and relies on the open call in each. */
	pthread_barrier_wait(&all_have_begun);
	printf("%d\n", getpid());
	while (read(0, &byte, 1) > 0)
		;
	ended = 1;
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	puts("ended by itself");
	return 0;
}
