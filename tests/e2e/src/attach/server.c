/*
 * Runs until it is ended, and checks itself meanwhile. Threads compute and sleep, one waits in
 * epoll_wait(2), one is interrupted by signals all the time; threads and processes come and go and
 * jump out of calls. The status is 1 when a check has failed. SIGTERM ends it with status 0: its
 * main thread then returns through all open calls.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FN    __attribute__((noinline))
#define KEEP  __asm__ volatile("" ::: "memory")
#define QUIET __attribute__((no_instrument_function))

static volatile sig_atomic_t is_over;
static volatile long handled;
static volatile int from_handlers;
static int event_fd;
static int epoll_fd;

FN int leaf(int x)
{
	KEEP;
	return x + 1;
}

FN int sum(int n)
{
	int total = 0;

	for (int i = 0; i < n; i++)
		total += leaf(i);
	return total;
}

FN double halves(double x)
{
	double y = x / 2;

	KEEP;
	return y + leaf(1);
}

QUIET static void fail(const char *what)
{
	fprintf(stderr, "%s: errno %d\n", what, errno);
	_exit(1);
}

FN void check(void)
{
	char text[32];

	if (sum(4) != 10 || halves(3) != 3.5)
		fail("a wrong result");
	snprintf(text, sizeof(text), "%d", sum(4));
	if (strcmp(text, "10") != 0)
		fail("a wrong text");
}

FN void *compute(void *arg)
{
	const struct timespec nap = { 0, 300000 };

	while (!is_over) {
		check();
		errno = 77;
		leaf(1);
		if (errno != 77)
			fail("errno has changed");
		if (nanosleep(&nap, NULL) < 0)
			fail("nanosleep");
	}
	return NULL;
}

FN void *wait_for_events(void *arg)
{
	struct epoll_event event;

	while (!is_over) {
		uint64_t value;

		/*
		 * No process sends signals to this thread. Being stopped may interrupt the call
		 * (signal(7)); nothing else may.
		 */
		if (epoll_wait(epoll_fd, &event, 1, 2000) < 0 && errno != EINTR)
			fail("epoll_wait");
		if (read(event_fd, &value, sizeof(value)) < 0 && errno != EAGAIN)
			fail("read");
		leaf(2);
	}
	return NULL;
}

FN void handler(int sig)
{
	int saved = errno;

	handled++;
	from_handlers = leaf(handled & 7);
	errno = saved;
}

FN void *be_interrupted(void *arg)
{
	pthread_t *self = arg;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	*self = pthread_self();
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	while (!is_over) {
		const struct timespec nap = { 0, 500000 };

		for (int i = 0; i < 20; i++)
			check();
		nanosleep(&nap, NULL); /* signals may interrupt it */
	}
	return NULL;
}

static jmp_buf away;

FN void jump(int depth)
{
	if (depth > 0) {
		jump(depth - 1);
		KEEP;
		return;
	}
	longjmp(away, 1);
}

FN void *begin(void *arg)
{
	halves(2);
	return arg;
}

FN void *come_and_go(void *arg)
{
	while (!is_over) {
		const struct timespec nap = { 0, 2000000 };
		pthread_t thread;
		int status;

		if (pthread_create(&thread, NULL, begin, NULL) != 0)
			fail("pthread_create");
		pthread_join(thread, NULL);
		if (!setjmp(away))
			jump(3);

		pid_t pid = fork();

		if (pid == 0)
			_exit(sum(3));
		if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 6)
			fail("a child");
		nanosleep(&nap, NULL);
	}
	return NULL;
}

static void end(int sig)
{
	is_over = 1;
}

FN int wait_deep(int depth, pthread_t interrupted)
{
	uint64_t one = 1;

	if (depth)
		return wait_deep(depth - 1, interrupted) + leaf(0);
	while (!is_over) {
		const struct timespec nap = { 0, 1000000 };

		nanosleep(&nap, NULL);
		check();
		pthread_kill(interrupted, SIGUSR1);
		if (write(event_fd, &one, sizeof(one)) < 0)
			fail("write");
	}
	return 0;
}

int main(void)
{
	struct epoll_event waited_for = { .events = EPOLLIN };
	pthread_t threads[6], interrupted = 0;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGPROF); /* The timer of gprof (-pg) interrupts system calls with SIGPROF,
				   * attached to or not */
	sigaddset(&set, SIGTERM); /* only the main thread handles it */
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGUSR1, handler);
	event_fd = eventfd(0, EFD_NONBLOCK);
	epoll_fd = epoll_create1(0);
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, event_fd, &waited_for) < 0)
		fail("epoll_ctl");
	pthread_create(&threads[0], NULL, be_interrupted, &interrupted);
	pthread_create(&threads[1], NULL, wait_for_events, NULL);
	pthread_create(&threads[2], NULL, come_and_go, NULL);
	for (int i = 3; i < 6; i++)
		pthread_create(&threads[i], NULL, compute, NULL);
	while (!*(volatile pthread_t *)&interrupted)
		usleep(1000);
	signal(SIGTERM, end);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	puts("ready");
	fflush(stdout);
	if (wait_deep(20, interrupted) != 20)
		fail("a wrong depth");
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	puts("done");
	return 0;
}
