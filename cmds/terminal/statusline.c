/* Shows a command's progress in a line on the terminal (see statusline.h). */
#include "cmds/terminal/statusline.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include "utils/base/containers/strbuf.h"

#define ERASE "\r\033[K"

/* The assumed width of a terminal that does not report its width. */
#define DEFAULT_COLUMNS 80

/*
 * The line, protected by @lock.
 *
 * @fd: the terminal; -1: there is no line
 * @is_own: the descriptor was opened for this line, and does not block
 * @is_shown: the line is visible and must be erased
 */
static struct {
	pthread_mutex_t lock;
	int fd;
	bool is_own;
	bool is_shown;
} line = { PTHREAD_MUTEX_INITIALIZER, -1, false, false };

bool statusline_open(void)
{
	if (!isatty(STDERR_FILENO))
		return false;
	pthread_mutex_lock(&line.lock);
	if (line.fd < 0) {
		/*
		 * O_NONBLOCK must not be set on the open file of stderr, because this would affect
		 * other processes. So the terminal is opened again. This open() may fail if the
		 * process has changed its user.
		 */
		line.fd = open("/proc/self/fd/2", O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
		line.is_own = line.fd >= 0;
		if (!line.is_own)
			line.fd = STDERR_FILENO;
	}
	pthread_mutex_unlock(&line.lock);
	return true;
}

/*
 * True when the process is in the foreground. A write from the background may stop the process
 * (TOSTOP), and would mix with output of the foreground.
 */
static bool is_in_foreground(void)
{
	pid_t group = tcgetpgrp(line.fd);

	return group < 0 || group == getpgrp();
}

static bool has_room(void)
{
	struct pollfd poll_fd = { .fd = line.fd, .events = POLLOUT };

	return poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLOUT);
}

/* Writes to the terminal. Returns false when the terminal does not take all of @text now. */
static bool put_on_terminal(const char *text, size_t len)
{
	sigset_t set, before;

	if (!has_room())
		return false;
	/*
	 * The process may move to the background between the check and the write. SIGTTOU is
	 * blocked, so that a write from the background does not stop the process.
	 */
	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	pthread_sigmask(SIG_BLOCK, &set, &before);

	bool is_done = write(line.fd, text, len) == (ssize_t)len;

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return is_done;
}

static void erase(void)
{
	if (!line.is_shown)
		return;
	/*
	 * A process in the background does not erase the line, because the foreground has
	 * overwritten it.
	 */
	if (!is_in_foreground() || put_on_terminal(ERASE, strlen(ERASE)))
		line.is_shown = false;
}

static void forget_terminal(void)
{
	erase();
	if (line.is_own)
		close(line.fd);
	line.fd = -1;
	line.is_shown = false;
}

void statusline_close(void)
{
	pthread_mutex_lock(&line.lock);
	if (line.fd >= 0)
		forget_terminal();
	pthread_mutex_unlock(&line.lock);
}

static size_t columns(void)
{
	struct winsize size;

	if (ioctl(line.fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return DEFAULT_COLUMNS;
	return size.ws_col;
}

size_t statusline_cut(const char *text, size_t columns)
{
	size_t used = 0;
	size_t at = 0;

	while (text[at]) {
		size_t len = 1;

		while (((unsigned char)text[at + len] & 0xc0) == 0x80)
			len++;
		used += (unsigned char)text[at] < 0x80 ? 1 : 2;
		if (used > columns)
			break;
		at += len;
	}
	return at;
}

void statusline_show(const char *text)
{
	struct strbuf shown cleanup_strbuf = { 0 };

	pthread_mutex_lock(&line.lock);
	if (line.fd >= 0 && is_in_foreground()) {
		/*
		 * The last column stays free, because some terminals go to the next line after a
		 * character in the last column.
		 */
		strbuf_addstr(&shown, "\r");
		strbuf_add(&shown, text, statusline_cut(text, columns() - 1));
		strbuf_addstr(&shown, "\033[K");
		/*
		 * @is_shown is set before the write, because the terminal may take a part of the
		 * text, and erase() must erase this part.
		 */
		if (has_room()) {
			line.is_shown = true;
			put_on_terminal(strbuf_str(&shown), shown.len);
		}
	}
	pthread_mutex_unlock(&line.lock);
}

void statusline_hide(void)
{
	pthread_mutex_lock(&line.lock);
	erase();
	pthread_mutex_unlock(&line.lock);
}

void statusline_hold(void)
{
	pthread_mutex_lock(&line.lock);
	erase();
}

void statusline_release(void)
{
	pthread_mutex_unlock(&line.lock);
}

void statusline_before_output(bool is_paged)
{
	pthread_mutex_lock(&line.lock);
	if (line.fd >= 0 && (is_paged || isatty(STDOUT_FILENO)))
		forget_terminal();
	pthread_mutex_unlock(&line.lock);
}

bool statusline_terminal(uint64_t *device)
{
	unsigned nr;
	bool is_known;

	pthread_mutex_lock(&line.lock);
	/*
	 * The terminal itself is asked for its device number. If the descriptor was opened as
	 * /dev/tty, fstat(2) would return the number of /dev/tty instead.
	 */
	is_known = line.fd >= 0 && ioctl(line.fd, TIOCGDEV, &nr) == 0;
	pthread_mutex_unlock(&line.lock);
	if (!is_known)
		return false;
	*device = makedev((nr >> 8) & 0xfff, (nr & 0xff) | ((nr >> 12) & 0xfff00));
	return true;
}
