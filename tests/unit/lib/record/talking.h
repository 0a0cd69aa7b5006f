/* Conversations with a recorder, from the probe's side. */
#ifndef UTRAIL_TESTS_UNIT_TALKING_H
#define UTRAIL_TESTS_UNIT_TALKING_H

#include "tests/unit/lib/record/recorder.h"
#include "tests/lib/verdict.h"

#include <errno.h>
#include <sys/socket.h>

#include "utils/base/unix_name.h"

static inline int connect_to_recorder(const struct recorder *rec)
{
	struct sockaddr_un addr;
	const char *name = rec->channel.socket_name;
	socklen_t len = unix_name_address(&addr, name, strlen(name));
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, len), 0);
	return fd;
}

static inline void serve_all(struct recorder *rec)
{
	while (loop_serve(&rec->loop, 0) > 0)
		;
}

static inline void send_message(int fd, enum control_type type, void *message, size_t len)
{
	control_stamp(message, type, 0, len, 1);
	send(fd, message, len, MSG_NOSIGNAL);
}

static inline struct control_hello make_hello(const struct recorder *rec,
					      enum control_hello_kind kind)
{
	struct control_hello hello = {
		.pid = getpid(),
		.ppid = getppid(),
		.kind = kind,
	};

	control_stamp(&hello, CONTROL_HELLO, 0, sizeof(hello), 1);
	memcpy(hello.secret, rec->channel.secret, sizeof(hello.secret));
	return hello;
}

static inline void send_module(int fd, const char *path)
{
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + 64];
	} packet = { .m = { .start = 4096, .end = 8192, .has_text = 1 } };

	strcpy(packet.m.path, path);
	send_message(fd, CONTROL_MODULE, &packet, sizeof(packet.m) + strlen(path) + 1);
}

static inline void send_ready(int fd)
{
	struct control_ready ready;

	send_message(fd, CONTROL_READY, &ready, sizeof(ready));
}

/* Returns the type of a packet; 0 when no recorder sends such a packet. */
static inline int answer_type(const void *packet, size_t len)
{
	static const struct control_shape *const shapes[] = {
		&control_welcome_shape, &control_plan_shape,	  &control_set_plan_shape,
		&control_error_shape,	&control_status_is_shape, &control_declared_shape,
	};
	const struct control_header *h = packet;

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		if (control_check(shapes[i], packet, len) == CONTROL_TAKEN)
			return h->flags == CONTROL_ANSWER ? h->type : 0;
	}
	return 0;
}

static union {
	struct control_header h;
	struct control_welcome welcome;
	struct control_error error;
	struct control_status_is status;
	char bytes[CONTROL_MSG_MAX];
} last; /* the last answer */

/*
 * Returns the type of the answer; 0 when the recorder has hung up, -1 when there is no answer yet.
 * Descriptors in the answer are closed.
 */
static inline int take_answer(int fd, struct control_welcome *welcome)
{
	ssize_t len = recv(fd, &last, sizeof(last), MSG_DONTWAIT);

	if (len < 0)
		return errno == EAGAIN ? -1 : 0;

	int type = len ? answer_type(&last, len) : 0;

	if (type == CONTROL_WELCOME && welcome)
		*welcome = last.welcome;
	return type;
}

/* Hold a whole conversation: HELLO, a module, and READY. Returns the type of the answer. */
static inline int talk_once(struct recorder *rec, const struct control_hello *hello,
			    struct control_welcome *welcome)
{
	int fd = connect_to_recorder(rec);

	send(fd, hello, sizeof(*hello), 0);
	serve_all(rec);
	send_module(fd, "/bin/true");
	serve_all(rec);
	send_ready(fd);
	serve_all(rec);

	int type = take_answer(fd, welcome);

	close(fd);
	serve_all(rec);
	return type;
}

#endif
