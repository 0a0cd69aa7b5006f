/* Sends requests to the recorder that writes a data directory (see ask.h). */
#include "cmds/terminal/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cmds/record/base/proc_status.h"
#include "utils/base/cleanup.h"
#include "utils/base/clock.h"
#include "utils/base/fd.h"
#include "utils/base/unix_name.h"
#include "utils/base/containers/words.h"

#define WAIT_FOR_END_MS 10000

/*
 * The longest silence of a working recorder. A longer silence means that the recorder is suspended
 * (SIGSTOP), or that another process listens at the recorder's address.
 */
#define SILENCE_MS 2000

/*
 * Reads the file that a recorder writes if its socket has an unusual name. The first line is the
 * name, and the second line is the secret.
 */
static bool read_door(const char *dir, const struct stat *st, struct recorder_name *name)
{
	int dir_fd cleanup_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd cleanup_fd = openat(dir_fd, REQUEST_DOOR_NAME,
				   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[sizeof(name->text) + sizeof(name->secret) + 2];
	struct stat file;
	ssize_t len = fd < 0 || fstat(fd, &file) < 0 || !S_ISREG(file.st_mode)
			      ? -1
			      : fd_read_full(fd, text, sizeof(text) - 1);
	char usual[REQUEST_NAME_SIZE];

	if (len <= 0 || (file.st_uid != 0 && file.st_uid != st->st_uid && file.st_uid != geteuid()))
		return false;
	text[len] = '\0';

	size_t name_len = strcspn(text, "\n");
	char *secret = text + name_len + (text[name_len] == '\n');

	text[name_len] = '\0';
	secret[strcspn(secret, "\n")] = '\0';
	request_name(usual, st);
	if (name_len >= sizeof(name->text) || strncmp(text, usual, strlen(usual)) != 0 ||
	    strlen(secret) != REQUEST_SECRET_CHARS)
		return false;
	memcpy(name->text, text, name_len + 1);
	memcpy(name->secret, secret, sizeof(name->secret));
	return true;
}

int ask_name_of_dir(const char *dir, struct recorder_name *name)
{
	struct stat st;

	if (stat(dir, &st) < 0)
		return -errno;
	*name = (struct recorder_name){ .owner = st.st_uid };
	if (!read_door(dir, &st, name))
		request_name(name->text, &st);
	return 0;
}

static bool is_ours(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/*
 * True when the listening process belongs to a trusted user. This must be checked, because any
 * process may listen under any name. @peer gets the credentials of the process.
 */
static bool is_trusted(int fd, uid_t owner, struct ucred *peer)
{
	socklen_t len = sizeof(*peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &len) == 0 &&
	       (is_ours(peer->uid) || peer->uid == owner);
}

/* Connects to a recorder. If the queue of connections is full, fails without a wait. */
static int connect_recorder(const struct recorder_name *name, struct ucred *peer)
{
	struct sockaddr_un addr;
	socklen_t addr_len = unix_name_address(&addr, name->text, strlen(name->text));
	int fd cleanup_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&addr, addr_len) < 0)
		return errno == ECONNREFUSED ? -ENOTCONN : errno == EAGAIN ? -ETIMEDOUT : -errno;
	return is_trusted(fd, name->owner, peer) ? take_fd(&fd) : -EPERM;
}

static int send_request(int fd, enum request_type type, const struct strbuf *words)
{
	struct request request = { REQUEST_MAGIC, REQUEST_VERSION, type, words ? words->len : 0 };
	struct iovec parts[] = { { &request, sizeof(request) },
				 { words ? words->data : NULL, request.text_bytes } };
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = ARRAY_SIZE(parts) };

	if (request.text_bytes > REQUEST_TEXT_MAX)
		return -E2BIG;
	return sendmsg(fd, &msg, MSG_NOSIGNAL) < 0 ? -EPIPE : 0;
}

static int take_answer(int fd, struct request_answer *answer, struct strbuf *out)
{
	const size_t max = sizeof(*answer) + REQUEST_TEXT_MAX;
	char *packet cleanup_free = malloc(max);
	ssize_t len = packet ? recv(fd, packet, max, 0) : 0;

	if (!packet)
		return -ENOMEM;
	if (len < (ssize_t)sizeof(*answer))
		return -EPIPE;
	memcpy(answer, packet, sizeof(*answer));
	if (out)
		strbuf_add(out, packet + sizeof(*answer), len - sizeof(*answer));
	return answer->magic == REQUEST_MAGIC ? 0 : -EPIPE;
}

