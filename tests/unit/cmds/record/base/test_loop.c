/* The recorder's event loop: each event is served once, unless its object is removed before. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "cmds/record/base/loop.h"
#include "utils/base/compiler.h"

#define NR 3

/*
 * @served: the objects of the loop, which have the event counters @fds
 * @order: the indexes of the served objects
 * @removes: when an object is served, all objects with a bit in its entry are removed
 */
struct place {
	struct loop loop;
	struct served served[NR];
	int fds[NR];
	unsigned order[2 * NR];
	unsigned nr;
	unsigned removes[NR];
	uint32_t events;
};

static void serve(struct served *served, uint32_t epoll_events)
{
	struct place *p = served->owner;
	unsigned index = served - p->served;
	uint64_t count;

	assert_true(p->nr < ARRAY_SIZE(p->order));
	p->order[p->nr++] = index;
	p->events |= epoll_events;
	if (p->fds[index] >= 0)
		assert_int_equal(read(p->fds[index], &count, sizeof(count)), sizeof(count));
	for (unsigned i = 0; i < NR; i++) {
		if (p->removes[index] & 1U << i)
			loop_close_fd(&p->loop, &p->fds[i], &p->served[i]);
	}
}

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	assert_int_equal(loop_open(&p->loop, NULL), 0);
	assert_true(fcntl(p->loop.epoll_fd, F_GETFD) & FD_CLOEXEC);
	for (unsigned i = 0; i < NR; i++) {
		p->fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		p->served[i] = (struct served){ serve, p };
		assert_true(p->fds[i] >= 0);
		assert_int_equal(loop_add(&p->loop, p->fds[i], &p->served[i]), 0);
	}
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	for (unsigned i = 0; i < NR; i++)
		loop_close_fd(&p->loop, &p->fds[i], &p->served[i]);
	loop_close(&p->loop);
	free(p);
	return 0;
}

/* The event of object @index occurs. */
static void occur(struct place *p, unsigned index)
{
	const uint64_t one = 1;

	assert_int_equal(write(p->fds[index], &one, sizeof(one)), sizeof(one));
}

TEST_WITH(each_event_is_served_once, setup, teardown)
{
	struct place *p = *state;

	assert_int_equal(loop_serve(&p->loop, 0), 0);
	assert_int_equal(p->nr, 0);
	occur(p, 1);
	assert_int_equal(loop_serve(&p->loop, 0), 1);
	assert_int_equal(p->nr, 1);
	assert_int_equal(p->order[0], 1);
	assert_int_equal(p->events, EPOLLIN);
	assert_int_equal(loop_serve(&p->loop, 0), 0);
	p->nr = 0;
	for (unsigned i = 0; i < NR; i++)
		occur(p, i);
	assert_int_equal(loop_serve(&p->loop, -1), NR);
	assert_int_equal(p->nr, NR);
	assert_int_equal(1U << p->order[0] | 1U << p->order[1] | 1U << p->order[2], 7);
	assert_int_equal(loop_serve(&p->loop, 0), 0);
}

/* Events come in the order in which they have occurred. */
TEST_WITH(what_is_removed_is_not_served_any_more, setup, teardown)
{
	struct place *p = *state;

	for (unsigned i = 0; i < NR; i++)
		occur(p, i);
	p->removes[0] = 1U << 0 | 1U << 2;
	assert_int_equal(loop_serve(&p->loop, 0), NR);
	assert_int_equal(p->nr, 2);
	assert_int_equal(p->order[0], 0);
	assert_int_equal(p->order[1], 1);
	assert_int_equal(p->fds[0], -1);
	assert_true(p->fds[1] >= 0);
	assert_int_equal(p->fds[2], -1);
}

TEST_WITH(the_next_one_can_be_removed_and_so_can_one_of_before, setup, teardown)
{
	struct place *p = *state;

	for (unsigned i = 0; i < NR; i++)
		occur(p, i);
	p->removes[0] = 1U << 1;
	p->removes[2] = 1U << 0;
	assert_int_equal(loop_serve(&p->loop, 0), NR);
	assert_int_equal(p->nr, 2);
	assert_int_equal(p->order[0], 0);
	assert_int_equal(p->order[1], 2);
	assert_int_equal(p->fds[0], -1);
}

