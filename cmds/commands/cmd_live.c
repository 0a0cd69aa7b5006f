/*
 * `utrail live`: record a program into a temporary directory, show its calls, and remove the
 * directory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/terminal/ask.h"
#include "cmds/cmd.h"
#include "cmds/control_words.h"
#include "cmds/pager.h"
#include "cmds/record/run/launch.h"
#include "cmds/tui/tui.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/containers/nearest.h"
#include "utils/base/workers.h"

/*
 * Returns the options of the view. The recorder has already applied the options that leave out
 * calls, so the view must not apply them again.
 */
static struct opts view_options(const struct opts *opts, const struct cmd *cmd, char *data_dir)
{
	struct opts view = *opts;

	view.cmd = cmd;
	view.data_dir = data_dir;
	view.depth = OPTS_DEFAULT_DEPTH;
	view.time_filter_ns = 0;
	view.size_filter = 0;
	view.trace_on = true;
	view.view_actions = TRIGGER_BACKTRACE | TRIGGER_COLOR | TRIGGER_HIDE | TRIGGER_TIME |
			    TRIGGER_TRACE;
	return view;
}

static void print_title(const char *title)
{
	printf("#\n# uftrace %s\n#\n", title);
	fflush(stdout);
}

/* Returns the options of the report. -f is left out, because it names fields of the replay. */
static struct opts report_options(const struct opts *opts, char *data_dir)
{
	struct opts view = view_options(opts, &cmd_report, data_dir);

	view.fields = NULL;
	return view;
}

static int show_report(const struct opts *opts, char *data_dir, struct uft_err *err)
{
	struct opts view = report_options(opts, data_dir);

	print_title("report");

	int status = cmd_report.run(&view, err);

	puts("");
	print_title("replay");
	return status;
}

/* Returns the command that shows the calls: `tui` for --tui, `script` for -S, or else `replay`. */
static const struct cmd *shown_by(const struct opts *opts)
{
	if (opts->live_tui)
		return &cmd_tui;
	return opts->script ? &cmd_script : &cmd_replay;
}

/* Runs the view. An empty view is no failure: `record` has told the reason. */
static int run_replay_view(const struct opts *view, struct uft_err *err)
{
	int status = view->cmd->run(view, err);

	return status == CMD_NO_DATA && !err->code ? CMD_DONE : status;
}

static int show_recorded(const struct opts *opts, char *data_dir, struct uft_err *err)
{
	struct opts view = view_options(opts, shown_by(opts), data_dir);
	struct pager pager = { 0 };
	int status = CMD_DONE;

	if (!opts->live_tui)
		pager_open(&pager, opts);
	if (opts->live_report && !opts->live_tui)
		status = show_report(opts, data_dir, err);
	if (status == CMD_DONE)
		status = run_replay_view(&view, err);
	pager_close(&pager);
	return status;
}

/*
 * Suggests the command that was probably meant. A misspelt command (`utrail reply`) looks like the
 * name of a missing program.
 */
static void suggest_command(const char *name, struct uft_err *err)
{
	struct nearest near;

	nearest_init(&near, name);
	for (const struct cmd *const *cmd = all_cmds; *cmd; cmd++)
		nearest_offer(&near, (*cmd)->name);
	if (!strchr(name, '/') && near.best[0].distance <= 2) {
		size_t used = strlen(err->text);

		snprintf(err->text + used, sizeof(err->text) - used,
			 "; did you mean the command '%s'?", near.best[0].word);
	}
}

static int make_live_recording(const struct opts *opts, char *data_dir, struct uft_err *err)
{
	struct opts recording = *opts;

	recording.cmd = &cmd_record;
	recording.data_dir = data_dir;
	recording.progress = OPTS_PROGRESS_OFF;

	int status = record_run(&recording, err);

	if (status == -ENOENT && opts->nr_args)
		suggest_command(opts->args[0], err);
	return status;
}

/* The signals by which a user ends the recorded program or the view. */
static const int ending_signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };

static sigset_t interrupts(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
		sigaddset(&set, ending_signals[i]);
	return set;
}

