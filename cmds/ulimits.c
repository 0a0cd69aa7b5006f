/* Runs code with a larger stack, and describes resource limits for messages (see ulimits.h). */
#include "cmds/ulimits.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define STACK_BYTES (8UL << 20)

struct call {
	int (*fn)(int argc, char **argv);
	int argc;
	char **argv;
	sigset_t mask;
	pid_t pid; /* the process that has made the thread */
	int result;
};

static bool is_small(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < STACK_BYTES;
}

static void *run_there(void *arg)
{
	struct call *call = arg;

	pthread_sigmask(SIG_SETMASK, &call->mask, NULL);
	call->result = call->fn(call->argc, call->argv);
	/*
	 * A child that call->fn has forked has only this thread, so the child must exit here. If
	 * the thread returned, the child would end with the status 0 instead of the result.
	 */
	if (getpid() != call->pid)
		exit(call->result);
	return NULL;
}

/*
 * Runs the call in a new thread. Signals go to the new thread, as if the process had no other
 * thread.
 */
static bool run_in_thread(struct call *call, const pthread_attr_t *attr)
{
	pthread_t thread;
	sigset_t all;
	bool done;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &call->mask);
	done = pthread_create(&thread, attr, run_there, call) == 0 &&
	       pthread_join(thread, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &call->mask, NULL);
	return done;
}

int run_with_stack(int (*fn)(int argc, char **argv), int argc, char **argv)
{
	struct call call = { .fn = fn, .argc = argc, .argv = argv, .pid = getpid() };
	pthread_attr_t attr;

	if (!is_small() || pthread_attr_init(&attr) != 0)
		return fn(argc, argv);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_setattr_default_np(&attr);
	if (!run_in_thread(&call, &attr))
		call.result = fn(argc, argv);
	pthread_attr_destroy(&attr);
	return call.result;
}

/* The least number of descriptors that a process needs to connect to the recorder. */
#define FILES_LEAST 24

bool limit_has_few_files(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < FILES_LEAST;
}

const char *limit_behind(int code)
{
	static char text[80];
	struct rlimit limit;

	text[0] = '\0';
	if (code == -EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY)
		snprintf(text, sizeof(text), "; ulimit -n is %llu",
			 (unsigned long long)limit.rlim_cur);
	if (code == -ENOMEM && getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		snprintf(text, sizeof(text), "; ulimit -v is %llu",
			 (unsigned long long)limit.rlim_cur >> 10);
	return text;
}
