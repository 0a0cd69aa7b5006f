/* Progress and Ctrl-C while a recording is read (see watch.h). */
#include "cmds/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cmds/cmd.h"

#define FIRST_MS  1000
#define PERIOD_MS 200

static void interrupt_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
}

static void show(struct watch *watch, bool *has_line)
{
	/* Nor is there anything to count in a recording that grows. */
	if (!watch->shows_progress)
		return;

	uint64_t all = pipeline_bytes(watch->pipe);
	uint64_t done = atomic_load_explicit(&watch->pipe->read_bytes, memory_order_relaxed);

	if (!all)
		return;
	/* More than was there at the start: it grows while it is read. */
	fprintf(stderr, "\r%3u %% of %llu MB read", (unsigned)(MIN(done, all) * 100 / all),
		(unsigned long long)(all >> 20));
	fflush(stderr);
	*has_line = true;
}

/* A thread that waits for the signal, and for the time to say something. */
static void *wait_and_show(void *arg)
{
	struct watch *watch = arg;
	long wait_ms = FIRST_MS;
	bool has_line = false;
	sigset_t set;

	interrupt_set(&set);
	while (!atomic_load(&watch->is_done)) {
		struct timespec timeout = { wait_ms / 1000, wait_ms % 1000 * 1000000 };
		int sig = sigtimedwait(&set, NULL, &timeout);

		wait_ms = PERIOD_MS;
		if (atomic_load(&watch->is_done))
			break;
		if (sig == SIGINT && atomic_load(&watch->is_interrupted)) {
			/* What is shown may be long, too: the second one is final. */
			pthread_sigmask(SIG_UNBLOCK, &set, NULL);
			raise(SIGINT);
		} else if (sig == SIGINT) {
			atomic_store(&watch->is_interrupted, true);
			atomic_store(&watch->pipe->is_stopped, true);
		} else if (errno == EAGAIN) {
			show(watch, &has_line);
		}
	}
	if (has_line)
		fputs("\r\033[K", stderr);
	return NULL;
}

void watch_begin(struct watch *watch, const struct opts *opts, struct pipeline *pipe,
		 bool prints_at_end)
{
	struct sigaction action;
	sigset_t set;

	*watch = (struct watch){
		.pipe = pipe,
		.shows_progress = isatty(STDERR_FILENO) && !opts->logfile && !opts->follow &&
				  (prints_at_end || !isatty(STDOUT_FILENO)),
	};
	/* With a pager the signal is for that one. */
	if (sigaction(SIGINT, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
		return;
	interrupt_set(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	watch->is_running = pthread_create(&watch->thread, NULL, wait_and_show, watch) == 0;
	if (!watch->is_running)
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

int watch_end(struct watch *watch, const struct opts *opts, int status)
{
	sigset_t set;

	if (!watch->is_running)
		return status;
	atomic_store(&watch->is_done, true);
	pthread_kill(watch->thread, SIGINT);
	pthread_join(watch->thread, NULL);
	interrupt_set(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	if (!atomic_load(&watch->is_interrupted) || status != CMD_DONE)
		return status;
	msg_warn(&opts->msg, "interrupted: this is what was read so far");
	return STATUS_INTERRUPTED;
}
