/* Conversations: who is answered, what he is believed, and what limits do. The peers are this process and its children. */
#include "tests/unit/lib/recorder.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static int connect_to(const struct recorder *rec)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	size_t len = strlen(rec->channel.socket_name);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(addr.sun_path + 1, rec->channel.socket_name, len);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr,
				 offsetof(struct sockaddr_un, sun_path) + 1 + len),
			 0);
	return fd;
}

static void serve(struct recorder *rec)
{
	while (loop_serve(&rec->loop, 0) > 0)
		;
}

static struct control_hello make_hello(const struct recorder *rec, enum control_hello_kind kind)
{
	struct control_hello hello = {
		.h = control_header(CONTROL_HELLO),
		.pid = getpid(),
		.ppid = getppid(),
		.kind = kind,
	};

	memcpy(hello.secret, rec->channel.secret, sizeof(hello.secret));
	return hello;
}

static void say_module(int fd, const char *path)
{
	union {
		struct control_module m;
		char bytes[sizeof(struct control_module) + 64];
	} packet = { .m = { .h = control_header(CONTROL_MODULE),
			    .start = 4096,
			    .end = 8192,
			    .has_text = 1 } };

	strcpy(packet.m.path, path);
	send(fd, &packet, sizeof(packet.m) + strlen(path) + 1, MSG_NOSIGNAL);
}

static void say_ready(int fd)
{
	const struct control_ready ready = { control_header(CONTROL_READY) };

	send(fd, &ready, sizeof(ready), MSG_NOSIGNAL);
}

/* What kind of answer there is; 0: they have hung up, -1: nothing yet. Descriptors that it brings are lost. */
static int answer(int fd, struct control_welcome *welcome)
{
	_Alignas(8) char packet[CONTROL_MSG_MAX];
	ssize_t len = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);

	if (len < 0)
		return errno == EAGAIN ? -1 : 0;

	int type = len ? control_check(packet, len) : 0;

	if (type == CONTROL_WELCOME && welcome)
		memcpy(welcome, packet, sizeof(*welcome));
	return type;
}

/* A whole conversation. */
static int talk(struct recorder *rec, const struct control_hello *hello,
		struct control_welcome *welcome)
{
	int fd = connect_to(rec);

	send(fd, hello, sizeof(*hello), 0);
	serve(rec);
	say_module(fd, "/bin/true");
	serve(rec);
	say_ready(fd);
	serve(rec);

	int type = answer(fd, welcome);

	close(fd);
	serve(rec);
	return type;
}

static unsigned nr_open(const struct recorder *rec)
{
	return rec->channel.talks.strangers.nr + rec->channel.talks.believed.nr;
}

static void a_fresh_image_is_welcome(void **state)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	struct control_welcome welcome;

	assert_int_equal(talk(rec, &hello, &welcome), CONTROL_WELCOME);
	assert_non_null(rec->processes.first);
	assert_int_equal(rec->processes.first->os_pid, getpid());
	assert_memory_equal(welcome.token, rec->processes.first->token, sizeof(welcome.token));
	assert_memory_equal(welcome.plan.sid, rec->processes.first->session->sid, SID_LEN);
	assert_int_equal(nr_open(rec), 0);
	assert_int_equal(rec->channel.talks.module_bytes, 0);
}

static void each_bit_of_the_secret_counts(void **state)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;

	for (unsigned bit = 0; bit < 8 * CONTROL_SECRET_BYTES; bit++) {
		struct control_hello hello = make_hello(rec, CONTROL_EXEC);

		hello.secret[bit / 8] ^= 1 << bit % 8;
		assert_int_equal(talk(rec, &hello, NULL), 0);
	}
	assert_null(rec->processes.first);
}

static void the_pid_is_the_kernels(void **state)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);

	hello.pid = getppid();
	assert_int_equal(talk(rec, &hello, NULL), 0);
	hello.pid = 0;
	assert_int_equal(talk(rec, &hello, NULL), 0);
	assert_null(rec->processes.first);
}