static bool (*ask_is_ended)(void);

void ask_end_when(bool (*is_ended)(void))
{
	ask_is_ended = is_ended;
}

/*
 * Returns 0 when there is something to read. Returns -ETIMEDOUT when the time is over, or -EPIPE
 * when the user ends the command.
 *
 * Signals that do not end the command, such as SIGCONT after Ctrl-Z and fg, do not end the wait.
 */
static int wait_for_answer(int fd, int timeout_ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	const uint64_t end_ns = clock_now_ns(CLOCK_MONOTONIC) + timeout_ms * NSEC_PER_MSEC;

	while (!ask_is_ended || !ask_is_ended()) {
		int ret = poll(&wait, 1, timeout_ms);

		if (ret >= 0 || errno != EINTR)
			return ret == 0 ? -ETIMEDOUT : 0;

		uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

		timeout_ms = now_ns < end_ns ? (int)((end_ns - now_ns) / NSEC_PER_MSEC) : 0;
	}
	return -EPIPE;
}

/* Sends a request, and reads the answer, which must come within @timeout_ms. */
static int ask_once(const struct recorder_name *name, enum request_type type,
		    const struct strbuf *words, int timeout_ms, struct strbuf *out)
{
	struct request_answer answer = { 0 };
	struct ucred peer;
	int fd cleanup_fd = connect_recorder(name, &peer);
	int ret = fd < 0 ? fd : send_request(fd, type, words);

	if (ret == 0)
		ret = wait_for_answer(fd,
				      is_ours(peer.uid) ? timeout_ms : MIN(timeout_ms, SILENCE_MS));
	if (ret == 0)
		ret = take_answer(fd, &answer, out);
	return ret < 0 ? ret : answer.error;
}

/*
 * True when the recorder answers a simple request. Recorders answer such requests at once, even
 * when they are busy.
 */
static bool is_at_work(const struct recorder_name *name)
{
	struct strbuf words cleanup_strbuf = { 0 };
	int ret;

	strbuf_list_add(&words, "0");
	ret = ask_once(name, REQUEST_HAS_PID, &words, SILENCE_MS / 2, NULL);
	return ret == 0 || ret == -ESRCH;
}

/*
 * Waits for the answer to a request. The answer may take long. If @is_patient is true, asks for
 * signs of life during the wait. For a recorder of another user, @is_patient is false, because such
 * a recorder may give signs of life without end.
 */
static int wait_while_at_work(int fd, const struct recorder_name *name, bool is_patient,
			      int timeout_ms)
{
	int waited_ms = 0;

	while (timeout_ms < 0 || waited_ms < timeout_ms) {
		int step_ms = is_patient ? SILENCE_MS / 2 : SILENCE_MS;

		if (timeout_ms >= 0 && timeout_ms - waited_ms < step_ms)
			step_ms = timeout_ms - waited_ms;

		int ret = wait_for_answer(fd, step_ms);

		if (ret != -ETIMEDOUT)
			return ret;
		waited_ms += step_ms;
		if (!is_patient || !is_at_work(name))
			break;
	}
	return -ETIMEDOUT;
}

/*
 * Checks that the listening process knows name->secret, which read_door() has read from a file in
 * the data directory. If name->secret is empty, no check is needed. Returns 0, -EPERM when the
 * process answers with another secret, or another negative errno.
 */
static int check_secret(const struct recorder_name *name)
{
	struct strbuf secret cleanup_strbuf = { 0 };
	int ret = name->secret[0] ? ask_once(name, REQUEST_PROVE, NULL, SILENCE_MS, &secret) : 0;

	if (ret < 0 || !name->secret[0])
		return ret;
	return strcmp(strbuf_str(&secret), name->secret) == 0 ? 0 : -EPERM;
}

int ask_named(const struct recorder_name *name, enum request_type type, const struct strbuf *words,
	      int timeout_ms, struct request_answer *answer, struct strbuf *out)
{
	struct ucred peer;
	int ret = check_secret(name);

	if (ret < 0)
		return ret;

	int fd cleanup_fd = connect_recorder(name, &peer);

	ret = fd < 0 ? fd : send_request(fd, type, words);
	if (ret < 0)
		return ret;
	ret = wait_while_at_work(fd, name, is_ours(peer.uid), timeout_ms);
	return ret < 0 ? ret : take_answer(fd, answer, out);
}

