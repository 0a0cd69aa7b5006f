/* Shows progress and takes Ctrl-C while a recording is read (see read_progress.h). */
#include "cmds/read_progress.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/pager.h"
#include "cmds/terminal/statusline.h"
#include "utils/base/clock.h"
#include "utils/base/escape.h"
#include "utils/base/workers.h"

#define PERIOD_MS 200

static void only(int sig, sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, sig);
}

static bool is_ignored(int sig)
{
	struct sigaction action;

	return sigaction(sig, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* --- while a recording is opened --- */

/*
 * The recording that is being opened. The members before the empty line do not change while @thread
 * runs.
 *
 * @began_ns: the time when the command opened its first recording
 */
static struct {
	uint64_t began_ns;
	struct strbuf text;
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_running;
	bool is_done;
} opening = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Returns the time that remains until progress may be shown for the first time. */
static uint64_t quiet_ns(void)
{
	uint64_t took_ns = clock_now_ns(CLOCK_MONOTONIC) - opening.began_ns;
	uint64_t first_ns = STATUSLINE_FIRST_MS * 1000000ULL;

	return opening.began_ns && took_ns < first_ns ? first_ns - took_ns : 0;
}

static void *say_opening(void *unused)
{
	uint64_t wait_ns = MAX(quiet_ns(), 1ULL);

	pthread_mutex_lock(&opening.lock);
	while (!opening.is_done) {
		uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + wait_ns;
		struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };

		if (pthread_cond_timedwait(&opening.changed, &opening.lock, &until) != ETIMEDOUT)
			continue;
		statusline_show(strbuf_str(&opening.text));
		/* Messages erase the line, so the line is written again every PERIOD_MS. */
		wait_ns = PERIOD_MS * 1000000ULL;
	}
	pthread_mutex_unlock(&opening.lock);
	return NULL;
}

/*
 * True when progress may be shown. `live` shows no progress, because the recorded program may have
 * left an incomplete line on the terminal.
 */
static bool may_show(const struct opts *opts)
{
	const unsigned shown = CMD_REPLAY | CMD_REPORT | CMD_GRAPH | CMD_DUMP;

	return (opts->cmd->bit & shown) && !opts_is_of_live(opts) &&
	       opts->progress != OPTS_PROGRESS_OFF && !opts->logfile && !opts->follow &&
	       (pager_is_open() || !is_ignored(SIGINT)) && statusline_open();
}

void read_progress_opening(const struct opts *opts, const char *dir)
{
	pthread_condattr_t attr;

	read_progress_opened();
	if (!may_show(opts))
		return;
	if (!opening.began_ns)
		opening.began_ns = clock_now_ns(CLOCK_MONOTONIC);
	strbuf_addstr(&opening.text, "opening '");
	escape_addstr(&opening.text, MEDIUM_TERMINAL, dir);
	strbuf_addstr(&opening.text, "'");
	opening.is_done = false;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&opening.changed, &attr);
	pthread_condattr_destroy(&attr);
	opening.is_running = workers_start_thread(&opening.thread, NULL, say_opening, NULL) == 0;
}

void read_progress_opened(void)
{
	if (opening.is_running) {
		pthread_mutex_lock(&opening.lock);
		opening.is_done = true;
		pthread_cond_signal(&opening.changed);
		pthread_mutex_unlock(&opening.lock);
		pthread_join(opening.thread, NULL);
		pthread_cond_destroy(&opening.changed);
		opening.is_running = false;
	}
	strbuf_deinit(&opening.text);
	statusline_close();
}

/* --- while a recording is read --- */

void read_progress_add_left(struct strbuf *out, uint64_t done, uint64_t all, uint64_t took_ns)
{
	/*
	 * Write no estimate in two cases. Before 1 % of the bytes is read, the speed of reading is
	 * not reliable. After all bytes are read, the remaining time is spent on other work.
	 */
	if (done >= all || done < all / 100 || !done)
		return;

	double left_s = (double)took_ns / 1e9 * (double)(all - done) / (double)done;

	if (left_s < 100)
		strbuf_addf(out, ", about %.0f s left", left_s);
	else if (left_s < 100 * 60)
		strbuf_addf(out, ", about %.0f min left", left_s / 60);
	else
		strbuf_addf(out, ", about %.0f h left", left_s / 3600);
}

