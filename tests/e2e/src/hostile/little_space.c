/*
 * Sets a limit on its address space and uses most of it.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "../program.h"

#define MB (1UL << 20)

LEAF(leaf)

FN void *thread(void *arg)
{
	leaf();
	return arg;
}

int main(int argc, char **argv)
{
	struct rlimit limit = { 160 * MB, 160 * MB };
	pthread_attr_t attr;
	pthread_t threads[6];
	void *big;
	int r = 0;

	if (argc < 2)
		r = setrlimit(RLIMIT_AS, &limit);
	leaf();
	big = malloc(128 * MB);
	leaf();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = 0; i < 6; i++)
		r |= pthread_create(&threads[i], &attr, thread, NULL);
	for (int i = 0; i < 6 && r == 0; i++)
		pthread_join(threads[i], NULL);
	printf("%d %d\n", r, big != NULL);
	return 0;
}
