/*
 * Unwinds the stack in many ways: rethrown exceptions, pthread_cancel() and pthread_exit() with
 * destructors, a backtrace in a handler on its own stack, and at last an uncaught exception.
 */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <execinfo.h>
#include <pthread.h>
#include <unistd.h>

static int destroyed;

struct Guard {
	~Guard()
	{
		destroyed++;
	}
};

__attribute__((noinline)) static void sleeper()
{
	Guard guard;

	for (;;)
		usleep(1000);
}

static void cleanup(void *)
{
	destroyed += 100;
}

static void *cancelled(void *)
{
	Guard guard;

	pthread_cleanup_push(cleanup, nullptr);
	sleeper();
	pthread_cleanup_pop(1);
	return nullptr;
}

static void *exits(void *)
{
	Guard guard;

	pthread_cleanup_push(cleanup, nullptr);
	pthread_exit(reinterpret_cast<void *>(7));
	pthread_cleanup_pop(1);
	return nullptr;
}

__attribute__((noinline)) static void on_signal(int)
{
	void *frames[64];

	if (backtrace(frames, 64) < 3)
		abort();
}

static void thrower()
{
	throw 42;
}

static void (*volatile throws)() = thrower;

__attribute__((noinline)) static int rethrow(int depth)
{
	Guard guard;

	try {
		if (depth == 0)
			throws();
		return rethrow(depth - 1);
	} catch (...) {
		throw;
	}
}

int main()
{
	pthread_t thread;
	void *result;

	pthread_create(&thread, nullptr, cancelled, nullptr);
	usleep(10000);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	printf("%d %d\n", result == PTHREAD_CANCELED, destroyed);
	pthread_create(&thread, nullptr, exits, nullptr);
	pthread_join(thread, &result);
	printf("%ld %d\n", reinterpret_cast<long>(result), destroyed);

	stack_t stack = {};
	struct sigaction action = {};

	stack.ss_size = 65536;
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, nullptr);
	action.sa_handler = on_signal;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, nullptr);
	for (int i = 0; i < 20; i++)
		raise(SIGUSR1);
	for (int i = 0; i < 10; i++) {
		try {
			rethrow(i);
		} catch (int value) {
			printf("%d ", value + i);
		}
	}
	printf("%d\n", destroyed);
	fflush(stdout);
	throws();
}
