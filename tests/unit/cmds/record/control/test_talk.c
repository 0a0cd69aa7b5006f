/* Lists of conversations: their order, their ends, and the processes in them. */
#include "tests/unit/lib/unit.h"

#include <sys/socket.h>
#include <unistd.h>

#include "cmds/record/control/talk.h"

static struct conversation talks[4];

/* Check both directions of a list. @pids: the processes, the oldest first */
static void check_list(const struct talk_list *list, const pid_t *pids, unsigned nr)
{
	const struct conversation *talk = list->oldest;

	assert_int_equal(list->nr, nr);
	for (unsigned i = 0; i < nr; i++, talk = talk->newer) {
		assert_non_null(talk);
		assert_int_equal(talk->peer.pid, pids[i]);
		assert_ptr_equal(talk->list, list);
	}
	assert_null(talk);
	talk = list->newest;
	for (unsigned i = nr; i-- > 0; talk = talk->older) {
		assert_non_null(talk);
		assert_int_equal(talk->peer.pid, pids[i]);
	}
	assert_null(talk);
}

#define LIST(list, ...)                                  \
	check_list(list, (const pid_t[]){ __VA_ARGS__ }, \
		   sizeof((const pid_t[]){ __VA_ARGS__ }) / sizeof(pid_t))

static int setup(void **state)
{
	memset(talks, 0, sizeof(talks));
	for (int i = 0; i < 4; i++)
		talks[i].peer.pid = 11 + i;
	return 0;
}

static int teardown(void **state)
{
	return 0;
}

TEST_WITH(order_of_a_list, setup, teardown)
{
	struct talk_list list = { 0 };

	talk_link(&list, &talks[0]);
	LIST(&list, 11);
	talk_touch(&talks[0]);
	LIST(&list, 11);
	for (int i = 1; i < 4; i++)
		talk_link(&list, &talks[i]);
	LIST(&list, 11, 12, 13, 14);
	talk_touch(&talks[0]);
	LIST(&list, 12, 13, 14, 11);
	talk_touch(&talks[0]);
	LIST(&list, 12, 13, 14, 11);
	talk_touch(&talks[2]);
	LIST(&list, 12, 14, 11, 13);
	talk_unlink(&talks[3]);
	LIST(&list, 12, 11, 13);
	talk_unlink(&talks[1]);
	LIST(&list, 11, 13);
	talk_unlink(&talks[2]);
	LIST(&list, 11);
	talk_unlink(&talks[0]);
	check_list(&list, NULL, 0);
}

/* A conversation leaves the list that it is in. */
TEST_WITH(two_lists, setup, teardown)
{
	struct talk_list one = { 0 };
	struct talk_list other = { 0 };

	talk_link(&one, &talks[0]);
	talk_link(&one, &talks[1]);
	talk_link(&other, &talks[2]);
	talk_unlink(&talks[0]);
	talk_link(&other, &talks[0]);
	LIST(&one, 12);
	LIST(&other, 13, 11);
}

TEST_WITH(conversations_of_a_process, setup, teardown)
{
	struct talk_list list = { 0 };

	assert_int_equal(talk_count_peer(&list, 11), 0);
	talks[2].peer.pid = 11;
	for (int i = 0; i < 3; i++)
		talk_link(&list, &talks[i]);
	assert_int_equal(talk_count_peer(&list, 11), 2);
	assert_int_equal(talk_count_peer(&list, 12), 1);
	assert_int_equal(talk_count_peer(&list, 13), 0);
}

/* If the process is in the recorder's namespace, its threads have the numbers that they tell. */
TEST_WITH(numbers_of_threads, setup, teardown)
{
	talks[0].peer.pid = getpid();
	talks[0].hello.pid = getpid();
	assert_int_equal(talk_number(&talks[0], 4711), 4711);
	/* In another namespace, a thread that is not found gets the number of its process. */
	talks[0].hello.pid = getpid() + 1;
	assert_int_equal(talk_number(&talks[0], INT32_MAX), getpid());
	assert_int_equal(talk_number(&talks[0], getpid()), getpid());
}

/* An answer has the number of its request, and as many descriptors as were sent. */
TEST_WITH(answers, setup, teardown)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	talks[0].fd = ends[0];
	for (int nr = 0; nr <= 2; nr++) {
		struct control_header packet = { 0 };
		struct control_header there = { 0 };
		_Alignas(struct cmsghdr) char space[CMSG_SPACE(4 * sizeof(int))];
		struct iovec iov = { &there, sizeof(there) };
		struct msghdr msg = { .msg_iov = &iov,
				      .msg_iovlen = 1,
				      .msg_control = space,
				      .msg_controllen = sizeof(space) };
		struct cmsghdr *c;

		talks[0].seq = 70 + nr;
		assert_true(
			talk_answer(&talks[0], CONTROL_PLAN, &packet, sizeof(packet), ends, nr));
		assert_int_equal(recvmsg(ends[1], &msg, 0), sizeof(there));
		assert_memory_equal(&there, &packet, sizeof(there));
		assert_int_equal(there.seq, 70 + nr);
		assert_int_equal(there.type, CONTROL_PLAN);
		c = CMSG_FIRSTHDR(&msg);
		assert_int_equal(c != NULL, nr != 0);
		if (c) {
			assert_int_equal(c->cmsg_len, CMSG_LEN(nr * sizeof(int)));
			for (int i = 0; i < nr; i++)
				close(((int *)CMSG_DATA(c))[i]);
		}
	}
	/* An answer to a peer that has closed its end fails, without a signal. */
	close(ends[1]);
	assert_false(talk_answer(&talks[0], CONTROL_PLAN, &(struct control_header){ 0 },
				 sizeof(struct control_header), NULL, 0));
	close(ends[0]);
}
