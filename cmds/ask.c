/* Asking the recorder that works on a data directory (see ask.h). */
#include "cmds/ask.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/unix_name.h"

#define WAIT_FOR_END_MS 10000

int ask_name_of_dir(const char *dir, struct recorder_name *name)
{
	struct stat st;

	if (stat(dir, &st) < 0)
		return -errno;
	request_name(name->text, &st);
	return 0;
}

/* Anybody may listen under any name. Root has nothing to fear from what others answer. */
static bool is_trusted(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       (peer.uid == 0 || peer.uid == geteuid() || geteuid() == 0);
}

static int connect_recorder(const struct recorder_name *name)
{
	struct sockaddr_un addr;
	socklen_t addr_len = unix_name_address(&addr, name->text, strlen(name->text));
	int fd cleanup_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&addr, addr_len) < 0)
		return errno == ECONNREFUSED ? -ENOTCONN : -errno;
	return is_trusted(fd) ? take_fd(&fd) : -EPERM;
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
	static char packet[sizeof(struct request_answer) + REQUEST_TEXT_MAX];
	ssize_t len = recv(fd, packet, sizeof(packet), 0);

	if (len < (ssize_t)sizeof(*answer))
		return -EPIPE;
	memcpy(answer, packet, sizeof(*answer));
	if (out)
		strbuf_add(out, packet + sizeof(*answer), len - sizeof(*answer));
	return answer->magic == REQUEST_MAGIC ? 0 : -EPIPE;
}

int ask_named(const struct recorder_name *name, enum request_type type, const struct strbuf *words,
	      int timeout_ms, struct request_answer *answer, struct strbuf *out)
{
	int fd cleanup_fd = connect_recorder(name);
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	int ret = fd < 0 ? fd : send_request(fd, type, words);

	if (ret < 0)
		return ret;
	if (poll(&wait, 1, timeout_ms) == 0)
		return -ETIMEDOUT;
	return take_answer(fd, answer, out);
}

int ask_recorder(const char *dir, enum request_type type, int timeout_ms,
		 struct request_answer *answer)
{
	struct recorder_name name;
	int ret = ask_name_of_dir(dir, &name);

	return ret < 0 ? ret : ask_named(&name, type, NULL, timeout_ms, answer, NULL);
}

/* A recorder that is so busy is not the one that somebody wants to speak to now. */
#define FIND_TIMEOUT_MS 1000

/* Each line of /proc/net/unix ends in a name; '@' stands for the NUL of the abstract name space. */
static bool is_recorder_line(const char *line, struct recorder_name *name)
{
	const char *at = strstr(line, " @" REQUEST_NAME_PREFIX);
	size_t len = at ? strcspn(at + 2, "\n") : 0;

	if (!at || len >= sizeof(name->text))
		return false;
	memcpy(name->text, at + 2, len);
	name->text[len] = '\0';
	return true;
}

int ask_name_of_pid(pid_t pid, struct recorder_name *name)
{
	FILE *file = fopen("/proc/net/unix", "re");
	struct strbuf words cleanup_strbuf = { 0 };
	struct request_answer answer;
	char line[512];
	bool is_found = false;

	if (!file)
		return -errno;
	strbuf_addf(&words, "%d", pid);
	strbuf_addch(&words, '\0');
	while (!is_found && fgets(line, sizeof(line), file))
		is_found = is_recorder_line(line, name) &&
			   ask_named(name, REQUEST_HAS_PID, &words, FIND_TIMEOUT_MS, &answer,
				     NULL) == 0 &&
			   answer.error == 0;
	fclose(file);
	return is_found ? 0 : -ESRCH;
}

void ask_wait_for_end(const char *dir)
{
	struct request_answer answer;

	/* Only a recorder whose program runs answers; the others just end. */
	ask_recorder(dir, REQUEST_IS_RUNNING, WAIT_FOR_END_MS, &answer);
}
