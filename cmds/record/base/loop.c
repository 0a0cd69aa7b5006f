/* The recorder's event loop (see loop.h). */
#include "cmds/record/base/loop.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

int loop_open(struct loop *loop, struct uft_err *err)
{
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		return err_set_errno(err, -errno, "cannot create an epoll instance");
	return 0;
}

void loop_close(struct loop *loop)
{
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	loop->epoll_fd = -1;
}

int loop_add(struct loop *loop, int fd, struct served *served)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = served };

	return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

void loop_remove(struct loop *loop, int fd, const struct served *served)
{
	epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	/*
	 * Drop the events of @served that were reported but are not served yet. The caller may free
	 * @served before the loop comes to these events.
	 */
	for (int i = loop->at; i < loop->nr; i++) {
		if (loop->events[i].data.ptr == served)
			loop->events[i].data.ptr = NULL;
	}
}

void loop_close_fd(struct loop *loop, int *fd, const struct served *served)
{
	if (*fd < 0)
		return;
	loop_remove(loop, *fd, served);
	close(*fd);
	*fd = -1;
}

int loop_add_timer(struct loop *loop, uint64_t period_ns, struct served *served)
{
	const struct timespec period = { period_ns / 1000000000, period_ns % 1000000000 };
	const struct itimerspec timer = { period, period };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	int ret = fd < 0 || timerfd_settime(fd, 0, &timer, NULL) < 0 ? -errno
								     : loop_add(loop, fd, served);

	if (ret == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return ret;
}

int loop_serve(struct loop *loop, int timeout_ms)
{
	int nr = epoll_wait(loop->epoll_fd, loop->events, LOOP_BATCH, timeout_ms);

	if (nr < 0)
		return errno == EINTR ? 0 : -errno;
	loop->nr = nr;
	for (loop->at = 0; loop->at < loop->nr;) {
		const struct epoll_event event = loop->events[loop->at++];
		struct served *served = event.data.ptr;

		if (served)
			served->serve(served, event.events);
	}
	return nr;
}
