/* The probe's side of a conversation; the test plays the recorder. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/system/channel.h"
#include "libmcount/hot/probe.h"
#include "tests/unit/lib/own_name.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "tests/lib/verdict.h"
#include "utils/base/compiler.h"
#include "utils/base/unix_name.h"

struct conversation {
	int listener;
	int fd; /* the recorder's side */
	struct channel ch;
};

static union {
	struct control_header h;
	struct control_hello hello;
	struct control_error error;
	struct control_welcome welcome;
	char bytes[CONTROL_MSG_MAX];
} packet;

static ssize_t hear(const struct conversation *talk)
{
	return recv(talk->fd, &packet, sizeof(packet), MSG_DONTWAIT);
}

/* Open both ends of a conversation, and pass HELLO. */
static void begin(struct conversation *talk, enum control_hello_kind kind)
{
	struct sockaddr_un addr;
	int len = own_name(probe.address, sizeof(probe.address));
	socklen_t addr_len = unix_name_address(&addr, probe.address, len);

	talk->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_return_code(bind(talk->listener, (struct sockaddr *)&addr, addr_len), errno);
	assert_return_code(listen(talk->listener, 1), errno);
	strcat(probe.address, ":0");
	probe.pid = 4711;
	probe.secret[3] = 3;
	probe.token[4] = 4;
	channel_init(&talk->ch);
	assert_true(channel_greet(&talk->ch, kind));
	talk->fd = accept(talk->listener, NULL, NULL);
	assert_return_code(talk->fd, errno);
	assert_int_equal(hear(talk), sizeof(packet.hello));
}

static void end(struct conversation *talk)
{
	channel_close(&talk->ch);
	close(talk->fd);
	close(talk->listener);
}

/*
 * Send a message with a descriptor. It may be sent before the question, since the socket buffers
 * it.
 */
static void say(const struct conversation *talk, enum control_type type, uint32_t flags, size_t len,
		uint32_t seq)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { &packet, len };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = space,
			      .msg_controllen = sizeof(space) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &talk->listener, sizeof(int));
	memset(&packet, 0x5a, sizeof(packet));
	control_stamp(&packet, type, flags, len, seq);
	assert_int_equal(sendmsg(talk->fd, &msg, 0), len);
}

static bool finish(struct conversation *talk)
{
	struct control_welcome welcome;

	return channel_finish(&talk->ch, CONTROL_WELCOME, &welcome, sizeof(welcome));
}

TEST(hello_says_who_it_is)
{
	struct conversation talk;

	probe.parent_pid = 4000;
	probe.fork_ns = 99;
	for (enum control_hello_kind kind = CONTROL_EXEC; kind <= CONTROL_OTHER_LIBC; kind++) {
		begin(&talk, kind);
		assert_int_equal(control_check(&control_hello_shape, &packet, sizeof(packet.hello)),
				 CONTROL_TAKEN);
		assert_int_equal(packet.h.seq, 1);
		assert_int_equal(packet.h.flags, 0);
		assert_int_equal(packet.hello.kind, kind);
		assert_int_equal(packet.hello.pid, 4711);
		assert_int_equal(packet.hello.ppid, kind == CONTROL_FORK ? 4000 : getppid());
		assert_int_equal(packet.hello.time_ns, kind == CONTROL_FORK ? 99 : 0);
		assert_memory_equal(packet.hello.secret, probe.secret, sizeof(probe.secret));
		assert_memory_equal(packet.hello.token, probe.token, sizeof(probe.token));
		end(&talk);
	}
}

TEST(an_answer_is_taken)
{
	const size_t len = sizeof(struct control_welcome);

	/* An answer may have the known length, or a larger one. */
	for (size_t more = 0; more < 100; more += 99) {
		struct conversation talk;

		begin(&talk, CONTROL_EXEC);
		say(&talk, CONTROL_WELCOME, CONTROL_ANSWER, len + more, 2);
		assert_true(finish(&talk));
		assert_true(talk.ch.fds[0] >= 0);
		assert_int_equal(talk.ch.fds[1], -1);
		/* The probe has sent READY, and nothing else. */
		assert_int_equal(hear(&talk), sizeof(struct control_ready));
		assert_int_equal(packet.h.type, CONTROL_READY);
		assert_int_equal(packet.h.seq, 2);
		assert_int_equal(hear(&talk), -1);
		end(&talk);
	}
}