/*
 * Drops the interrupts that came during the recording. Those interrupts were meant for the program
 * or the recorder.
 */
static void forget_interrupts(void)
{
	const sigset_t set = interrupts();
	const struct timespec no_time = { 0 };

	sigprocmask(SIG_BLOCK, &set, NULL);
	while (sigtimedwait(&set, NULL, &no_time) > 0)
		;
}

/* Ignores interrupts in this process: they are meant for the program. */
static void ignore_interrupts(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
		signal(ending_signals[i], SIG_IGN);
}

/*
 * Records the program. Returns true when there is a recording to view. In this case, later
 * interrupts end the view. @status gets the program's exit status, or an error of `record`.
 */
static bool record_first(const struct opts *opts, char *data_dir, int *status, struct uft_err *err)
{
	const sigset_t set = interrupts();

	*status = make_live_recording(opts, data_dir, err);
	if (*status < 0 || err->code || opts->nop || opts->list_functions)
		return false;
	forget_interrupts();
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return true;
}

static int record_then_show(const struct opts *opts, char *data_dir, struct uft_err *err)
{
	int status;

	if (!record_first(opts, data_dir, &status, err))
		return status;

	int shown = show_recorded(opts, data_dir, err);

	return status ? status : shown;
}

/*
 * True when calls can be shown while the program runs. False when the user wants the calls at the
 * end (--no-follow), when a report comes before the calls, when the calls stay in memory (a flight
 * recording), and when no calls are recorded.
 */
static bool can_follow(const struct opts *opts)
{
	return !opts->live_at_end && (!opts->live_report || opts->live_tui) &&
	       !opts->rec.flight_bytes && !opts->nop && !opts->list_functions;
}

#define LOOK_AGAIN_MS 10

/*
 * Waits until the recorder answers a request, writes a byte to the pipe of @over_fd, or closes this
 * pipe. Returns false when the pipe was closed without a byte: there is nothing to show.
 */
static bool wait_for_recorder(const char *data_dir, int over_fd)
{
	struct pollfd over = { .fd = over_fd, .events = POLLIN };
	struct request_answer answer;

	while (ask_recorder(data_dir, REQUEST_PROGRESS, -1, &answer) < 0) {
		if (poll(&over, 1, LOOK_AGAIN_MS) > 0)
			return over.revents & POLLIN;
	}
	return true;
}

/*
 * Shows the calls while the recorder records. Runs in the viewer, a process that only shows calls.
 * The recorder's process reports errors of the recording.
 */
static int show_while_recording(const struct opts *opts, char *data_dir, int over_fd,
				struct uft_err *err)
{
	struct opts view = view_options(opts, shown_by(opts), data_dir);
	char done;

	/* When the recorder ends, SIGTERM makes the screen program restore the terminal. */
	prctl(PR_SET_PDEATHSIG, opts->live_tui ? SIGTERM : SIGKILL);
	view.follow = true;
	if (!wait_for_recorder(data_dir, over_fd))
		return CMD_DONE;

	int status = run_replay_view(&view, err);

	if (read(over_fd, &done, 1) == 1)
		return status;
	err_clear(err);
	return CMD_DONE;
}

/*
 * Waits for the viewer, the child that shows the calls. The recording is already complete, so an
 * interrupt ends the viewer and nothing else. Returns the exit status of the viewer, CMD_DONE after
 * an interrupt, or CMD_FAILED.
 */
static int wait_for_viewer(pid_t pid, int ending_signal)
{
	sigset_t set = interrupts();
	bool is_enough = false;
	int status;

	forget_interrupts();
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (pid_t ended; (ended = waitpid(pid, &status, WNOHANG)) != pid;) {
		if (ended < 0)
			return CMD_FAILED;

		int sig = sigwaitinfo(&set, NULL);

		/* If this process is stopped (Ctrl-Z) and continued, sigwaitinfo() fails. */
		if (sig > 0 && sig != SIGCHLD && !is_enough) {
			is_enough = true;
			kill(pid, ending_signal);
		}
	}
	if (is_enough)
		return CMD_DONE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : CMD_FAILED;
}

