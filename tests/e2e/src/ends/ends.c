/*
 * Runs for a while, and then ends by itself. Its N-th signal ends it earlier. Without handlers, the
 * first signal does. If the program ends itself, it writes its status to a file.
 *
 * ends FILE MILLISECONDS STATUS N THREADS: STATUS is its status when it ends by itself. The N-th
 * SIGINT, SIGTERM, SIGHUP or SIGQUIT ends it with status 7; with N = 0 it has no handlers. FILE
 * stays empty when a signal without a handler ended it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "../program.h"

static int file = -1;
static unsigned wanted, seen;
static volatile sig_atomic_t is_over;

static QUIET void end_with(int status)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d\n", status);

	if (write(file, text, len) != len)
		_exit(99);
	_exit(status);
}

static QUIET void on_signal(int sig)
{
	if (++seen == wanted)
		end_with(7);
}

LEAF(leaf)

FN void work(void)
{
	leaf();
	usleep(500);
	KEEP();
}

static QUIET void *run(void *arg)
{
	while (!is_over)
		work();
	return NULL;
}

static QUIET long passed_ms(const struct timespec *from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - from->tv_sec) * 1000 + (now.tv_nsec - from->tv_nsec) / 1000000;
}

int main(int argc, char **argv)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct timespec begin;
	sigset_t all, before;
	pthread_t thread;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	wanted = atoi(argv[4]);
	sigfillset(&all);
	action.sa_mask = all;
	for (unsigned i = 0; wanted && i < 4; i++)
		sigaction(signals[i], &action, NULL);
	/* Threads inherit the blocked signals, so the main thread handles all signals. */
	sigprocmask(SIG_BLOCK, &all, &before);
	for (int i = atoi(argv[5]); i > 0; i--)
		pthread_create(&thread, NULL, run, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	while (passed_ms(&begin) < atoi(argv[2]))
		work();
	sigprocmask(SIG_BLOCK, &all, NULL);
	is_over = 1;
	end_with(atoi(argv[3]));
}
