/* Asking the recorder that works on a data directory (see ask.h). */
#include "cmds/ask.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/base/unix_name.h"

#define WAIT_FOR_END_MS 10000

static int connect_recorder(const char *dir)
{
	struct sockaddr_un addr;
	char name[REQUEST_NAME_SIZE];
	struct stat st;

	if (stat(dir, &st) < 0)
		return -errno;
	request_name(name, &st);

	socklen_t addr_len = unix_name_address(&addr, name, strlen(name));
	int fd cleanup_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&addr, addr_len) < 0)
		return errno == ECONNREFUSED ? -ENOTCONN : -errno;
	return take_fd(&fd);
}

int ask_recorder(const char *dir, enum request_type type, int timeout_ms,
		 struct request_answer *answer)
{
	struct request request = { REQUEST_MAGIC, REQUEST_VERSION, type, 0 };
	int fd cleanup_fd = connect_recorder(dir);
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		return fd;
	if (send(fd, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request))
		return -EPIPE;
	if (poll(&wait, 1, timeout_ms) == 0)
		return -ETIMEDOUT;
	if (recv(fd, answer, sizeof(*answer), 0) != sizeof(*answer) ||
	    answer->magic != REQUEST_MAGIC)
		return -EPIPE;
	return 0;
}

void ask_wait_for_end(const char *dir)
{
	struct request_answer answer;

	/* Only a recorder whose program runs answers; the others just end. */
	ask_recorder(dir, REQUEST_IS_RUNNING, WAIT_FOR_END_MS, &answer);
}