/*
 * The output of the program and the recorder during `live --tui`, kept until the viewer ends.
 *
 * @terminal: the former standard input, output and error
 */
struct live_output {
	FILE *text;
	pid_t viewer;
	int terminal[3];
	off_t shown;
	pthread_t thread;
	atomic_bool is_over;
};

static void show_more(struct live_output *output)
{
	char buf[4096];
	ssize_t n;

	while ((n = pread(fileno(output->text), buf, sizeof(buf), output->shown)) > 0) {
		if (fd_write_all(output->terminal[STDOUT_FILENO], buf, n) < 0)
			break;
		output->shown += n;
	}
}

/*
 * Waits in a thread for the end of the viewer. If the program runs longer than the viewer, the
 * thread prints the output of the program.
 */
static void *show_output(void *arg)
{
	struct live_output *output = arg;
	siginfo_t info;

	while (waitid(P_PID, output->viewer, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	while (!atomic_load(&output->is_over)) {
		show_more(output);
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_AGAIN_MS * 1000000 }, NULL);
	}
	return NULL;
}

static int begin_output(struct live_output *output, pid_t viewer, struct uft_err *err)
{
	int null cleanup_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int ret;

	*output = (struct live_output){ .text = tmpfile(), .viewer = viewer };
	if (!output->text || null < 0)
		return err_set_errno(err, -errno, "cannot keep the output of the program");
	fcntl(fileno(output->text), F_SETFL, O_APPEND);
	for (int fd = 0; fd < 3; fd++)
		output->terminal[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	ret = workers_start_thread(&output->thread, NULL, show_output, output);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot show the output of the program");
	dup2(null, STDIN_FILENO);
	dup2(fileno(output->text), STDOUT_FILENO);
	dup2(fileno(output->text), STDERR_FILENO);
	return 0;
}

/*
 * Restores standard input, output and error. Prints the part of the kept output that show_output()
 * has not printed. Call this function after the viewer has ended.
 */
static void end_output(struct live_output *output)
{
	fflush(stdout);
	for (int fd = 0; fd < 3; fd++) {
		dup2(output->terminal[fd], fd);
		if (fd != STDOUT_FILENO)
			close(output->terminal[fd]);
	}
	atomic_store(&output->is_over, true);
	pthread_join(output->thread, NULL);
	show_more(output);
	close(output->terminal[STDOUT_FILENO]);
	fclose(output->text);
}

/*
 * True for a script that cannot be loaded. This error is reported, but it does not change the exit
 * status: the program ran well and is recorded.
 */
static bool is_told_only(const struct opts *opts, int shown)
{
	return opts->script && shown == CMD_NO_DATA;
}

static int record_and_show(const struct opts *opts, char *data_dir, struct uft_err *err)
{
	int ends[2];

	if (!can_follow(opts) || pipe2(ends, O_CLOEXEC) < 0)
		return record_then_show(opts, data_dir, err);

	int output cleanup_fd = ends[1];
	int input cleanup_fd = ends[0];

	fflush(stdout);

	/*
	 * Interrupts are blocked before fork(). The viewer inherits the block, and keeps the block
	 * until ignore_interrupts() has returned. Without the block, an interrupt right after
	 * fork() would end the viewer.
	 */
	const sigset_t set = interrupts();
	sigset_t before;

	sigprocmask(SIG_BLOCK, &set, &before);

	pid_t viewer = fork();

	if (viewer == 0)
		ignore_interrupts();
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (viewer == 0) {
		close(output);
		output = -1;
		return show_while_recording(opts, data_dir, input, err);
	}
	if (viewer < 0)
		return err_set_errno(err, -errno, "cannot start showing calls");

	struct live_output printed;
	int status = opts->live_tui ? begin_output(&printed, viewer, err) : 0;

	if (status < 0) {
		kill(viewer, SIGTERM);
		return status;
	}
	status = make_live_recording(opts, data_dir, err);
	if (status >= 0 && !err->code)
		fd_write_all(output, "", 1);
	close(output);
	output = -1;

	int shown = wait_for_viewer(viewer, opts->live_tui ? SIGTERM : SIGKILL);

	if (opts->live_tui)
		end_output(&printed);
	return status || is_told_only(opts, shown) ? status : shown;
}

static void remove_dir(const char *path)
{
	DIR *dir = opendir(path);

	if (!dir)
		return;
	for (struct dirent *e; (e = readdir(dir)) != NULL;)
		unlinkat(dirfd(dir), e->d_name, 0);
	closedir(dir);
	rmdir(path);
}

/* Makes a new directory below $TMPDIR, /tmp or the working directory. */
static int make_temp_dir(char path[static PATH_MAX], struct uft_err *err)
{
	const char *tops[] = { getenv("TMPDIR"), "/tmp", "." };

	for (size_t i = 0; i < ARRAY_SIZE(tops); i++) {
		if (!tops[i] || !*tops[i] ||
		    snprintf(path, PATH_MAX, "%s/utrail-live-XXXXXX", tops[i]) >= PATH_MAX - 16)
			continue;
		if (mkdtemp(path))
			return 0;
	}
	return err_set_errno(err, -errno, "cannot make a temporary directory in '%s'", tops[1]);
}

/* Waits until the child has ended. Signals to this process are passed on to the child. */
static int wait_for(pid_t pid, const sigset_t *signals, struct uft_err *err)
{
	siginfo_t info;
	int status;

	for (pid_t ended; (ended = waitpid(pid, &status, WNOHANG)) != pid;) {
		if (ended < 0)
			return err_set_errno(err, -errno, "cannot wait for the recorder");

		int sig = sigwaitinfo(signals, &info);

		/*
		 * The terminal sends its signals to this process and to the child. So only signals
		 * from other senders are passed on to the child.
		 */
		if (sig > 0 && sig != SIGCHLD && info.si_code <= 0)
			kill(pid, sig);
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/*
 * Lets a child do the work in a temporary directory. The parent always removes this directory, even
 * after Ctrl-C or a crash of the child.
 */
static int live_in_temp_dir(const struct opts *opts, struct uft_err *err)
{
	char top[PATH_MAX];
	char data_dir[PATH_MAX + 8];
	sigset_t blocked = interrupts(), before;

	sigaddset(&blocked, SIGCHLD);
	/* No signal may end this process before the temporary directory is removed. */
	sigprocmask(SIG_BLOCK, &blocked, &before);

	int ret = make_temp_dir(top, err);

	if (ret < 0)
		return ret;
	snprintf(data_dir, sizeof(data_dir), "%s/data", top);
	fflush(stdout);

	pid_t pid = fork();

	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return record_and_show(opts, data_dir, err);
	}
	if (pid < 0)
		ret = err_set_errno(err, -errno, "cannot start the recorder");
	else
		ret = wait_for(pid, &blocked, err);
	remove_dir(data_dir);
	rmdir(top);
	return ret;
}

/*
 * --keep-pid: shows the calls, and removes the temporary data after viewer and recorder have ended.
 * @over_fd is closed when the recorder ends.
 */
static int show_beside(const struct opts *opts, char *data_dir, const char *top, int over_fd,
		       const sigset_t *before, struct uft_err *err)
{
	/*
	 * The program may end before all calls are shown. The shell then uses the terminal again,
	 * and a pager would disturb the shell.
	 */
	struct opts quiet = *opts;
	char done;

	quiet.use_pager = false;

	pid_t viewer = fork();

	if (viewer == 0) {
		sigprocmask(SIG_SETMASK, before, NULL);
		if (can_follow(opts))
			return show_while_recording(&quiet, data_dir, over_fd, err);
		ignore_interrupts();
		return read(over_fd, &done, 1) == 1 ? show_recorded(&quiet, data_dir, err)
						    : CMD_DONE;
	}
	while (viewer > 0 && waitpid(viewer, NULL, 0) < 0 && errno == EINTR)
		;
	while (read(over_fd, &done, 1) > 0)
		;
	if (*top) {
		remove_dir(data_dir);
		rmdir(top);
	}
	return CMD_DONE;
}

/*
 * Does the work of `live --keep-pid`, where this process becomes the program. The program's wait(2)
 * would see every child of this process. So no child of this process may show the calls.
 */
static int live_in_kept_pid(const struct opts *opts, struct uft_err *err)
{
	char top[PATH_MAX] = "";
	char data_dir[PATH_MAX + 8];
	int over[2], shown[2] = { -1, -1 };
	const sigset_t set = interrupts();
	sigset_t before;

	/* Block signals until there is a process that will remove the temporary files. */
	sigprocmask(SIG_BLOCK, &set, &before);

	int ret = opts->live_record ? 0 : make_temp_dir(top, err);

	if (ret < 0)
		return ret;
	snprintf(data_dir, sizeof(data_dir), "%s%s", *top ? top : opts->data_dir,
		 *top ? "/data" : "");
	fflush(stdout);
	if (pipe2(over, O_CLOEXEC) == 0)
		ret = pipe2(shown, O_CLOEXEC) == 0 ? launch_fork_away() : -errno;
	else
		ret = -errno;
	if (ret < 0) {
		if (*top)
			rmdir(top);
		return err_set_errno(err, ret, "cannot start showing calls");
	}

	int over_fd cleanup_fd = over[ret ? 0 : 1];
	int shown_fd cleanup_fd = shown[ret ? 1 : 0];

	close(over[ret ? 1 : 0]);
	close(shown[ret ? 0 : 1]);
	if (ret)
		return show_beside(opts, data_dir, top, over_fd, &before, err);
	sigprocmask(SIG_SETMASK, &before, NULL);

	int status = make_live_recording(opts, data_dir, err);
	char done;

	/*
	 * The recorder runs the code below. If recording failed before the recorder was forked, the
	 * process that was to become the program runs this code instead.
	 */
	if (status >= 0 && !err->code)
		fd_write_all(over_fd, "", 1);
	close(take_fd(&over_fd));
	while (read(shown_fd, &done, 1) < 0 && errno == EINTR)
		;
	return status;
}

int live_run_script(const struct opts *opts, struct uft_err *err)
{
	return record_and_show(opts, opts->data_dir, err);
}

int live_record_then_script(const struct opts *opts, struct uft_err *err)
{
	struct opts view = *opts;
	struct pager pager = { 0 };
	int status;

	view.cmd = &cmd_script;
	if (!record_first(opts, opts->data_dir, &status, err))
		return status;
	pager_open(&pager, opts);

	int shown = run_replay_view(&view, err);

	pager_close(&pager);
	return status || is_told_only(opts, shown) ? status : shown;
}

static int check_live(const struct opts *opts, struct uft_err *err)
{
	const struct opts report = report_options(opts, opts->data_dir);
	int ret = opts->live_report && !opts->live_tui ? cmd_report.check(&report, err) : 0;

	if (opts->live_tui && (opts->keep_pid || opts->script))
		return err_set(err, -ERR_USAGE, "--tui cannot be used together with %s",
			       opts->keep_pid ? "--keep-pid" : "--script");
	if (opts->live_tui)
		return cmd_tui.check(opts, err);

	return ret < 0 ? ret : cmd_replay.check(opts, err);
}

static int run_live(const struct opts *opts, struct uft_err *err)
{
	int ret = opts->live_tui ? tui_check_terminal(err) : 0;

	if (ret < 0)
		return ret;
	if (opts->pids && !opts->nr_args && control_is_recorded(opts->pids))
		return control_live(opts, err);
	if (opts->keep_pid && !opts->nop && !opts->list_functions)
		return live_in_kept_pid(opts, err);
	if (opts->live_record || opts->list_functions)
		return record_and_show(opts, opts->data_dir, err);
	return live_in_temp_dir(opts, err);
}

const struct cmd cmd_live = {
	.name = "live",
	.args = "PROGRAM [ARGUMENT...]",
	.help = "run a program and show its calls; the default command",
	.bit = CMD_LIVE,
	.needs_program = true,
	.check = check_live,
	.run = run_live,
};