/*
 * Another message comes instead of the answer. The probe stops; it sends ERROR if the recorder can
 * know what the error is about.
 */
TEST(what_is_no_answer_is_refused)
{
	static const struct {
		unsigned type;
		uint32_t flags;
		uint32_t len;
		uint32_t seq;
		int verdict; /* verdict of the probe's ERROR; 0: it sends none */
	} answers[] = {
		{ CONTROL_WELCOME, CONTROL_ANSWER, sizeof(struct control_welcome), 1, 0 },
		{ CONTROL_WELCOME, CONTROL_ANSWER, sizeof(struct control_welcome), 3, 0 },
		{ CONTROL_WELCOME, 0, sizeof(struct control_welcome), 2, 0 },
		{ CONTROL_WELCOME, CONTROL_ANSWER, sizeof(struct control_welcome) - 1, 2,
		  CONTROL_MALFORMED },
		{ CONTROL_PLAN, CONTROL_ANSWER, sizeof(struct control_plan), 2, 0 },
		{ CONTROL_ERROR, CONTROL_ANSWER, sizeof(struct control_error), 2, 0 },
		/* An ERROR that is not about READY, but about an earlier message. */
		{ CONTROL_ERROR, CONTROL_ANSWER, sizeof(struct control_error), 1, 0 },
		{ CONTROL_ERROR, CONTROL_ANSWER, sizeof(struct control_header), 2, 0 },
		{ CONTROL_TESTS, 0, 100, 5, CONTROL_UNKNOWN_TYPE },
		{ CONTROL_SET_PLAN, CONTROL_ANSWER, sizeof(struct control_set_plan), 2, 0 },
		{ CONTROL_DETACH, 0, 100, 5, CONTROL_UNKNOWN_TYPE },
		{ CONTROL_HELLO, 0, sizeof(struct control_hello), 5, CONTROL_UNKNOWN_TYPE },
	};

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct conversation talk;

		begin(&talk, CONTROL_EXEC);
		say(&talk, answers[i].type, answers[i].flags, answers[i].len, answers[i].seq);
		assert_false(finish(&talk));
		assert_int_equal(hear(&talk), sizeof(struct control_ready));
		if (answers[i].verdict) {
			assert_int_equal(hear(&talk), sizeof(packet.error));
			assert_int_equal(packet.h.type, CONTROL_ERROR);
			assert_int_equal(packet.h.seq, answers[i].seq);
			assert_int_equal(packet.error.type, answers[i].type);
			assert_int_equal(packet.error.verdict, answers[i].verdict);
		}
		assert_int_equal(hear(&talk), -1);
		end(&talk);
	}
}

/* A recorder of another version reports its version in the form that it knows. */
TEST(another_version_is_not_talked_to)
{
	struct conversation talk;

	begin(&talk, CONTROL_EXEC);
	control_stamp(&packet, CONTROL_ERROR, CONTROL_ANSWER, sizeof(packet.error), 1);
	packet.h.version++;
	send(talk.fd, &packet, sizeof(packet.error), 0);
	assert_false(finish(&talk));
	assert_int_equal(hear(&talk), sizeof(struct control_ready));
	assert_int_equal(hear(&talk), -1);
	end(&talk);
}

TEST(hanging_up_is_an_answer)
{
	struct conversation talk;

	begin(&talk, CONTROL_EXEC);
	close(talk.fd);
	assert_false(finish(&talk));
	end(&talk);
}