static void show_progress(const struct read_progress *progress)
{
	struct strbuf text cleanup_strbuf = { 0 };

	if (!progress->shows_progress)
		return;

	uint64_t all = pipeline_bytes(progress->pipe);
	uint64_t done = atomic_load_explicit(&progress->pipe->read_bytes, memory_order_relaxed);

	if (!all)
		return;
	/* If the recording has grown since the command opened it, @done may be larger than @all. */
	strbuf_addf(&text, "%3u %% of %llu MB read", (unsigned)(MIN(done, all) * 100 / all),
		    (unsigned long long)(all >> 20));
	read_progress_add_left(&text, done, all,
			       clock_now_ns(CLOCK_MONOTONIC) - progress->began_ns);
	/*
	 * A command that prints totals writes its first line after the whole recording is read.
	 * The message tells a user of `| head` why no output comes yet.
	 */
	if (progress->prints_at_end)
		strbuf_addstr(&text, "; the first line comes when all is read");
	statusline_show(strbuf_str(&text));
}

/* Runs in its own thread. Waits for an interrupt, and shows the progress from time to time. */
static void *wait_and_show(void *arg)
{
	struct read_progress *progress = arg;
	long wait_ms = MAX((long)(quiet_ns() / 1000000), 1L);
	sigset_t set;

	only(progress->signal, &set);
	while (!atomic_load(&progress->is_done)) {
		struct timespec timeout = { wait_ms / 1000, wait_ms % 1000 * 1000000 };
		int sig = sigtimedwait(&set, NULL, &timeout);

		wait_ms = PERIOD_MS;
		if (atomic_load(&progress->is_done))
			break;
		if (sig == SIGINT && atomic_load(&progress->is_interrupted)) {
			/* Printing may take long, so let a second interrupt end the program. */
			pthread_sigmask(SIG_UNBLOCK, &set, NULL);
			raise(SIGINT);
		} else if (sig == SIGINT) {
			atomic_store(&progress->is_interrupted, true);
			atomic_store(&progress->pipe->is_stopped, true);
		} else if (errno == EAGAIN) {
			show_progress(progress);
		}
	}
	return NULL;
}

/*
 * True when the line of progress may use the terminal, because no other output goes there while the
 * recording is read. With @prints_at_end, all output comes after the reading. Until then, even a
 * pager leaves the terminal free.
 */
static bool has_free_terminal(bool prints_at_end)
{
	return prints_at_end || !(pager_is_open() || isatty(STDOUT_FILENO));
}

void read_progress_begin(struct read_progress *progress, const struct opts *opts,
			 struct pipeline *pipe, bool prints_at_end)
{
	sigset_t set;

	read_progress_opened();
	*progress = (struct read_progress){
		.pipe = pipe,
		.began_ns = clock_now_ns(CLOCK_MONOTONIC),
		.signal = pager_is_open() ? SIGURG : SIGINT,
		.prints_at_end = prints_at_end,
		.shows_progress = has_free_terminal(prints_at_end) && may_show(opts),
	};
	if (is_ignored(SIGINT) && !progress->shows_progress)
		return;
	only(progress->signal, &set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	progress->is_running = pthread_create(&progress->thread, NULL, wait_and_show, progress) ==
			       0;
	if (!progress->is_running)
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Ends the thread. Returns true when the reading was interrupted. */
static bool end_waiting(struct read_progress *progress)
{
	sigset_t set;

	if (!progress->is_running)
		return false;
	atomic_store(&progress->is_done, true);
	pthread_kill(progress->thread, progress->signal);
	pthread_join(progress->thread, NULL);
	statusline_close();
	only(progress->signal, &set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	return atomic_load(&progress->is_interrupted);
}

int read_progress_end(struct read_progress *progress, const struct opts *opts, int status)
{
	if (!end_waiting(progress) || status != CMD_DONE)
		return status;
	msg_warn(&opts->msg, "interrupted: this is what was read so far");
	return STATUS_INTERRUPTED;
}

int read_progress_end_compared(struct read_progress *progress, const struct opts *opts, int status)
{
	if (!end_waiting(progress) || status != CMD_DONE)
		return status;
	msg_warn(&opts->msg, "interrupted: parts of recordings are not compared");
	return STATUS_INTERRUPTED;
}
