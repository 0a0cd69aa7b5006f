/*
 * A worked example: a message that these sources do not know yet. It has all parts of a real
 * message: a struct, a shape, and a row in the table of receivers
 * (doc/internals/add-a-control-message.md). The recorder and the probe are the real ones, and lack
 * that row.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include "libmcount/system/channel.h"
#include "libmcount/hot/probe.h"
#include "tests/unit/lib/record/recorder.h"

struct toy {
	struct control_header h;
	uint32_t wish;
};

static const struct control_shape toy_shape = { CONTROL_TESTS, sizeof(struct toy), "TOY" };

static unsigned take_toy(void *context, const void *message, size_t len)
{
	*(uint32_t *)context = ((const struct toy *)message)->wish;
	return CONTROL_OVER;
}

static const struct control_row rows[] = { { &toy_shape, CONTROL_IN(1), take_toy } };
static const struct control_table table = { rows, 1 };

static struct toy make_toy(uint32_t flags)
{
	struct toy toy = { .wish = 42 };

	control_stamp(&toy, CONTROL_TESTS, flags, sizeof(toy), 5);
	return toy;
}

TEST(who_knows_it_takes_it)
{
	struct toy toy = make_toy(0);
	unsigned at = 1;
	uint32_t wish = 0;

	assert_int_equal(control_take(&table, &at, &wish, &toy, sizeof(toy)), CONTROL_TAKEN);
	assert_int_equal(wish, 42);
}

/* Connect the probe's channel to the recorder's address. */
static void greet(struct channel *ch, const char *name, const uint8_t *secret)
{
	strcpy(probe.address, name);
	memcpy(probe.secret, secret, sizeof(probe.secret));
	probe.pid = getpid();
	channel_init(ch);
	assert_true(channel_greet(ch, CONTROL_EXEC));
}

/*
 * The recorder gets HELLO, TOY and READY. If TOY is optional, the recorder answers WELCOME; if not,
 * ERROR.
 */
TEST_WITH(an_old_recorder, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;

	for (uint32_t flags = 0; flags <= CONTROL_OPTIONAL; flags++) {
		struct toy toy = make_toy(flags);
		struct control_ready ready;
		struct control_welcome answer;
		struct channel ch;

		greet(&ch, rec->channel.socket_name, rec->channel.secret);
		send(ch.socket, &toy, sizeof(toy), 0);
		channel_send(&ch, CONTROL_READY, &ready, sizeof(ready));
		while (loop_serve(&rec->loop, 0) > 0)
			;
		assert_int_equal(channel_wait(&ch, CONTROL_WELCOME, &answer, sizeof(answer)),
				 flags);
		assert_int_equal(answer.h.type, flags ? CONTROL_WELCOME : CONTROL_ERROR);
		channel_close(&ch);
	}
	assert_int_equal(rec->channel.talks.nr_refused, 1);
}

/*
 * The probe gets TOY and WELCOME. If TOY is optional, the probe accepts WELCOME; if not, it sends
 * ERROR and stops.
 */
TEST(an_old_probe)
{
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	socklen_t addr_len = sizeof(addr);

	/* The kernel chooses a name. Two tests with one number, in two namespaces, have two names. */
	assert_int_equal(bind(listener, (struct sockaddr *)&addr, sizeof(addr.sun_family)), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&addr, &addr_len), 0);
	assert_int_equal(listen(listener, 1), 0);
	for (uint32_t flags = 0; flags <= CONTROL_OPTIONAL; flags++) {
		struct toy toy = make_toy(flags);
		struct control_welcome answer, welcome = { .token = { 7 } };
		struct channel ch;

		greet(&ch, addr.sun_path + 1, probe.secret);
		int fd = accept(listener, NULL, NULL);
		send(fd, &toy, sizeof(toy), 0);
		control_stamp(&welcome, CONTROL_WELCOME, CONTROL_ANSWER, sizeof(welcome), 2);
		send(fd, &welcome, sizeof(welcome), 0);
		assert_int_equal(channel_finish(&ch, CONTROL_WELCOME, &answer, sizeof(answer)),
				 flags);
		channel_close(&ch);
		close(fd);
	}
	close(listener);
}
