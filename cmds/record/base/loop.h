/* The event loop of the recorder's control thread. Any module may add descriptors. */
#ifndef UTRAIL_CMDS_RECORD_BASE_LOOP_H
#define UTRAIL_CMDS_RECORD_BASE_LOOP_H

#include <stdint.h>
#include <sys/epoll.h>

#include "utils/base/err.h"

/*
 * Each object with a watched descriptor contains this struct. container_of() finds the object.
 *
 * @serve: a function that the control thread calls when the descriptor is ready. The function may
 *         call loop_remove() for any descriptor
 * @owner: data for @serve
 */
struct served {
	void (*serve)(struct served *served, uint32_t epoll_events);
	void *owner;
};

#define LOOP_BATCH 64

/* @events: the events of the last wait. The events from @at to @nr are not served yet */
struct loop {
	int epoll_fd; /* -1 when not open */
	int at;
	int nr;
	struct epoll_event events[LOOP_BATCH];
};

int loop_open(struct loop *loop, struct uft_err *err);
void loop_close(struct loop *loop);

/*
 * Add @fd to the loop. loop_serve() calls served.serve when @fd is readable, or has a hang-up or an
 * error. Returns 0 or a negative errno.
 */
int loop_add(struct loop *loop, int fd, struct served *served);

/* Stop serving @served. The caller may close @fd and free @served only after this call. */
void loop_remove(struct loop *loop, int fd, const struct served *served);

/* Stop serving @served, and close *@fd, which becomes -1. Does nothing when *@fd is negative. */
void loop_close_fd(struct loop *loop, int *fd, const struct served *served);

/*
 * Make a timer that expires every @period_ns nanoseconds, and serve it. With a period of 0, the
 * timer does not expire until the caller sets it. Returns the timer's descriptor, or a negative
 * errno.
 */
int loop_add_timer(struct loop *loop, uint64_t period_ns, struct served *served);

/*
 * Wait for @timeout_ms milliseconds at most (-1: no limit), and serve up to LOOP_BATCH ready
 * descriptors. Returns the number of ready descriptors, or a negative errno. If the time is over or
 * a signal handler has interrupted the wait, the number is 0.
 */
int loop_serve(struct loop *loop, int timeout_ms);

#endif
