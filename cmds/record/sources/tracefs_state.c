/*
 * Saves and restores the settings of the kernel's tracer. The kernel has one tracer for all
 * programs (see tracefs_state.h).
 */
#include "cmds/record/sources/tracefs_state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/sources/tracefs.h"
#include "utils/base/cleanup.h"
#include "utils/base/compiler.h"
#include "utils/base/fd.h"
#include "utils/base/containers/strbuf.h"

enum file_kind {
	FILE_VALUE,  /* the text that was read can be written back */
	FILE_CHOICE, /* several words; the chosen one is in brackets */
	FILE_SIZE,   /* a number. For an unused trace buffer, more text may follow the number */
	/* lines. An empty list shows a comment ("#### all functions enabled ####") or "no pid" */
	FILE_LIST,
	FILE_EMPTY, /* the text cannot be written back, so the file is emptied */
};

/*
 * The files, in the order of restoring them. The first two files end the recorder's tracing. Some
 * kernels lack some of the files.
 */
static const struct {
	const char *name;
	enum file_kind kind;
} files[] = {
	{ "current_tracer", FILE_VALUE },
	{ "set_event", FILE_LIST },
	{ "max_graph_depth", FILE_VALUE },
	{ "set_graph_function", FILE_LIST },
	{ "set_graph_notrace", FILE_LIST },
	{ "set_ftrace_notrace", FILE_LIST },
	{ "set_ftrace_pid", FILE_LIST },
	{ "set_event_pid", FILE_LIST },
	{ "options/function-fork", FILE_VALUE },
	{ "options/event-fork", FILE_VALUE },
	{ "trace_clock", FILE_CHOICE },
	{ "buffer_size_kb", FILE_SIZE },
	{ "buffer_percent", FILE_VALUE },
	{ "trace", FILE_EMPTY },
	{ "tracing_on", FILE_VALUE },
};

/*
 * @text: the text to write. With an empty text, the file is emptied, and nothing is written. NULL:
 *        the file does not exist, or is not writable
 */
struct saved {
	char *text;
	size_t len;
};

/* Returns the word that is in brackets. */
static struct text chosen(struct text in)
{
	const char *open = memchr(in.at, '[', text_left(&in));
	const char *close = open ? memchr(open, ']', in.end - open) : NULL;

	return close ? (struct text){ open + 1, close } : (struct text){ in.end, in.end };
}

static struct text first_word(struct text in)
{
	const char *at = in.at;

	while (at<in.end && * at> ' ')
		at++;
	return (struct text){ in.at, at };
}

static bool is_none(struct text in)
{
	return in.at == in.end || *in.at == '#' || text_word(&in, "no pid");
}

static int save(int dir_fd, size_t i, struct saved *saved, struct uft_err *err)
{
	struct strbuf content cleanup_strbuf = { 0 };
	int ret = 0;

	if (faccessat(dir_fd, files[i].name, W_OK, 0) < 0)
		return 0;
	if (files[i].kind != FILE_EMPTY)
		ret = tracefs_read(dir_fd, files[i].name, &content, err);
	if (ret < 0)
		return ret;

	struct text text = text_of(strbuf_str(&content), content.len);

	if (files[i].kind == FILE_CHOICE)
		text = chosen(text);
	else if (files[i].kind == FILE_SIZE)
		text = first_word(text);
	else if (files[i].kind == FILE_LIST && is_none(text))
		text.end = text.at;
	saved->text = text_dup(&text);
	saved->len = text_left(&text);
	return saved->text ? 0 : err_set_errno(err, -ENOMEM, "cannot read '%s'", files[i].name);
}

static void free_all(struct saved saved[static ARRAY_SIZE(files)])
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		free(saved[i].text);
}

/* --- the keeper (see tracefs_state.h): calls only async-signal-safe functions --- */

static void write_line(int fd, const char *at, size_t len)
{
	ssize_t n;

	do {
		n = write(fd, at, len);
	} while (n < 0 && errno == EINTR);
}

/* Restores a file. If the file is a list, each write adds one entry. */
static void put_back(int dir_fd, const char *name, enum file_kind kind, const struct saved *saved)
{
	bool empties = kind == FILE_LIST || kind == FILE_EMPTY;
	int fd = empties ? tracefs_open_empty(dir_fd, name)
			 : openat(dir_fd, name, O_WRONLY | O_CLOEXEC);
	const char *end = saved->text + saved->len;

	if (fd < 0)
		return;
	for (const char *at = saved->text; at < end;) {
		const char *line = at;

		while (at < end && *at != '\n')
			at++;
		at += at < end;
		write_line(fd, line, at - line);
	}
	/* The kernel uses a list of functions only after the list's file is closed. */
	close(fd);
}

