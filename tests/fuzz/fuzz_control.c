/*
 * Fuzz target: conversations of several processes with the recorder, over real sockets. The input
 * is a list of steps: which process sends which message. Most messages are well-formed, so that the
 * code after the checks of their bytes is reached. Messages in a wrong order, lies, repetitions and
 * early ends occur, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <signal.h>
#include <unistd.h>

#include "cmds/record/run/recorder.h"
#include "cmds/record/store/dir.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/verdict.h"
#include "utils/base/cleanup.h"

#define NR_PEERS       3
#define NR_CONNECTIONS 6

/*
 * Processes that connect when they are told to. Each passes its connection to the target, which
 * then speaks for it.
 */
struct other {
	pid_t pid;
	int fd;
};

static struct other others[NR_PEERS];

static void send_fd(int to, int fd)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { "", 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = space,
			      .msg_controllen = sizeof(space) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	if (sendmsg(to, &msg, MSG_NOSIGNAL) < 0)
		_exit(1);
}

static int receive_fd(int from)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof(int))] = { 0 };
	char byte;
	int fd;
	ssize_t len;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = space,
			      .msg_controllen = sizeof(space) };

	/* The timer of libFuzzer interrupts system calls. */
	while ((len = recvmsg(from, &msg, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	FUZZ_CHECK(len == 1 && CMSG_FIRSTHDR(&msg));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	/*
	 * The other process has closed its copy of the socket, so the connection ends when the
	 * target closes its own.
	 */
	while ((len = recv(from, &byte, 1, 0)) < 0 && errno == EINTR)
		;
	FUZZ_CHECK(len == 1);
	return fd;
}

static void be_other(int fd)
{
	char name[CONTROL_NAME_SIZE] = "";
	ssize_t len;

	while ((len = recv(fd, name, sizeof(name), 0)) > 0) {
		struct sockaddr_un addr = { .sun_family = AF_UNIX };
		int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		memcpy(addr.sun_path + 1, name, len);
		if (s < 0 || connect(s, (struct sockaddr *)&addr,
				     offsetof(struct sockaddr_un, sun_path) + 1 + len) < 0)
			_exit(1);
		send_fd(fd, s);
		close(s);
		if (send(fd, "", 1, MSG_NOSIGNAL) != 1)
			_exit(1);
	}
	_exit(0);
}

static void make_others(void)
{
	for (size_t i = 0; i < NR_PEERS && !others[i].pid; i++) {
		int fds[2];

		FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
		others[i] = (struct other){ fork(), fds[0] };
		FUZZ_CHECK(others[i].pid >= 0);
		if (others[i].pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(fds[0]);
			be_other(fds[1]);
		}
		close(fds[1]);
	}
}

static int connect_as(const struct recorder *rec, const struct other *other)
{
	FUZZ_CHECK(send(other->fd, rec->channel.socket_name, strlen(rec->channel.socket_name), 0) >
		   0);
	return receive_fd(other->fd);
}

static void serve(struct recorder *rec)
{
	while (loop_serve(&rec->loop, 0) > 0)
		;
}

static struct process *nth_process(const struct recorder *rec, unsigned n)
{
	struct process *p = rec->processes.first;

	for (; p && n; n--)
		p = p->next;
	return p;
}

static uint32_t seq; /* the number of the last message */

static void say(int fd, unsigned type, uint32_t flags, void *message, size_t len)
{
	control_stamp(message, type, flags, len, ++seq);
	send(fd, message, len, MSG_NOSIGNAL);
}

/*
 * @how: flags 1: a wrong secret, 2: another's pid, 4: an unknown token. Higher bits choose the
 * process whose token is sent
 */
static void say_hello(const struct recorder *rec, int fd, const struct other *other, uint8_t kind,
		      uint8_t how)
{
	const struct process *owner = nth_process(rec, how >> 3);
	struct control_hello hello = {
		.pid = other->pid + (how & 2 ? 1 : 0),
		.ppid = owner ? owner->pid : 1,
		.kind = kind % (CONTROL_NAMES + 1),
		.time_ns = 5,
	};

	memcpy(hello.secret, rec->channel.secret, sizeof(hello.secret));
	hello.secret[how % sizeof(hello.secret)] ^= how & 1;
	memset(hello.token, how, sizeof(hello.token));
	if (owner && !(how & 4))
		memcpy(hello.token, owner->token, sizeof(hello.token));
	say(fd, CONTROL_HELLO, 0, &hello, sizeof(hello));
}

static void say_module(int fd, uint8_t which, uint16_t place)
{
	static const char *const paths[] = { "/bin/true",	"relative", "/nowhere/x.so",
					     "/dev/zero",	"",	    "/",
					     "/proc/self/fd/0", "[stack]\n" };
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + 64];
	} packet = { .m = {
			     .start = place * 4096ULL,
			     .end = (place + (which >> 4)) * 4096ULL,
			     .has_text = which >> 3 & 1,
		     } };

	strcpy(packet.m.path, paths[which % ARRAY_SIZE(paths)]);
	say(fd, CONTROL_MODULE, 0, &packet, sizeof(packet.m) + strlen(packet.m.path) + 1);
}

