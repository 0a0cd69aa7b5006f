/*
 * A program with its own versions of libc functions, which other objects find before libc's. It
 * counts their calls.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile int calls;

void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
	char *t = to;
	const char *f = from;

	calls++;
	while (len--)
		*t++ = *f++;
	return to;
}

size_t strlen(const char *s)
{
	size_t len = 0;

	calls++;
	while (s[len])
		len++;
	return len;
}

int strcmp(const char *a, const char *b)
{
	calls++;
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

int sched_yield(void)
{
	calls++;
	return 0;
}

/* These do nothing at all: a caller that relies on them fails. */
long syscall(long number, ...)
{
	calls++;
	return -1;
}

int mprotect(void *address, size_t len, int access)
{
	calls++;
	return -1;
}

int munmap(void *address, size_t len)
{
	calls++;
	return -1;
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	calls++;
	ts->tv_sec = ts->tv_nsec = 0;
	return 0;
}

pthread_t pthread_self(void)
{
	calls++;
	return 0;
}

__attribute__((noipa)) int work(const char *text)
{
	return text[0];
}

static void *run(void *arg)
{
	work("thread");
	return arg;
}

int main(void)
{
	pthread_t thread;
	char room[8];

	calls = 0;
	for (int i = 0; i < 3; i++)
		work("main");
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	memcpy(room, "text", 5);
	if (fork() == 0)
		_exit(work("child") != 'c');
	printf("%d calls of %s\n", calls, room);
	return 0;
}
