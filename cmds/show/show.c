/* utrail show: serves the page until Ctrl-C (see show.h, doc/internals/show.md). */
#include "cmds/show/show.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "cmds/cmd.h"
#include "cmds/show/browser.h"
#include "cmds/show/shelf.h"

int show_check(const struct opts *opts, struct uft_err *err)
{
	if (opts->nr_args > 1)
		return err_set(err, -ERR_USAGE,
			       "show opens one recording, not also '%s': those beside it are in "
			       "the page's list",
			       opts->args[1]);
	if (opts->nr_args && opts_has_typed(opts, "data"))
		return err_set(err, -ERR_USAGE,
			       "show opens one recording: '%s' or '%s' (-d), not both",
			       opts->args[0], opts->data_dir);
	if (opts->in_parts && opts->as_whole)
		return err_set(err, -ERR_USAGE,
			       "show gives calls in parts or all at once: --parts or --no-parts, "
			       "not both");
	return 0;
}

/* Prints the address in a line of its own, so that a program can read the address. */
static void print_address(const struct gate *gate)
{
	msg_list("http://127.0.0.1:%u/%s/0/", gate->port, gate->token);
	fflush(stdout);
}

static pid_t start_browser(const struct opts *opts, const struct gate *gate)
{
	char address[GATE_SECRET_BYTES + 48];
	pid_t pid;

	if (opts->no_browser)
		return 0;
	snprintf(address, sizeof(address), "http://127.0.0.1:%u/open/%s", gate->port, gate->ticket);
	pid = browser_start(address);
	if (pid == 0)
		msg_line(&opts->msg, "no browser was found (see BROWSER): open the address above");
	return pid;
}

/* Warns if the browser's process @pid has failed. Returns @pid, or 0 when the process has ended. */
static pid_t look_after_browser(const struct opts *opts, pid_t pid)
{
	int status = 0;

	if (pid <= 0 || waitpid(pid, &status, WNOHANG) == 0)
		return pid;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		msg_warn(&opts->msg, "no browser could be started: open the address above");
	return 0;
}

static void wait_for_end(const struct opts *opts, struct server *server, pid_t browser,
			 const sigset_t *ends)
{
	static const struct timespec second = { .tv_sec = 1 };

	while (sigtimedwait(ends, NULL, &second) < 0) {
		server_tick(server);
		browser = look_after_browser(opts, browser);
	}
}

static int serve(const struct opts *opts, struct shelf *shelf, struct uft_err *err)
{
	struct gate gate = { 0 };
	sigset_t ends, before;
	int ret = gate_init(&gate, err);

	if (ret < 0)
		return ret;

	int fd = server_listen(opts->port, &gate, err);

	if (fd < 0)
		return fd;
	/*
	 * SIGINT is blocked before the address is printed. Later, wait_for_end() takes the signal.
	 * So Ctrl-C ends the command properly as soon as the address is known.
	 */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	pthread_sigmask(SIG_BLOCK, &ends, &before);
	print_address(&gate);
	/*
	 * The browser is started before there are other threads. Its connection waits until the
	 * server accepts it.
	 */
	pid_t browser = start_browser(opts, &gate);

	/*
	 * A browser that closes the connection in the middle of an answer must not end the command.
	 */
	signal(SIGPIPE, SIG_IGN);

	struct server *server = server_start(fd, &gate, shelf_answer, shelf, err);

	if (server) {
		msg_line(&opts->msg, "'%s' is shown until Ctrl-C", shelf->all[0].name);
		wait_for_end(opts, server, browser, &ends);
		/*
		 * The next calls wait until the answers in progress are complete. The signal mask
		 * is restored first, so that a second Ctrl-C ends the command immediately.
		 */
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		shelf_stop(shelf);
		server_stop(server);
		msg_line(&opts->msg, "'%s' is shown no more", shelf->all[0].name);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return server ? CMD_DONE : err->code;
}

int show_run(const struct opts *opts, struct uft_err *err)
{
	struct shelf shelf;
	int ret = shelf_open(&shelf, opts, err);

	if (ret == 0)
		ret = serve(opts, &shelf, err);
	shelf_close(&shelf);
	return ret;
}