static void without_a_token_nobody_is_known(void **state)
{
	static const enum control_hello_kind kinds[] = {
		CONTROL_FORK, CONTROL_DLOPEN, CONTROL_ENDING, 0, 7, UINT32_MAX
	};
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);

	assert_int_equal(talk(rec, &hello, NULL), CONTROL_WELCOME);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		hello = make_hello(rec, kinds[i]);
		assert_int_equal(talk(rec, &hello, NULL), 0);
	}
	assert_null(rec->processes.first->next);
}

static void later_modules_go_by_the_token(void **state)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	struct control_hello late = make_hello(rec, CONTROL_DLOPEN);
	struct control_welcome first;
	struct control_welcome second;

	assert_int_equal(talk(rec, &hello, &first), CONTROL_WELCOME);
	memcpy(late.token, first.token, sizeof(late.token));
	assert_int_equal(talk(rec, &late, NULL), CONTROL_PLAN);

	/* Another image of the process: what the former one was given is over. */
	assert_int_equal(talk(rec, &hello, &second), CONTROL_WELCOME);
	assert_memory_not_equal(first.token, second.token, sizeof(first.token));
	assert_int_equal(talk(rec, &late, NULL), 0);
	memcpy(late.token, second.token, sizeof(late.token));
	assert_int_equal(talk(rec, &late, NULL), CONTROL_PLAN);
}

/* In a child: whether it is answered as @type. */
static bool child_is_answered(struct recorder *rec, enum control_hello_kind kind,
			      const uint8_t token[CONTROL_SECRET_BYTES], int type)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct control_hello hello = make_hello(rec, kind);
		int fd = connect_to(rec);
		_Alignas(8) char packet[CONTROL_MSG_MAX];

		memcpy(hello.token, token, sizeof(hello.token));
		send(fd, &hello, sizeof(hello), MSG_NOSIGNAL);
		say_ready(fd);

		ssize_t len = recv(fd, packet, sizeof(packet), 0);

		_exit((len > 0 ? control_check(packet, len) : 0) == type ? 0 : 1);
	}
	while (waitpid(pid, &status, WNOHANG) == 0)
		loop_serve(&rec->loop, 1);
	serve(rec);
	return status == 0;
}

static void a_child_has_its_parents_token(void **state)
{
	static const uint8_t none[CONTROL_SECRET_BYTES];
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	struct control_welcome welcome;

	assert_int_equal(talk(rec, &hello, &welcome), CONTROL_WELCOME);

	const struct process *parent = rec->processes.first;

	assert_true(child_is_answered(rec, CONTROL_FORK, none, 0));
	assert_ptr_equal(rec->processes.first, parent);
	assert_true(child_is_answered(rec, CONTROL_FORK, welcome.token, CONTROL_WELCOME));
	assert_ptr_equal(rec->processes.first->parent, parent);
	assert_ptr_equal(rec->processes.first->session, parent->session);
	/* It has not reported itself, but loads a library. */
	assert_true(child_is_answered(rec, CONTROL_DLOPEN, welcome.token, CONTROL_PLAN));
	/* A process that runs is not its own child. */
	hello = make_hello(rec, CONTROL_FORK);
	memcpy(hello.token, welcome.token, sizeof(hello.token));
	assert_int_equal(talk(rec, &hello, NULL), 0);
}

static void what_comes_too_early_ends_it(void **state)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	int fd = connect_to(rec);

	say_ready(fd);
	serve(rec);
	assert_int_equal(answer(fd, NULL), 0);
	close(fd);
	fd = connect_to(rec);
	say_module(fd, "/bin/true");
	serve(rec);
	assert_int_equal(answer(fd, NULL), 0);
	close(fd);
	/* As does HELLO for the second time. */
	fd = connect_to(rec);
	send(fd, &hello, sizeof(hello), 0);
	send(fd, &hello, sizeof(hello), 0);
	serve(rec);
	assert_int_equal(answer(fd, NULL), 0);
	close(fd);
	assert_int_equal(nr_open(rec), 0);
	assert_null(rec->processes.first);
}

