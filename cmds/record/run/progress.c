/* Shows the progress of `record` (see progress.h). */
#include "cmds/record/run/progress.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cmds/terminal/statusline.h"

/*
 * /dev/tty. Its device number is the same on all machines (the kernel's admin-guide/devices.txt).
 */
#define DEV_TTY makedev(5, 0)

/*
 * True when the error @code means that the process has ended, or that its standard output is
 * closed. A process of another user causes other errors.
 */
static bool is_gone(int code)
{
	return code == -ENOENT || code == -ESRCH;
}

/*
 * True when process @pid may print on the terminal of the status line. /dev/tty can be any
 * terminal. The result is also true when the standard output of @pid is unknown, because @pid
 * belongs to another user.
 */
static bool prints_there(const struct run_progress *progress, pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, STDOUT_FILENO);
	if (stat(path, &st) < 0)
		return !is_gone(-errno);
	return S_ISCHR(st.st_mode) && (st.st_rdev == progress->device || st.st_rdev == DEV_TTY);
}

/*
 * True when the standard output of a recorded process may be the terminal. The status line would
 * mix with this output, or erase the output. Standard error is not checked, because an occasional
 * message there does no harm.
 */
static bool is_others(const struct run_progress *progress)
{
	const struct recorder *rec = progress->rec;

	if (progress->program && alive_program_runs(&rec->alive) &&
	    prints_there(progress, progress->program))
		return true;
	for (const struct process *p = rec->processes.live; p; p = p->next_live) {
		if (prints_there(progress, p->os_pid))
			return true;
	}
	return false;
}

static void add_time(struct strbuf *out, uint64_t s)
{
	unsigned hours = s / 3600;

	if (hours)
		strbuf_addf(out, "%u:%02u:%02u", hours, (unsigned)(s / 60 % 60),
			    (unsigned)(s % 60));
	else
		strbuf_addf(out, "%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
}

static double megabytes(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

/*
 * Adds the text of the status line. On a narrow terminal, the end of the text is cut off. So the
 * most useful numbers come first.
 */
static void add_text(const struct run_progress *progress, struct strbuf *out)
{
	struct writers_sum sum;

	writers_sum(&progress->rec->writers, &sum);
	add_time(out, (clock_now_ns(CLOCK_MONOTONIC) - progress->began_ns) / 1000000000);
	/*
	 * With --flight, the newest records of each task stay in memory, and replace older records.
	 * So the line shows the size of the records in memory.
	 */
	if (progress->rec->settings->flight_bytes)
		strbuf_addf(out, ", %.1f MB of %u task%s in memory", megabytes(sum.ring_bytes),
			    sum.nr_rings, sum.nr_rings == 1 ? "" : "s");
	else
		strbuf_addf(out, ", %llu calls, %.1f MB", (unsigned long long)sum.calls,
			    megabytes(sum.bytes));
	strbuf_addf(out, ", %llu lost", (unsigned long long)sum.lost);
}

static void serve_timer(struct served *served, uint32_t epoll_events)
{
	struct run_progress *progress = container_of(served, struct run_progress, timer);
	struct strbuf text cleanup_strbuf = { 0 };
	uint64_t nr;

	if (read(progress->timer_fd, &nr, sizeof(nr)) != sizeof(nr))
		return;
	if (!progress->is_asked_for && is_others(progress)) {
		statusline_hide();
		return;
	}
	add_text(progress, &text);
	statusline_show(strbuf_str(&text));
}

static int start_timer(struct run_progress *progress)
{
	progress->timer = (struct served){ serve_timer, progress };
	return loop_add_timer(&progress->rec->loop, 1000000000, &progress->timer);
}

/*
 * True when a line may be shown. With --keep-pid no line is shown: the shell uses the terminal as
 * soon as the program has ended, but the recorder ends later.
 */
static bool is_wanted(const struct opts *opts)
{
	return opts->progress != OPTS_PROGRESS_OFF && !opts->logfile && !opts->keep_pid &&
	       isatty(STDERR_FILENO);
}

void run_progress_prepare(const struct run *run, struct recorder *rec)
{
	atomic_store(&rec->writers.counts_calls, is_wanted(run->opts));
}

void run_progress_begin(struct run_progress *progress, const struct run *run, struct recorder *rec,
			pid_t program)
{
	*progress = (struct run_progress){
		.rec = rec,
		.program = program,
		.began_ns = clock_now_ns(CLOCK_MONOTONIC),
		.is_asked_for = run->opts->progress == OPTS_PROGRESS_ON,
		.timer_fd = -1,
	};
	if (!is_wanted(run->opts) || !statusline_open())
		return;
	if (statusline_terminal(&progress->device) || progress->is_asked_for)
		progress->timer_fd = start_timer(progress);
	if (progress->timer_fd < 0)
		statusline_close();
}

void run_progress_end(struct run_progress *progress)
{
	if (progress->timer_fd < 0)
		return;
	loop_close_fd(&progress->rec->loop, &progress->timer_fd, &progress->timer);
	statusline_close();
}
