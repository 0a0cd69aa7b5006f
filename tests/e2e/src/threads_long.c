/*
 * Three hundred threads one after the other, or the number in its argument. Each makes some
 * kilobytes of records.
 * cflags: -pthread
 * tree: main{}
 * task: worker{leaf*200{}} x300
 */
#include <pthread.h>

#include "program.h"

LEAF(leaf)

FN void *worker(void *arg)
{
	for (int i = 0; i < 200; i++)
		leaf();
	KEEP();
	return arg;
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 300;
	pthread_t t;

	for (int i = 0; i < nr; i++) {
		if (pthread_create(&t, NULL, worker, NULL) != 0)
			return 9;
		pthread_join(t, NULL);
	}
	puts("done");
	return 0;
}
