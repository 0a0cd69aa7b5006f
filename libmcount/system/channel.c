/* One conversation with the recorder (see channel.h). */
#include "libmcount/system/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "libmcount/hot/probe.h"
#include "libmcount/system/own_syscall.h"
#include "utils/base/compiler.h"
#include "utils/base/unix_name.h"

/*
 * The time to wait for an answer. It is long enough for a loaded machine, and short enough that a
 * stopped recorder does not block the program for good.
 */
#define ANSWER_TIMEOUT_S 10

/* The maximum time to wait for an answer while the recorder sends CONTROL_WORKING. */
#define WORKING_MAX_S 600

/*
 * If a signal interrupts a wait, at most STEP_MAX_NS of the wait count towards ANSWER_TIMEOUT_S. A
 * longer wait does not prove that the recorder is stuck: the program and the recorder may have been
 * stopped together (Ctrl-Z).
 */
#define STEP_MAX_NS 1000000000ULL

void channel_init(struct channel *ch)
{
	ch->socket = -1;
	ch->seq = 0;
	ch->is_raised = false;
	for (int i = 0; i < CONTROL_FD_MAX; i++)
		ch->fds[i] = -1;
}

static void drop_descriptors(struct channel *ch)
{
	for (int i = 0; i < CONTROL_FD_MAX; i++) {
		if (ch->fds[i] >= 0)
			own_syscall(SYS_close, ch->fds[i]);
		ch->fds[i] = -1;
	}
}

/*
 * Undoes raise_limit(): restores the limit of open files. If the program has set another limit
 * after raise_limit(), the program's limit stays.
 */
static void lower_limit(const struct channel *ch)
{
	struct rlimit now;

	if (own_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &now) == 0 &&
	    now.rlim_cur == ch->raised.rlim_cur && now.rlim_max == ch->raised.rlim_max)
		own_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &ch->nr_files, NULL);
}

void channel_close(struct channel *ch)
{
	/* The system call is made directly, since libc's close() is a cancellation point. */
	if (ch->socket >= 0)
		own_syscall(SYS_close, ch->socket);
	drop_descriptors(ch);
	if (ch->is_raised)
		lower_limit(ch);
	channel_init(ch);
}

/*
 * Raises the program's soft limit of descriptors and, if necessary, the hard limit. channel_close()
 * restores the limits when the conversation ends. Returns false if an earlier call has raised the
 * limits for @ch, or on an error. For example, the program may lack the privilege to raise the hard
 * limit.
 */
static bool raise_limit(struct channel *ch)
{
	struct rlimit more;

	if (ch->is_raised || own_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &ch->nr_files) < 0)
		return false;
	more = ch->nr_files;
	more.rlim_cur += 1 + CONTROL_FD_MAX;
	if (more.rlim_max < more.rlim_cur)
		more.rlim_max = more.rlim_cur;
	ch->raised = more;
	ch->is_raised = own_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &more, NULL) == 0;
	return ch->is_raised;
}

/*
 * Opens a socket. Raises the limit of descriptors if it leaves no room for the socket and for the
 * descriptors that come with answers of the recorder.
 */
static int open_socket(struct channel *ch)
{
	int fd = own_syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct rlimit limit;

	if (fd < 0 && errno == EMFILE && raise_limit(ch))
		fd = own_syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	else if (fd >= 0 && own_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) == 0 &&
		 (rlim_t)fd + CONTROL_FD_MAX >= limit.rlim_cur)
		raise_limit(ch);
	return fd;
}

static bool connect_to(struct channel *ch, const char *address)
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
	if (own_syscall(SYS_connect, ch->socket, &addr, addr_len) < 0)
		return false;
	if (getsockopt(ch->socket, SOL_SOCKET, SO_PEERCRED, &peer, &peer_len) < 0 ||
	    (peer.uid != 0 && peer.uid != getuid() && peer.uid != geteuid()))
		return false;
	probe.recorder_here = peer.pid;
	return true;
}

bool channel_has_recorder(void)
{
	struct channel ch cleanup(channel_close);

	channel_init(&ch);
	return connect_to(&ch, probe.address);
}

bool channel_recorder_has_ended(void)
{
	struct sockaddr_un addr;
	socklen_t len = unix_name_address(&addr, probe.address, strcspn(probe.address, ":"));
	/* A blocking connect(2) would wait for room in the queue of a stopped recorder. */
	int fd = len ? own_syscall(SYS_socket, AF_UNIX,
				   SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)
		     : -1;
	bool has_ended = fd >= 0 && own_syscall(SYS_connect, fd, &addr, len) < 0 &&
			 errno == ECONNREFUSED;

	if (fd >= 0)
		own_syscall(SYS_close, fd);
	return has_ended;
}

bool channel_greet(struct channel *ch, enum control_hello_kind kind)
{
	struct control_hello hello = {
		.pid = probe.pid,
		.ppid = getppid(),
		.kind = kind,
	};

	memcpy(hello.secret, probe.secret, sizeof(hello.secret));
	memcpy(hello.token, probe.token, sizeof(hello.token));
	if (kind == CONTROL_FORK) {
		hello.ppid = probe.parent_pid;
		hello.time_ns = probe.fork_ns;
	}
	return connect_to(ch, probe.address) &&
	       channel_send(ch, CONTROL_HELLO, &hello, sizeof(hello));
}

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	own_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static long now_s(void)
{
	return now_ns() / 1000000000ULL;
}

/*
 * The total time of the waits for one packet. When a signal has interrupted a wait, the next wait
 * may last for the socket's whole time limit. Without this struct, signals from a timer of the
 * program could prolong the total time for ever.
 *
 * @begin_ns: the beginning of the present wait
 * @waited_ns: the time of the earlier waits
 */
