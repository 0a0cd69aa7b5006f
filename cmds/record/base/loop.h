/* The events that the recorder's control thread waits for. Any module may add descriptors. */
#ifndef UTRAIL_CMDS_RECORD_BASE_LOOP_H
#define UTRAIL_CMDS_RECORD_BASE_LOOP_H

#include <stdint.h>
#include <sys/epoll.h>

#include "utils/base/err.h"

/*
 * A member of each object with a watched descriptor; container_of() leads to the object.
 *
 * @serve: called on the control thread when the descriptor is ready. May end any watching
 * @owner: for @serve
 */
struct served {
	void (*serve)(struct served *served, uint32_t epoll_events);
	void *owner;
};

#define LOOP_BATCH 64

/* @events: events of the last wait; those from @at to @nr are not served yet */
struct loop {
	int epoll_fd; /* -1 when not open */
	int at;
	int nr;
	struct epoll_event events[LOOP_BATCH];
};

int loop_open(struct loop *loop, struct uft_err *err);
void loop_close(struct loop *loop);

/* Serve @served whenever @fd can be read, or has come to its end. Returns 0 or negative errno. */
int loop_add(struct loop *loop, int fd, struct served *served);

/* Stop serving @served. Call it before @fd is closed; afterwards @served may be freed. */
void loop_remove(struct loop *loop, int fd, const struct served *served);

/* Stop serving @served, and close *@fd, which becomes -1. Does nothing when *@fd is negative. */
void loop_close_fd(struct loop *loop, int *fd, const struct served *served);

/*
 * Make a timer that ends every @period_ns nanoseconds (0: it must be set first), and serve it.
 * Returns its descriptor, or negative errno.
 */
int loop_add_timer(struct loop *loop, uint64_t period_ns, struct served *served);

/*
 * Wait for @timeout_ms at most (-1: no limit), and serve the ready descriptors. Returns their
 * number, 0 also after a signal handler, or negative errno.
 */
int loop_serve(struct loop *loop, int timeout_ms);

#endif
