/* One conversation with the recorder: connect, send packets, get the answer with its descriptors, close. */
#ifndef UTRAIL_LIBMCOUNT_CHANNEL_H
#define UTRAIL_LIBMCOUNT_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "utils/base/cleanup.h"
#include "utils/format/control.h"

/*
 * COLD or SLOW: plain system calls, no libc locks, no allocation, no cancellation point. Any
 * failure means "no recorder": the caller goes on without tracing. No call waits for longer than a few seconds.
 *
 * @fds: what the answer brought, -1 where nothing came; closed by channel_close()
 */
struct channel {
	int socket;
	int fds[CONTROL_FD_MAX];
	bool is_raised;		/* the limit on descriptors, for the time of this conversation */
	struct rlimit nr_files; /* what it was */
};

void channel_init(struct channel *ch);

/* Connect to the recorder at @address ("name:secret"), and see that it runs as our user or as root. */
bool channel_open(struct channel *ch, const char *address);

bool channel_send(struct channel *ch, const void *packet, size_t len);

/* Send READY and wait for the answer of type @type, exactly @len bytes. */
bool channel_finish(struct channel *ch, enum control_type type, void *answer, size_t len);

void channel_close(struct channel *ch);

#endif