static unsigned count_fds(void)
{
	unsigned nr = 0;

	for (int fd = 0; fd < 1024; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* Descriptors that come with skipped or late messages are closed in the program. */
TEST(no_descriptor_is_left)
{
	unsigned before = count_fds();
	struct conversation talk;

	begin(&talk, CONTROL_EXEC);
	for (int i = 0; i < 50; i++)
		say(&talk, CONTROL_TESTS, CONTROL_OPTIONAL, 100 + i, 1 + i);
	say(&talk, CONTROL_WELCOME, CONTROL_ANSWER, sizeof(struct control_welcome), 2);
	assert_true(finish(&talk));
	end(&talk);
	assert_int_equal(count_fds(), before);

	/* An empty message ends the conversation, too. */
	begin(&talk, CONTROL_EXEC);
	say(&talk, 0, 0, 0, 0);
	assert_false(finish(&talk));
	end(&talk);
	assert_int_equal(count_fds(), before);
}

/* Interrupt a system call *@arg times; after that let it run. */
static int interrupt(void *arg)
{
	unsigned *nr = arg;

	return (*nr)-- > 0 ? -EINTR : 0;
}

TEST(signals_interrupt_nothing)
{
	struct conversation talk;
	struct control_ready ready;
	unsigned nr = 3;

	begin(&talk, CONTROL_EXEC);
	pair_before(SYS_sendto, interrupt, &nr);
	assert_true(channel_send(&talk.ch, CONTROL_READY, &ready, sizeof(ready)));
	pair_before(0, NULL, NULL);
	assert_int_equal(hear(&talk), sizeof(ready));
	assert_int_equal(hear(&talk), -1);
	/* An errno from before must not matter. */
	errno = EINTR;
	assert_true(channel_send(&talk.ch, CONTROL_READY, &ready, sizeof(ready)));
	assert_int_equal(hear(&talk), sizeof(ready));
	assert_int_equal(hear(&talk), -1);

	nr = 3;
	pair_before(SYS_recvmsg, interrupt, &nr);
	say(&talk, CONTROL_WELCOME, CONTROL_ANSWER, sizeof(struct control_welcome), 4);
	assert_true(finish(&talk));
	pair_before(0, NULL, NULL);
	end(&talk);
}

/* Let half a second pass, and interrupt the system call. */
static int interrupt_always(void *arg)
{
	unsigned *nr = arg;

	pair_pass(500000000);
	return ++*nr > 1000 ? 0 : -EINTR;
}

/* The wait ends after its time, even if a timer interrupts it again and again. */
TEST(signals_prolong_no_wait)
{
	struct conversation talk;
	struct control_ready ready;
	unsigned nr = 0;

	begin(&talk, CONTROL_EXEC);
	pair_before(SYS_sendto, interrupt_always, &nr);
	assert_false(channel_send(&talk.ch, CONTROL_READY, &ready, sizeof(ready)));
	assert_in_range(nr, 10, 20);
	nr = 0;
	pair_before(SYS_recvmsg, interrupt_always, &nr);
	assert_false(finish(&talk));
	assert_in_range(nr, 10, 20);
	pair_before(0, NULL, NULL);
	end(&talk);
}

/* Interrupt *@arg system calls, and let time pass in each, as if the process were stopped. */
static int interrupt_by_stop(void *arg)
{
	unsigned *nr = arg;

	if (*nr == 0)
		return 0;
	--*nr;
	pair_pass(100000000000);
	return -EINTR;
}

TEST(a_stop_is_no_wait)
{
	struct conversation talk;
	unsigned nr = 3;

	begin(&talk, CONTROL_EXEC);
	say(&talk, CONTROL_WELCOME, CONTROL_ANSWER, sizeof(struct control_welcome), 2);
	pair_before(SYS_recvmsg, interrupt_by_stop, &nr);
	assert_true(finish(&talk));
	pair_before(0, NULL, NULL);
	end(&talk);
}

/*
 * 5.5 seconds pass before each message is looked at. A delay of 3 seconds on a busy machine changes
 * nothing.
 */
static int take_long(void *arg)
{
	pair_pass(5500000000);
	return 0;
}

/*
 * If a recorder sends messages that are skipped, the probe waits no longer than for a silent one.
 */
TEST(chatter_is_no_answer)
{
	for (int nr = 1; nr <= 6; nr++) {
		struct conversation talk;

		begin(&talk, CONTROL_EXEC);
		for (int i = 0; i < nr; i++)
			say(&talk, CONTROL_TESTS, CONTROL_OPTIONAL, 100, 1 + i);
		say(&talk, CONTROL_WELCOME, CONTROL_ANSWER, sizeof(struct control_welcome), 2);
		pair_before(SYS_recvmsg, take_long, NULL);
		/*
		 * The time begins with the first message. The third one comes 11 seconds later,
		 * which is too late.
		 */
		assert_int_equal(finish(&talk), nr <= 2);
		pair_before(0, NULL, NULL);
		end(&talk);
	}
}

/* The probe waits for a recorder that is working, but not for ever. */
TEST(a_recorder_at_work_is_waited_for)
{
	static const struct {
		int nr;
		uint32_t seq;
		bool is_answered;
	} cases[] = {
		{ 3, 2, true }, { 100, 2, true }, { 160, 2, false }, { 2, 1, true }, { 3, 1, false }
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct conversation talk;

		begin(&talk, CONTROL_EXEC);
		for (int k = 0; k < cases[i].nr; k++)
			say(&talk, CONTROL_WORKING, CONTROL_OPTIONAL,
			    sizeof(struct control_working), cases[i].seq);
		say(&talk, CONTROL_WELCOME, CONTROL_ANSWER, sizeof(struct control_welcome), 2);
		pair_before(SYS_recvmsg, take_long, NULL);
		assert_int_equal(finish(&talk), cases[i].is_answered);
		pair_before(0, NULL, NULL);
		end(&talk);
	}
}

static int next_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* True when this process has CAP_SYS_RESOURCE, which not every root has. */
static bool may_pass_hard_limit(const struct rlimit *now)
{
	const struct rlimit more = { now->rlim_cur, now->rlim_max + 1 };

	return setrlimit(RLIMIT_NOFILE, &more) == 0 && setrlimit(RLIMIT_NOFILE, now) == 0;
}

static void check_limit(rlim_t soft, rlim_t hard)
{
	struct rlimit now;

	assert_return_code(getrlimit(RLIMIT_NOFILE, &now), errno);
	assert_int_equal(now.rlim_cur, soft);
	assert_int_equal(now.rlim_max, hard);
}

/* If the program has no descriptor left, its limit is raised during the conversation. */
TEST(few_descriptors)
{
	struct rlimit before;
	struct conversation talk;

	assert_return_code(getrlimit(RLIMIT_NOFILE, &before), errno);
	begin(&talk, CONTROL_EXEC);
	channel_close(&talk.ch);
	assert_return_code(listen(talk.listener, 10), errno);

	rlim_t soft = next_fd();
	rlim_t raised = soft + 1 + CONTROL_FD_MAX;
	rlim_t hard_limits[] = { before.rlim_max, soft };

	for (int i = 0; i < 1 + may_pass_hard_limit(&before); i++) {
		const struct rlimit few = { soft, hard_limits[i] };

		assert_return_code(setrlimit(RLIMIT_NOFILE, &few), errno);
		assert_true(channel_greet(&talk.ch, CONTROL_EXEC));
		check_limit(raised, MAX(raised, few.rlim_max));
		channel_close(&talk.ch);
		check_limit(soft, few.rlim_max);
	}
	/* One descriptor is free for the socket, but none for the descriptors that the recorder sends. */
	assert_return_code(setrlimit(RLIMIT_NOFILE, &before), errno);
	assert_return_code(
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){ raised - 1, before.rlim_max }), errno);
	assert_true(channel_greet(&talk.ch, CONTROL_EXEC));
	check_limit(raised - 1 + 1 + CONTROL_FD_MAX, before.rlim_max);
	channel_close(&talk.ch);
	assert_return_code(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ raised, before.rlim_max }),
			   errno);
	assert_true(channel_greet(&talk.ch, CONTROL_EXEC));
	check_limit(raised, before.rlim_max);
	channel_close(&talk.ch);
	/* The program sets a limit during the conversation. */
	assert_return_code(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ soft, before.rlim_max }),
			   errno);
	assert_true(channel_greet(&talk.ch, CONTROL_EXEC));
	check_limit(raised, before.rlim_max);
	assert_return_code(
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){ raised + 1, before.rlim_max }), errno);
	channel_close(&talk.ch);
	check_limit(raised + 1, before.rlim_max);
	setrlimit(RLIMIT_NOFILE, &before);
	end(&talk);
}