struct patience {
	uint64_t begin_ns;
	uint64_t waited_ns;
};

/* Called when a signal has interrupted a wait. True when the wait may be repeated. */
static bool may_wait_again(struct patience *patience)
{
	uint64_t end_ns = now_ns();

	patience->waited_ns += MIN(end_ns - patience->begin_ns, STEP_MAX_NS);
	patience->begin_ns = end_ns;
	return patience->waited_ns < ANSWER_TIMEOUT_S * 1000000000ULL;
}

static bool send_packet(struct channel *ch, const void *packet, size_t len)
{
	struct patience patience = { .begin_ns = now_ns() };
	long n;

	do {
		n = own_syscall(SYS_sendto, ch->socket, packet, len, MSG_NOSIGNAL, NULL, 0);
	} while (n < 0 && errno == EINTR && may_wait_again(&patience));
	return n == (long)len;
}

bool channel_send(struct channel *ch, enum control_type type, void *message, size_t len)
{
	control_stamp(message, type, 0, len, ++ch->seq);
	return send_packet(ch, message, len);
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

/*
 * @seq, @type: of the expected answer
 * @has_come: the expected answer has come
 * @is_worked_at: the recorder says that it is working on the answer
 */
struct wait {
	uint32_t seq;
	enum control_type type;
	bool has_come;
	bool is_worked_at;
};

#define WAITING 1U

static unsigned take_answer(void *context, const void *message, size_t len)
{
	struct wait *wait = context;
	const struct control_header *h = message;

	wait->has_come = (h->flags & CONTROL_ANSWER) && h->seq == wait->seq &&
			 h->type == wait->type;
	return CONTROL_OVER;
}

static unsigned take_working(void *context, const void *message, size_t len)
{
	struct wait *wait = context;
	const struct control_header *h = message;

	wait->is_worked_at = h->seq == wait->seq;
	return WAITING;
}

/* The recorder refuses this process, and the program continues without tracing. */
static unsigned take_error(void *context, const void *message, size_t len)
{
	return CONTROL_OVER;
}

static const struct control_row rows[] = {
	{ &control_welcome_shape, CONTROL_IN(WAITING), take_answer },
	{ &control_plan_shape, CONTROL_IN(WAITING), take_answer },
	{ &control_set_plan_shape, CONTROL_IN(WAITING), take_answer },
	{ &control_declared_shape, CONTROL_IN(WAITING), take_answer },
	{ &control_callable_is_shape, CONTROL_IN(WAITING), take_answer },
	{ &control_status_is_shape, CONTROL_IN(WAITING), take_answer },
	{ &control_error_shape, CONTROL_IN(WAITING), take_error },
	{ &control_working_shape, CONTROL_IN(WAITING), take_working },
};
static const struct control_table table = { rows, ARRAY_SIZE(rows) };

/*
 * Receives a packet. Returns the length of the whole packet, which may exceed @size. Returns 0 when
 * no packet came, or when there was no room for its descriptors.
 */
static size_t receive(struct channel *ch, void *packet, size_t size)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(CONTROL_FD_MAX * sizeof(int))];
	struct iovec iov = { packet, size };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space),
	};
	struct patience patience = { .begin_ns = now_ns() };
	long n;

	/*
	 * When the recorder closes the connection before it has read all messages, ECONNRESET is
	 * reported once. After that, the recorder's last message can be received.
	 */
	do {
		n = own_syscall(SYS_recvmsg, ch->socket, &msg, MSG_CMSG_CLOEXEC | MSG_TRUNC);
	} while (n < 0 && (errno == ECONNRESET || (errno == EINTR && may_wait_again(&patience))));
	if (n < 0)
		return 0;
	take_descriptors(ch, &msg);
	return msg.msg_flags & MSG_CTRUNC ? 0 : n;
}

/*
 * Tells the recorder that the probe does not accept @packet, a message of the recorder. After that,
 * the conversation is over.
 */
static void refuse_packet(struct channel *ch, const void *packet, size_t len,
			  enum control_verdict verdict)
{
	const struct control_header *h = packet;

	if (len < sizeof(*h) || h->type == CONTROL_ERROR || verdict == CONTROL_OTHER_VERSION)
		return;

	struct control_error error = control_error_about(packet, verdict);

	send_packet(ch, &error, sizeof(error));
}

bool channel_wait(struct channel *ch, enum control_type type, void *answer, size_t len)
{
	struct wait wait = { .seq = ch->seq, .type = type };
	long begin_s = now_s();
	/* the time of the first skipped message after the newest CONTROL_WORKING; 0: none */
	long first_s = 0;
	unsigned state = WAITING;

	while (state == WAITING) {
		wait.is_worked_at = false;

		size_t n = receive(ch, answer, len);
		enum control_verdict verdict = control_take(&table, &state, &wait, answer, n);

		if (verdict == CONTROL_TAKEN && state != WAITING)
			break;
		if (verdict != CONTROL_SKIPPED && verdict != CONTROL_TAKEN) {
			refuse_packet(ch, answer, n, verdict);
			return false;
		}
		drop_descriptors(ch);
		if (wait.is_worked_at)
			first_s = 0;
		else if (!first_s)
			first_s = now_s();
		else if (now_s() - first_s >= ANSWER_TIMEOUT_S)
			return false;
		if (now_s() - begin_s >= WORKING_MAX_S)
			return false;
	}
	return wait.has_come;
}

bool channel_finish(struct channel *ch, enum control_type type, void *answer, size_t len)
{
	struct control_ready ready;

	return channel_send(ch, CONTROL_READY, &ready, sizeof(ready)) &&
	       channel_wait(ch, type, answer, len);
}