static void say_crash(int fd, const struct other *other, uint8_t how)
{
	struct control_crash crash = {
		.pid = how & 1 ? 1 : other->pid,
		.tid = other->pid,
		.signal = how,
		.nr_frames = how & 2 ? CONTROL_CRASH_FRAMES + 1 : 2,
	};

	say(fd, CONTROL_CRASH, 0, &crash, sizeof(crash));
}

/* Declares one of a few events: with or without a common format, or with too few texts. */
static void say_declare(int fd, uint8_t which)
{
	static const char *const texts[] = { "A\0%d", "B B:\n\0", "A\0%d\0%L", "\0%d" };
	static const size_t lens[] = { 5, 7, 8, 4 };
	union {
		struct control_declare m;
		char bytes[sizeof(struct control_declare) + 8];
	} packet = { .m = { .has_common = which >> 2 & 3 } };

	memcpy(packet.m.texts, texts[which & 3], lens[which & 3]);
	say(fd, CONTROL_DECLARE, 0, &packet, sizeof(packet.m) + lens[which & 3]);
}

/*
 * Declares a function of a language without addresses. Most functions have the two texts that they
 * need, and the filters know some of these. Other functions have too few or too many texts. @how:
 * bits 0 and 1 are the flags of the function; the bits above them give its parameters and its line
 */
static void say_callable(int fd, uint8_t which, uint8_t how)
{
	static const struct {
		const char *texts;
		size_t len;
	} known[] = {
		{ "f\0a.py", 7 }, { "in\0a.py", 8 },	   { "out\0", 5 }, { "a\nb\xff\0\n", 7 },
		{ "\0a.py", 6 },  { "f\0a.py\0more", 12 }, { "f", 2 },	   { "f\0a.py", 6 },
	};
	const __typeof__(known[0]) *k = &known[which % ARRAY_SIZE(known)];
	union {
		struct control_callable m;
		char bytes[sizeof(struct control_callable) + 16];
	} packet = { .m = {
			     .line = (how >> 2) * 0x1010101U,
			     .is_native = how & 1,
			     .wants_plan = how & 2,
			     .nr_args = (how >> 2) * 0x2010101U,
		     } };

	memcpy(packet.m.texts, k->texts, k->len);
	say(fd, CONTROL_CALLABLE, 0, &packet, sizeof(packet.m) + k->len);
}

static void say_anything(int fd, struct fuzz_input *in)
{
	_Alignas(8) uint8_t packet[UINT16_MAX];
	size_t len;
	const uint8_t *bytes = fuzz_bytes(in, fuzz_u16(in), &len);

	memcpy(packet, bytes, len);
	/*
	 * The recorder opens the file of a module: an input must not choose any file but this
	 * program's.
	 */
	if (control_check(&control_module_shape, packet, len) == CONTROL_TAKEN)
		((struct control_module *)packet)->path[0] = '?';
	send(fd, packet, len, MSG_NOSIGNAL);
}

/* Sends a whole message of any type, with the length that it states. */
static void say_message(int fd, struct fuzz_input *in)
{
	_Alignas(8) uint8_t packet[sizeof(struct control_header) + UINT8_MAX] = { 0 };
	unsigned type = fuzz_u8(in);
	uint32_t flags = fuzz_u8(in);
	size_t len;
	const uint8_t *bytes = fuzz_bytes(in, fuzz_u8(in), &len);

	memcpy(packet + sizeof(struct control_header), bytes, len);
	len += sizeof(struct control_header);
	if (type == CONTROL_MODULE && len > sizeof(struct control_module))
		((struct control_module *)packet)->path[0] = '?';
	say(fd, type, flags, packet, len);
}

static bool is_any(const struct control_shape *const *shapes, const void *packet, size_t len)
{
	for (; *shapes; shapes++) {
		if (control_check(*shapes, packet, len) == CONTROL_TAKEN)
			return true;
	}
	return false;
}

/* Reads the recorder's answers as a probe does, and checks that they are well-formed. */
static void take_answers(int fd)
{
	static const struct control_shape *const shapes[] = {
		&control_welcome_shape,	    &control_plan_shape,
		&control_error_shape,	    &control_status_is_shape,
		&control_working_shape,	    &control_declared_shape,
		&control_callable_is_shape, NULL,
	};
	_Alignas(8) char packet[CONTROL_MSG_MAX];
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(CONTROL_FD_MAX * sizeof(int))];
	struct iovec iov = { packet, sizeof(packet) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = space,
			      .msg_controllen = sizeof(space) };
	ssize_t len = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);

	if (len <= 0)
		return;

	FUZZ_CHECK(is_any(shapes, packet, len));
	FUZZ_CHECK(((struct control_header *)packet)->flags == CONTROL_ANSWER);
	FUZZ_CHECK(!(msg.msg_flags & MSG_CTRUNC));
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++)
			close(((int *)CMSG_DATA(c))[i]);
	}
}

static unsigned count(const struct talk_list *list)
{
	return list->nr;
}