int ask_failed(int ret, const char *what, const char *whom, struct uft_err *err)
{
	switch (ret) {
	case -ENOTCONN:
		return err_set(err, ret, "cannot %s '%s': no utrail is recording into it", what,
			       whom);
	case -EPIPE:
		return err_set(err, ret,
			       "cannot %s '%s': its recorder gave no answer (it answers its own "
			       "user and root)",
			       what, whom);
	case -ETIMEDOUT:
		return err_set(err, ret,
			       "cannot %s '%s': its recorder gave no sign of life for two seconds; "
			       "it may be stopped",
			       what, whom);
	case -EPERM:
		return err_set(err, ret,
			       "cannot %s '%s': another user listens in the place of its recorder",
			       what, whom);
	}
	return err_set_errno(err, ret, "cannot %s '%s'", what, whom);
}

int ask_recorder(const char *dir, enum request_type type, int timeout_ms,
		 struct request_answer *answer)
{
	struct recorder_name name;
	int ret = ask_name_of_dir(dir, &name);

	return ret < 0 ? ret : ask_named(&name, type, NULL, timeout_ms, answer, NULL);
}

bool ask_is_recorded(const char *dir)
{
	struct request_answer answer;

	return ask_recorder(dir, REQUEST_PROGRESS, -1, &answer) == 0 && answer.error == 0;
}

/* The time that each recorder gets for its answer before the next recorder is asked. */
#define FIND_TIMEOUT_MS 1000

/* The flag of a listening socket, __SO_ACCEPTCON of linux/net.h. */
#define IS_LISTENING 0x10000U

/*
 * True for a line of /proc/net/unix about the listening socket of a recorder. '@' stands for the
 * NUL of the abstract namespace. The flags are checked, because sockets of connections have the
 * same name as the listening socket.
 */
static bool is_recorder_line(const char *line, struct recorder_name *name)
{
	const char *at = strstr(line, " @" REQUEST_NAME_PREFIX);
	size_t len = at ? strcspn(at + 2, "\n") : 0;
	unsigned flags = 0;

	if (!at || len >= sizeof(name->text) || sscanf(line, "%*s %*s %*s %x", &flags) != 1 ||
	    !(flags & IS_LISTENING))
		return false;
	memcpy(name->text, at + 2, len);
	name->text[len] = '\0';
	return true;
}

/*
 * Returns the real user of a process. If the user is unknown, returns (uid_t)-1, which is no user's
 * number.
 */
static uid_t user_of(pid_t pid)
{
	struct strbuf status cleanup_strbuf = { 0 };
	unsigned uid = (uid_t)-1;

	if (proc_status_read(pid, &status) == 0)
		sscanf(proc_status_field(&status, "Uid"), "%u", &uid);
	return uid;
}

/*
 * Lists the names of all possible recorders, each with its NUL. The list is complete before any
 * recorder is asked, because asking adds sockets to /proc/net/unix.
 */
static int list_recorders(struct strbuf *names)
{
	FILE *file cleanup_file = fopen("/proc/net/unix", "re");
	struct recorder_name name;
	char line[512];

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (is_recorder_line(line, &name))
			strbuf_list_add(names, name.text);
	}
	return strbuf_oom(names) ? -ENOMEM : 0;
}

int ask_name_of_pid(pid_t pid, struct recorder_name *name)
{
	struct strbuf names cleanup_strbuf = { 0 };
	struct strbuf words cleanup_strbuf = { 0 };
	int ret = list_recorders(&names);

	if (ret < 0)
		return ret;
	*name = (struct recorder_name){ .owner = user_of(pid) };
	strbuf_addf(&words, "%d", pid);
	strbuf_addch(&words, '\0');
	strbuf_list_each (&names, at) {
		strcpy(name->text, at);
		if (ask_once(name, REQUEST_HAS_PID, &words, FIND_TIMEOUT_MS, NULL) == 0)
			return 0;
	}
	return -ESRCH;
}

/*
 * Sends a single request. Does not ask for signs of life during the wait, because a recorder that
 * is about to end has no time for other answers.
 */
void ask_wait_for_end(const char *dir)
{
	struct recorder_name name;

	/*
	 * While the recorded program runs, the recorder answers, and the answer ends the wait.
	 * After the end of the program, the recorder does not answer. When the recorder ends, it
	 * closes the connection, which also ends the wait.
	 */
	if (ask_name_of_dir(dir, &name) == 0)
		ask_once(&name, REQUEST_IS_RUNNING, NULL, WAIT_FOR_END_MS, NULL);
}
