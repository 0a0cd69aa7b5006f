/* One conversation with the recorder: messages and answers. An answer may carry descriptors. */
#ifndef UTRAIL_LIBMCOUNT_CHANNEL_H
#define UTRAIL_LIBMCOUNT_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "utils/base/cleanup.h"
#include "utils/format/probe/control.h"

/*
 * COLD or SLOW. Conversations need only system calls: they take no lock of libc, allocate nothing,
 * and have no cancellation point. After any failure, the caller goes on as if there were no
 * recorder. A wait for an answer ends after ten seconds, or after up to 100 seconds if signals
 * interrupt the wait. While the recorder works on the answer, it sends CONTROL_WORKING. Each
 * CONTROL_WORKING prolongs the wait, but to at most about ten minutes in total.
 *
 * @seq: the number of the last message that was sent
 * @fds: descriptors of the answer, -1 where there is none; channel_close() closes them
 */
struct channel {
	int socket;
	uint32_t seq;
	int fds[CONTROL_FD_MAX];
	bool is_raised;		/* the limit on descriptors is raised for this conversation */
	struct rlimit nr_files; /* the limit on descriptors before it was raised */
	struct rlimit raised;	/* the raised limit */
};

void channel_init(struct channel *ch);

/*
 * Begin a conversation: connect to the recorder at probe.address, check that the recorder runs as
 * the user of this process or as root, and send HELLO.
 */
bool channel_greet(struct channel *ch, enum control_hello_kind kind);

/* Send @message, of @len bytes. Its header is filled in here. */
bool channel_send(struct channel *ch, enum control_type type, void *message, size_t len);

/*
 * Waits for the answer to the last message. Optional messages of unknown types are skipped
 * (CONTROL_OPTIONAL). Stores at most @len bytes of the answer in @answer. Returns false when the
 * answer is not of @type.
 */
bool channel_wait(struct channel *ch, enum control_type type, void *answer, size_t len);

/*
 * True when a recorder that runs as the user of this process or as root listens at probe.address.
 * This function connects to the recorder, but sends no message.
 */
bool channel_has_recorder(void);

/*
 * True when no recorder listens at probe.address any more in the network namespace of this process.
 * If the process has left the network namespace of the recorder, the result is also true while the
 * recorder lives. If the check is impossible, for example for lack of descriptors, the result is
 * false. No message is sent, and the function does not wait.
 */
bool channel_recorder_has_ended(void);

/* Send READY. Then wait for the answer to READY, as channel_wait() does. */
bool channel_finish(struct channel *ch, enum control_type type, void *answer, size_t len);

void channel_close(struct channel *ch);

#endif
