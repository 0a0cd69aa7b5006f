/* One conversation with the recorder (see channel.h). */
#include "libmcount/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "utils/base/unix_name.h"

/* Long enough for a loaded machine, short enough that a stopped recorder does not stop the program for good. */
#define ANSWER_TIMEOUT_S 10

void channel_init(struct channel *ch)
{
	ch->socket = -1;
	ch->is_raised = false;
	for (int i = 0; i < CONTROL_FD_MAX; i++)
		ch->fds[i] = -1;
}

void channel_close(struct channel *ch)
{
	/* close(2) of libc is a cancellation point, the system call is not. */
	if (ch->socket >= 0)
		syscall(SYS_close, ch->socket);
	for (int i = 0; i < CONTROL_FD_MAX; i++) {
		if (ch->fds[i] >= 0)
			syscall(SYS_close, ch->fds[i]);
	}
	if (ch->is_raised)
		syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &ch->nr_files, NULL);
	channel_init(ch);
}

/*
 * A conversation takes a few descriptors for a moment. Where the program's limit has no room for them it is raised for that long, as
 * far as that is allowed; privileged programs may pass the hard limit, too.
 */
static bool raise_limit(struct channel *ch)
{
	struct rlimit more;

	if (ch->is_raised || syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &ch->nr_files) < 0)
		return false;
	more = ch->nr_files;
	more.rlim_cur += 1 + CONTROL_FD_MAX;
	if (more.rlim_max < more.rlim_cur)
		more.rlim_max = more.rlim_cur;
	ch->is_raised = syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &more, NULL) == 0;
	return ch->is_raised;
}

/* A socket, with room for what comes by it. */
static int open_socket(struct channel *ch)
{
	int fd = syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct rlimit limit;

	if (fd < 0 && errno == EMFILE && raise_limit(ch))
		fd = syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	else if (fd >= 0 && syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) == 0 &&
		 (rlim_t)fd + CONTROL_FD_MAX >= limit.rlim_cur)
		raise_limit(ch);
	return fd;
}

bool channel_open(struct channel *ch, const char *address)
{
	struct sockaddr_un addr;
	socklen_t addr_len = unix_name_address(&addr, address, strcspn(address, ":"));
	struct timeval timeout = { .tv_sec = ANSWER_TIMEOUT_S };
	struct ucred peer;
	socklen_t peer_len = sizeof(peer);

	if (!addr_len)
		return false;

	ch->socket = open_socket(ch);
	if (ch->socket < 0)
		return false;
	setsockopt(ch->socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(ch->socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (syscall(SYS_connect, ch->socket, &addr, addr_len) < 0)
		return false;
	return getsockopt(ch->socket, SOL_SOCKET, SO_PEERCRED, &peer, &peer_len) == 0 &&
	       (peer.uid == 0 || peer.uid == getuid() || peer.uid == geteuid());
}

bool channel_send(struct channel *ch, const void *packet, size_t len)
{
	long n;

	do {
		n = syscall(SYS_sendto, ch->socket, packet, len, MSG_NOSIGNAL, NULL, 0);
	} while (n < 0 && errno == EINTR);
	return n == (long)len;
}

static void take_descriptors(struct channel *ch, struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return;

	size_t nr = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < nr && i < CONTROL_FD_MAX; i++)
		memcpy(&ch->fds[i], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
}

bool channel_finish(struct channel *ch, enum control_type type, void *answer, size_t len)
{
	struct control_ready ready = { control_header(CONTROL_READY) };
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(CONTROL_FD_MAX * sizeof(int))];
	struct iovec iov = { answer, len };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space),
	};
	long n;

	if (!channel_send(ch, &ready, sizeof(ready)))
		return false;
	do {
		n = syscall(SYS_recvmsg, ch->socket, &msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return false;
	take_descriptors(ch, &msg);
	return n == (long)len && !(msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
	       control_check(answer, n) == (int)type;
}
