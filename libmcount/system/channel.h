/*
 * One conversation with the recorder: greet it, send messages, wait for answers and their
 * descriptors, close.
 */
#ifndef UTRAIL_LIBMCOUNT_CHANNEL_H
#define UTRAIL_LIBMCOUNT_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "utils/base/cleanup.h"
#include "utils/format/probe/control.h"

/*
 * COLD or SLOW: plain system calls, no libc locks, no allocation, no cancellation point. Any
 * failure means "no recorder": the caller goes on without tracing. No call waits for longer than a
 * few seconds, unless the recorder says again and again that it is at work.
 *
 * @seq: the number of the last message that was sent
 * @fds: descriptors of the answer, -1 where there is none; closed by channel_close()
 */
struct channel {
	int socket;
	uint32_t seq;
	int fds[CONTROL_FD_MAX];
	bool is_raised;		/* the limit on descriptors is raised for this conversation */
	struct rlimit nr_files; /* the limit on descriptors before it was raised */
};

void channel_init(struct channel *ch);

/*
 * Begin a conversation: connect to the recorder at probe.address, check that it runs as our user or
 * as root, and say HELLO.
 */
bool channel_greet(struct channel *ch, enum control_hello_kind kind);

/* Send @message, of @len bytes, with its header filled in here. */
bool channel_send(struct channel *ch, enum control_type type, void *message, size_t len);

/*
 * Wait for the answer to the last message, skipping messages that may be skipped. True when it has
 * the type @type. Its first @len bytes are stored in @answer, with all members that we know.
 */
bool channel_wait(struct channel *ch, enum control_type type, void *answer, size_t len);

/* True when a recorder listens at the known address. Nothing is sent to it. */
bool channel_is_answered(struct channel *ch);

/* Send READY and wait for its answer. */
bool channel_finish(struct channel *ch, enum control_type type, void *answer, size_t len);

void channel_close(struct channel *ch);

#endif