static void a_crash_is_told_once(void **state)
{
	struct test_recorder *t = *state;
	struct recorder *rec = &t->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	struct control_hello ending = make_hello(rec, CONTROL_ENDING);
	struct control_crash crash = { .h = control_header(CONTROL_CRASH), .pid = 1 };
	struct control_welcome welcome;

	assert_int_equal(talk(rec, &hello, &welcome), CONTROL_WELCOME);
	memcpy(ending.token, welcome.token, sizeof(ending.token));
	for (int i = 0; i < 3; i++) {
		int fd = connect_to(rec);

		t->settings.reports_crashes = i > 0;
		send(fd, &ending, sizeof(ending), 0);
		send(fd, &crash, sizeof(crash), MSG_NOSIGNAL);
		serve(rec);
		close(fd);
		assert_true(i > 0 ? rec->channel.crashes != NULL : rec->channel.crashes == NULL);
	}
}

static void who_is_silent_gives_way(void **state)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	int silent[64];

	/* One process alone cannot take all places. */
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++) {
		silent[i] = connect_to(rec);
		serve(rec);
		assert_true(rec->channel.talks.strangers.nr <= 8);
	}
	/* Not even its own. */
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		close(silent[i]);
	serve(rec);
	assert_int_equal(nr_open(rec), 0);
	assert_int_equal(talk(rec, &hello, NULL), CONTROL_WELCOME);

	/* The longest without a word goes first. */
	rec->channel.talks.max = 2;
	for (size_t i = 0; i < 3; i++) {
		silent[i] = connect_to(rec);
		send(silent[i], &hello, sizeof(hello), 0);
		serve(rec);
		if (i == 1) {
			say_module(silent[0], "/bin/true");
			serve(rec);
		}
	}
	assert_int_equal(rec->channel.talks.believed.nr, 2);
	assert_int_equal(rec->channel.talks.nr_dropped, 1);
	assert_int_equal(answer(silent[0], NULL), -1);
	assert_int_equal(answer(silent[1], NULL), 0);
	assert_int_equal(answer(silent[2], NULL), -1);
	for (size_t i = 0; i < 3; i++)
		close(silent[i]);
	serve(rec);
	assert_int_equal(nr_open(rec), 0);
}

static void too_many_modules_are_left_out(void **state)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	int fd = connect_to(rec);

	send(fd, &hello, sizeof(hello), 0);
	for (unsigned i = 0; i < 66000; i++) {
		say_module(fd, "?");
		serve(rec);
	}
	assert_int_equal(rec->channel.talks.nr_modules_left_out, 66000 - 65536);
	say_ready(fd);
	serve(rec);
	assert_int_equal(answer(fd, NULL), CONTROL_WELCOME);
	assert_int_equal(rec->channel.talks.module_bytes, 0);
	close(fd);
}

static void nobody_is_waited_for_at_the_end(void **state)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct control_hello hello = make_hello(rec, CONTROL_EXEC);
	int fd = connect_to(rec);

	send(fd, &hello, sizeof(hello), 0);
	say_module(fd, "/bin/true");
	connect_to(rec);
	serve(rec);
	assert_int_equal(nr_open(rec), 2);
	/* The rest is the teardown's, and of those who look for leaks. */
}

int main(void)
{
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, test_recorder_setup, test_recorder_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_fresh_image_is_welcome),	       TEST(each_bit_of_the_secret_counts),
		TEST(the_pid_is_the_kernels),	       TEST(without_a_token_nobody_is_known),
		TEST(later_modules_go_by_the_token),   TEST(a_child_has_its_parents_token),
		TEST(what_comes_too_early_ends_it),    TEST(a_crash_is_told_once),
		TEST(who_is_silent_gives_way),	       TEST(too_many_modules_are_left_out),
		TEST(nobody_is_waited_for_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
