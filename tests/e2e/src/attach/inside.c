/*
 * Waits inside of calls for a recorder to attach: in main() > work() > step() > wait_here(), in a
 * recursion, in a thread, and in a function that the C library calls. A byte on stdin lets all of
 * them go on. Then the program prints "done" and ends with the next byte. No call is the last
 * action of a function, so that no call becomes a jump.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FN    __attribute__((noinline))
#define KEEP  __asm__ volatile("" ::: "memory")
#define QUIET __attribute__((no_instrument_function))

static int pipes[2][2];

QUIET static int await_byte(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1;
}

/*
 * The call takes longer than a step of the counter, which is 10 ns on some CPUs: -t leaves out
 * calls that take no time.
 */
FN int leaf(int x)
{
	for (volatile int i = 0; i < 100; i++)
		;
	KEEP;
	return x + 1;
}

FN int wait_here(int fd)
{
	int got = await_byte(fd);

	got = leaf(got);
	KEEP;
	return got;
}

FN int step(int fd)
{
	volatile char room[100];

	room[fd] = wait_here(fd);
	fd = leaf(room[fd]);
	KEEP;
	return fd;
}

FN int next(int x)
{
	return leaf(x) + 1;
}

FN int work(int fd)
{
	int x = step(fd);

	return next(x) + leaf(x);
}

FN int other(int x)
{
	return leaf(x) + 2;
}

FN int down(int n, int fd)
{
	int x = n ? down(n - 1, fd) : wait_here(fd);

	return leaf(x) + n;
}

FN int compare(const void *a, const void *b)
{
	static int is_late;

	if (!is_late++)
		wait_here(pipes[1][0]);
	return leaf(*(const int *)a) - *(const int *)b;
}

FN int sorts(void)
{
	int list[] = { 1, 2 };

	qsort(list, 2, sizeof(list[0]), compare);
	return other(list[0]);
}

FN void *thread(void *arg)
{
	down(2, pipes[0][0]);
	other(1);
	return NULL;
}

FN void *sorter(void *arg)
{
	sorts();
	other(2);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int x = pipe(pipes[0]) + pipe(pipes[1]);

	if (pthread_create(&threads[0], NULL, thread, NULL) ||
	    pthread_create(&threads[1], NULL, sorter, NULL))
		return 1;
	puts("ready");
	fflush(stdout);
	x += work(0);
	x += other(x);
	for (int i = 0; i < 2; i++) {
		x += write(pipes[i][1], "x", 1);
		pthread_join(threads[i], NULL);
	}
	puts("done");
	fflush(stdout);
	return x > 0 && await_byte(0) ? 0 : 1;
}