/* Check that only the peers are known as processes, and that no ended process is counted. */
static void check(const struct recorder *rec)
{
	for (const struct process *p = rec->processes.first; p; p = p->next) {
		bool is_ours = false;

		for (size_t i = 0; i < NR_PEERS; i++)
			is_ours |= p->os_pid == others[i].pid;
		FUZZ_CHECK(is_ours && p->pid == p->os_pid && p->session);
		FUZZ_CHECK(!p->parent || p->parent->session == p->session);
	}
	FUZZ_CHECK(count(&rec->channel.talks.strangers) + count(&rec->channel.talks.believed) <=
		   NR_CONNECTIONS);
	FUZZ_CHECK(rec->channel.talks.module_bytes == 0 || count(&rec->channel.talks.believed));
}

enum step {
	STEP_HELLO,
	STEP_MODULE,
	STEP_READY,
	STEP_CRASH,
	STEP_CLOSE,
	STEP_ANYTHING,
	STEP_END,
	STEP_ANNOUNCE,
	STEP_MESSAGE,
	STEP_STATUS,
	STEP_DECLARE,
	STEP_CALLABLE,
	NR_STEPS
};

static void take_step(struct recorder *rec, int *fd, const struct other *other, enum step step,
		      struct fuzz_input *in)
{
	struct control_ready ready;
	struct control_status status;
	uint8_t kind;
	struct process *proc;

	switch (step) {
	case STEP_HELLO:
		kind = fuzz_u8(in);
		say_hello(rec, *fd, other, kind, fuzz_u8(in));
		break;
	case STEP_MODULE:
		kind = fuzz_u8(in);
		say_module(*fd, kind, fuzz_u16(in));
		break;
	case STEP_READY:
		say(*fd, CONTROL_READY, 0, &ready, sizeof(ready));
		break;
	case STEP_CRASH:
		say_crash(*fd, other, fuzz_u8(in));
		break;
	case STEP_CLOSE:
		close(*fd);
		*fd = -1;
		break;
	case STEP_ANYTHING:
		say_anything(*fd, in);
		break;
	case STEP_END:
		proc = nth_process(rec, fuzz_u8(in));
		if (proc)
			process_retire(&rec->processes, proc);
		break;
	case STEP_ANNOUNCE:
		proc = nth_process(rec, fuzz_u8(in));
		if (proc)
			tasks_announce(&rec->tasks, proc, proc->pid + fuzz_u8(in), 7);
		break;
	case STEP_MESSAGE:
		say_message(*fd, in);
		break;
	case STEP_STATUS:
		say(*fd, CONTROL_STATUS, 0, &status, sizeof(status));
		break;
	case STEP_DECLARE:
		say_declare(*fd, fuzz_u8(in));
		break;
	case STEP_CALLABLE:
		kind = fuzz_u8(in);
		say_callable(*fd, kind, fuzz_u8(in));
		break;
	case NR_STEPS:
		break;
	}
}

/* Let one function in by its name, and leave another one out. */
static void add_filters(struct filters *filters)
{
	struct uft_err err = { 0 };

	FUZZ_CHECK(filters_add(filters, SPEC_FILTER, MATCH_REGEX, "^in;!^out", &err) == 0);
	FUZZ_CHECK(filters_prepare(filters, &err) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct filters filters cleanup_filters = { 0 };
	const struct watch_spec no_watch = { 0 };
	const struct event_rules no_events = { 0 };
	struct patch_rules no_patches = { 0 };
	struct fuzz_input in = { data, size };
	uint8_t options = fuzz_u8(&in);
	const struct record_settings settings = {
		.filters = &filters,
		.watch = &no_watch,
		.events = &no_events,
		.patches = &no_patches,
		.segment_bytes = RING_PAGE,
		.clock_id = CLOCK_MONOTONIC,
		.use_libcalls = true,
		.nest_libcalls = true,
		.size_filter = 16,
		.reports_crashes = options & 1,
	};
	struct store_dir dir cleanup(store_dir_close) = STORE_DIR_CLOSED;
	struct recorder rec cleanup_recorder; /* it writes into @dir until it is closed */
	int connections[NR_CONNECTIONS] = { -1, -1, -1, -1, -1, -1 };

	if (options & 2)
		add_filters(&filters);
	make_others();
	store_dir_use(&dir, open(fuzz_empty_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	FUZZ_CHECK(recorder_open(&rec, &settings, &dir.store, NULL) == 0);
	while (in.size) {
		uint8_t which = fuzz_u8(&in);
		int *fd = &connections[which % NR_CONNECTIONS];
		const struct other *other = &others[which % NR_PEERS];

		if (*fd < 0)
			*fd = connect_as(&rec, other);
		take_step(&rec, fd, other, which / NR_CONNECTIONS % NR_STEPS, &in);
		serve(&rec);
		if (*fd >= 0)
			take_answers(*fd);
		check(&rec);
	}
	for (size_t i = 0; i < NR_CONNECTIONS; i++)
		cleanup_fd_fn(&connections[i]);
	serve(&rec);
	FUZZ_CHECK(rec.channel.talks.module_bytes == 0);
	recorder_stop(&rec);
	return 0;
}
