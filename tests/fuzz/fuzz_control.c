/*
 * Fuzz target: what programs send to the recorder, over real sockets. The input is a list of packets: which of
 * four connections (and whether it is a new one), two bytes of length, the packet.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cmds/record/recorder.h"
#include "tests/fuzz/fuzz.h"
#include "utils/base/cleanup.h"

#define NR_CONNECTIONS 4
#define NEW_CONNECTION 4 /* a bit above the connection's number */

static int connect_to(const struct recorder *rec)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	size_t len = strlen(rec->socket_name);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(addr.sun_path + 1, rec->socket_name, len);
	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(connect(fd, (struct sockaddr *)&addr,
			   offsetof(struct sockaddr_un, sun_path) + 1 + len) == 0);
	return fd;
}

static void serve(struct recorder *rec)
{
	while (loop_serve(&rec->loop, 0) > 0)
		;
}

/* Session ids are random. "*" stands for the newest. */
static void name_session(const struct recorder *rec, struct control_hello *hello, size_t len)
{
	if (len == sizeof(*hello) && hello->sid[0] == '*' && rec->sessions)
		memcpy(hello->sid, rec->sessions->sid, SID_LEN);
}

/* Modules are files that the recorder opens: an input must not choose any but these. */
static void tame_module(struct control_module *m, size_t len)
{
	static const char allowed[] = "/bin/true";

	if (len <= sizeof(*m) ||
	    (len - sizeof(*m) == sizeof(allowed) && memcmp(m->path, allowed, sizeof(allowed)) == 0))
		return;
	m->path[0] = '?';
}

static void send_packet(const struct recorder *rec, int fd, struct fuzz_input *in)
{
	_Alignas(8) uint8_t packet[UINT16_MAX];
	size_t len;
	const uint8_t *bytes = fuzz_bytes(in, fuzz_u16(in), &len);

	memcpy(packet, bytes, len);
	name_session(rec, (struct control_hello *)packet, len);
	tame_module((struct control_module *)packet, len);
	/* The other side may have hung up. */
	send(fd, packet, len, MSG_NOSIGNAL);
}

/* The probe's part of the protocol: what it is told is well-formed. */
static void take_answers(int fd)
{
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

	int type = control_check(packet, len);

	FUZZ_CHECK(type == CONTROL_WELCOME || type == CONTROL_PLAN);
	FUZZ_CHECK(!(msg.msg_flags & MSG_CTRUNC));
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++)
			close(((int *)CMSG_DATA(c))[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct filters no_filters = { 0 };
	const struct watch_spec no_watch = { 0 };
	const struct event_rules no_events = { 0 };
	const struct record_settings settings = {
		.filters = &no_filters,
		.watch = &no_watch,
		.events = &no_events,
		.segment_bytes = RING_PAGE,
		.clock_id = CLOCK_MONOTONIC,
		.use_libcalls = true,
		.nest_libcalls = true,
		.size_filter = 16,
	};
	struct fuzz_input in = { data, size };
	struct recorder rec cleanup_recorder;
	int dir_fd cleanup_fd = open(fuzz_empty_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int connections[NR_CONNECTIONS] = { -1, -1, -1, -1 };

	FUZZ_CHECK(recorder_open(&rec, &settings, dir_fd, NULL) == 0);
	while (in.size) {
		uint8_t which = fuzz_u8(&in);
		int *fd = &connections[which % NR_CONNECTIONS];

		if (*fd >= 0 && which & NEW_CONNECTION) {
			close(*fd);
			*fd = -1;
		}
		if (*fd < 0)
			*fd = connect_to(&rec);
		send_packet(&rec, *fd, &in);
		serve(&rec);
		take_answers(*fd);
	}
	for (size_t i = 0; i < NR_CONNECTIONS; i++)
		cleanup_fd_fn(&connections[i]);
	serve(&rec);
	recorder_stop(&rec);
	return 0;
}
