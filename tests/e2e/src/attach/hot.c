/*
 * Threads do little but call functions. A timer interrupts them, on signal stacks of their own.
 * Other threads fork, make children by vfork(2), jump out of calls, and sleep within functions.
 * There is one event, hot:checked. The program checks all results, and ends at SIGTERM with status
 * 0. Its argument is the number of threads that only call functions. With an argument, these never
 * rest.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FN   __attribute__((noipa))
#define KEEP __asm__ volatile("" ::: "memory")

#define THREADS_MAX 64

static volatile sig_atomic_t is_over;
static volatile long handled;
static bool is_busy;

static void fail(const char *what)
{
	fprintf(stderr, "%s: errno %d\n", what, errno);
	_exit(1);
}

FN int leaf(int x)
{
	return x + 1;
}

FN int tail(int x)
{
	return leaf(x * 2);
}

FN int tree(int depth)
{
	if (!depth)
		return 1;
	return tree(depth - 1) + tree(depth - 1);
}

/* The loop begins at the function's first instruction. */
FN unsigned length(const char *text)
{
	const char *at = text;

	while (*at)
		at++;
	return at - text;
}

FN int choose(int x)
{
	switch (x) {
	case 0:
		return leaf(x);
	case 1:
		return tail(x);
	case 2:
		return tree(x);
	case 3:
		return length("abc");
	case 4:
		return -x;
	case 5:
		return leaf(leaf(x));
	default:
		return 0;
	}
}

FN double mix(double a, float b, long double c)
{
	return a + b + (double)c + leaf(1);
}

FN void *same(void *p)
{
	return p;
}

static void check(unsigned round)
{
	static const int chosen[] = { 1, 3, 4, 3, -4, 7, 0 };
	int (*volatile indirect)(int) = leaf;

	if (choose(round % 7) != chosen[round % 7] || tree(4) != 16 ||
	    mix(1.5, 2.25f, 3.0L) != 8.75 || indirect(5) != 6 || length("0123456789") != 10 ||
	    same(&round) != &round)
		fail("a wrong result");
	DTRACE_PROBE1(hot, checked, round);
	same(NULL);
}

/* Sleeps now and then: other threads need the CPU, too. */
static void rest(unsigned round)
{
	if (!is_busy && round % 16 == 0)
		usleep(1000);
}

FN void *compute(void *arg)
{
	static char stacks[THREADS_MAX][65536];
	stack_t stack = { .ss_sp = stacks[(long)arg], .ss_size = sizeof(stacks[0]) };

	/* Every second thread has a signal stack. */
	if ((long)arg % 2)
		sigaltstack(&stack, NULL);
	for (unsigned i = 0; !is_over; i++) {
		check(i);
		rest(i);
	}
	return NULL;
}

FN void on_timer(int sig)
{
	int saved = errno;

	handled = leaf(handled);
	if (tree(2) != 4)
		fail("a wrong result in a handler");
	errno = saved;
}

FN void *fork_all_the_time(void *arg)
{
	while (!is_over) {
		int status;
		pid_t pid = fork();

		if (pid == 0)
			_exit(tree(3));
		if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 8)
			fail("a child of fork");
		pid = vfork();
		if (pid == 0) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			fail("a child of vfork");
		usleep(2000);
	}
	return NULL;
}

static __thread jmp_buf away;

FN void leap(int depth)
{
	if (!depth)
		longjmp(away, 7);
	leap(depth - 1);
	KEEP;
}

FN void *jump(void *arg)
{
	while (!is_over) {
		static unsigned round;
		int got = setjmp(away);

		if (!got)
			leap(5);
		rest(round++);
		if (got != 7)
			fail("setjmp");
		check(3);
	}
	return NULL;
}

FN int sleep_within(void)
{
	struct timespec nap = { 0, 20000000 };

	while (nanosleep(&nap, &nap) < 0 && errno == EINTR)
		;
	return 5;
}

FN void *nap(void *arg)
{
	while (!is_over) {
		if (sleep_within() != 5)
			fail("a sleep");
	}
	return NULL;
}

static void end(int sig)
{
	is_over = 1;
}

int main(int argc, char **argv)
{
	const struct itimerval often = { { 0, 2000 }, { 0, 2000 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_ONSTACK | SA_RESTART };
	void *(*others[])(void *) = { fork_all_the_time, jump, nap };
	int nr = argc > 1 ? atoi(argv[1]) : 3;
	pthread_t threads[THREADS_MAX + 3];

	if (nr > THREADS_MAX)
		return 2;
	is_busy = argc > 1;
	sigaction(SIGALRM, &action, NULL);
	signal(SIGTERM, end);
	for (long i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, compute, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[nr + i], NULL, others[i], NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	puts("ready");
	fflush(stdout);
	while (!is_over)
		sleep_within();
	for (int i = 0; i < nr + 3; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	puts("done");
	return 0;
}