/* The descriptor itself stays open. */
TEST_WITH(one_is_removed_and_added_again, setup, teardown)
{
	struct place *p = *state;

	loop_remove(&p->loop, p->fds[1], &p->served[1]);
	occur(p, 1);
	assert_int_equal(loop_serve(&p->loop, 0), 0);
	assert_int_equal(loop_add(&p->loop, p->fds[1], &p->served[1]), 0);
	assert_int_equal(loop_add(&p->loop, p->fds[1], &p->served[1]), -EEXIST);
	assert_int_equal(loop_serve(&p->loop, 0), 1);
	assert_int_equal(p->order[0], 1);
}

TEST_WITH(a_closed_descriptor_is_closed_once, setup, teardown)
{
	struct place *p = *state;
	int fd = p->fds[2];

	loop_close_fd(&p->loop, &p->fds[2], &p->served[2]);
	assert_int_equal(p->fds[2], -1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	loop_close_fd(&p->loop, &p->fds[2], &p->served[2]);
	assert_int_equal(p->fds[2], -1);

	/* Descriptor 0 is closed like all others. */
	int before = fcntl(0, F_DUPFD_CLOEXEC, 10);
	int zero = 0;

	close(0);
	assert_int_equal(eventfd(0, 0), 0);
	loop_close_fd(&p->loop, &zero, &p->served[2]);
	assert_int_equal(zero, -1);
	assert_int_equal(fcntl(0, F_GETFD), -1);
	if (before >= 0) {
		dup2(before, 0);
		close(before);
	}
}

TEST_WITH(a_timer_has_its_period, setup, teardown)
{
	static const uint64_t periods[] = { 1, 999999999, 1000000000, 3600 * 1000000000ULL + 7 };
	struct place *p = *state;

	for (unsigned i = 0; i < ARRAY_SIZE(periods); i++) {
		struct itimerspec timer;
		int fd = loop_add_timer(&p->loop, periods[i], &p->served[0]);

		assert_true(fd >= 0);
		assert_int_equal(timerfd_gettime(fd, &timer), 0);
		assert_int_equal(timer.it_interval.tv_sec, periods[i] / 1000000000);
		assert_int_equal(timer.it_interval.tv_nsec, periods[i] % 1000000000);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
		loop_close_fd(&p->loop, &fd, &p->served[0]);
	}
}

TEST_WITH(a_timer_is_served, setup, teardown)
{
	struct place *p = *state;

	/* The timer is read by the function that serves it. */
	close(p->fds[1]);
	p->fds[1] = loop_add_timer(&p->loop, 1000, &p->served[1]);
	assert_true(p->fds[1] >= 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(loop_serve(&p->loop, -1), 1);
		assert_int_equal(p->order[i], 1);
	}
}

TEST_WITH(a_timer_without_a_loop_leaves_no_descriptor, setup, teardown)
{
	struct place *p = *state;
	struct loop none = { .epoll_fd = -1 };
	int next = dup(p->fds[0]);

	close(next);
	assert_int_equal(loop_add_timer(&none, 1000, &p->served[0]), -EBADF);
	assert_int_equal(loop_add(&none, p->fds[0], &p->served[0]), -EBADF);
	assert_int_equal(loop_serve(&none, 0), -EBADF);

	int same = dup(p->fds[0]);

	assert_int_equal(same, next);
	close(same);
	assert_int_equal(loop_add(&p->loop, -1, &p->served[0]), -EBADF);
}

TEST(without_descriptors_there_is_no_loop)
{
	struct loop loop = { .epoll_fd = 77 };
	struct uft_err err = { 0 };
	struct rlimit before, none;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ 0, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);

	int ret = loop_open(&loop, &err);
	struct loop other = { .epoll_fd = -1 };
	int timer = loop_add_timer(&other, 1000, NULL);

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(ret, -EMFILE);
	assert_int_equal(timer, -EMFILE);
	assert_non_null(strstr(err.text, "cannot create an epoll instance"));
	assert_true(loop.epoll_fd < 0);
	loop_close(&loop);
}

TEST(a_loop_is_closed_once)
{
	struct loop loop;

	assert_int_equal(loop_open(&loop, NULL), 0);

	int fd = loop.epoll_fd;

	loop_close(&loop);
	assert_int_equal(loop.epoll_fd, -1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	loop_close(&loop);
	assert_int_equal(loop.epoll_fd, -1);
}