/* Returns 1 when a byte was read, 0 at the end of the pipe, or -1 on failure. */
static ssize_t read_byte(int pipe)
{
	char byte;
	ssize_t n;

	do {
		n = read(pipe, &byte, 1);
	} while (n < 0 && errno == EINTR);
	return n;
}

static void keep_saved_files(int dir_fd, int pipe, const struct saved *saved)
{
	sigset_t all;

	/*
	 * The keeper starts its own session. So the keys of a terminal send no signals to the
	 * keeper. Signals from elsewhere stay blocked until the keeper ends.
	 */
	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (chdir("/") < 0)
		return;
	while (read_byte(pipe) > 0)
		;

	int fd = openat(dir_fd, "tracing_on", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		write_line(fd, "0", 1);
		close(fd);
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (saved[i].text)
			put_back(dir_fd, files[i].name, files[i].kind, &saved[i]);
	}
}

/* --- the recorder --- */

/*
 * Starts the keeper of the saved files. The keeper is not a child of the recorder. So the
 * recorder's wait(2) never reports the keeper.
 */
static int start_keeper(struct tracefs_state *state, int dir_fd, const struct saved *saved,
			struct uft_err *err)
{
	int life[2];
	int done[2];

	if (pipe2(life, O_CLOEXEC) < 0)
		return err_set_errno(err, -errno, "cannot make a pipe");
	if (pipe2(done, O_CLOEXEC) < 0) {
		int code = -errno;

		close(life[0]);
		close(life[1]);
		return err_set_errno(err, code, "cannot make a pipe");
	}

	pid_t pid = fork();

	if (pid == 0) {
		if (fork() == 0) {
			/*
			 * The keeper first copies its descriptors to numbers from 10 on. So dup2()
			 * to the numbers 0 to 2 closes none of the copies.
			 */
			int dir = fcntl(dir_fd, F_DUPFD_CLOEXEC, 10);
			int in = fcntl(life[0], F_DUPFD_CLOEXEC, dir + 1);
			int out = fcntl(done[1], F_DUPFD_CLOEXEC, in + 1);

			/* This byte informs the recorder that the keeper is ready. */
			if (dir >= 0 && in > dir && out > in && dup2(out, 0) == 0 &&
			    dup2(dir, 1) == 1 && dup2(in, 2) == 2 && write(0, "", 1) == 1) {
				fd_close_from(3);
				keep_saved_files(1, 2, saved);
			}
		}
		_exit(0);
	}
	close(life[0]);
	close(done[1]);
	if (pid < 0) {
		int code = -errno;

		close(life[1]);
		close(done[0]);
		return err_set_errno(err, code, "cannot start a process");
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	state->pipe = life[1];
	state->done = done[0];
	if (read_byte(state->done) != 1) {
		tracefs_state_restore(state);
		return err_set(err, -EAGAIN,
			       "cannot start the process that restores the settings of tracefs");
	}
	return 0;
}

int tracefs_state_keep(struct tracefs_state *state, int tracefs_fd, struct uft_err *err)
{
	struct saved saved[ARRAY_SIZE(files)] = { 0 };
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < ARRAY_SIZE(files); i++)
		ret = save(tracefs_fd, i, &saved[i], err);
	/*
	 * The kernel has one trace buffer for all programs. If another program traced at the same
	 * time, the buffer would mix the records of the two programs.
	 */
	if (ret == 0 && saved[0].text && strcmp(saved[0].text, "nop\n") != 0)
		ret = err_set(err, -EBUSY,
			      "another program is tracing with '%.*s' (current_tracer in tracefs)",
			      (int)strcspn(saved[0].text, "\n"), saved[0].text);
	if (ret == 0 && saved[1].len)
		ret = err_set(err, -EBUSY,
			      "another program is recording events (set_event in tracefs)");
	if (ret == 0)
		ret = start_keeper(state, tracefs_fd, saved, err);
	free_all(saved);
	return ret;
}

void tracefs_state_restore(struct tracefs_state *state)
{
	if (state->pipe < 0)
		return;
	close(state->pipe);
	read_byte(state->done);
	close(state->done);
	state->pipe = state->done = -1;
}
