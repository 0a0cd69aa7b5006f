/* What other commands ask of a recorder at work: who asks as he should has an answer, others have none, and neither keeps others waiting. */
#include "tests/unit/lib/recorder.h"

#include <errno.h>
#include <sys/socket.h>

#include "utils/base/unix_name.h"
#include "utils/format/request.h"

struct packet {
	struct request request;
	char text[32];
};

static struct packet asks_for(enum request_type type, const char *text, size_t bytes)
{
	struct packet p = { .request = { REQUEST_MAGIC, REQUEST_VERSION, type, bytes } };

	memcpy(p.text, text, bytes);
	return p;
}

static int connect_to(struct test_recorder *t)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char name[REQUEST_NAME_SIZE];
	struct sockaddr_un addr;
	struct stat dir;

	assert_int_equal(fstat(t->dir_fd, &dir), 0);
	request_name(name, &dir);

	socklen_t len = unix_name_address(&addr, name, strlen(name));

	assert_int_equal(connect(fd, (struct sockaddr *)&addr, len), 0);
	return fd;
}

/* The answer's length; 0: it has hung up. */
static ssize_t ask(struct test_recorder *t, const struct packet *p, size_t len,
		   struct request_answer *answer)
{
	int fd = connect_to(t);
	ssize_t n = -1;

	assert_int_equal(send(fd, p, len, MSG_NOSIGNAL), len);
	for (int i = 0; n < 0 && i < 10; i++) {
		loop_serve(&t->rec.loop, 0);
		n = recv(fd, answer, sizeof(*answer), 0);
	}
	close(fd);
	return n;
}

static size_t whole(const struct packet *p)
{
	return sizeof(p->request) + p->request.text_bytes;
}

static int has_pid(struct test_recorder *t, pid_t pid)
{
	struct request_answer answer = { 0 };
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", (int)pid);
	struct packet p = asks_for(REQUEST_HAS_PID, text, len + 1);

	assert_int_equal(ask(t, &p, whole(&p), &answer), sizeof(answer));
	assert_int_equal(answer.magic, REQUEST_MAGIC);
	return answer.error;
}

static void one_after_the_other(void **state)
{
	for (int i = 0; i < 3; i++) {
		assert_int_equal(has_pid(*state, getpid()), 0);
		assert_int_equal(has_pid(*state, 1), -ESRCH);
	}
}

static void check_no_request(struct test_recorder *t, const struct packet *p, size_t len)
{
	struct request_answer answer;

	assert_int_equal(ask(t, p, len, &answer), 0);
	/* Others have their answers. */
	assert_int_equal(has_pid(t, getpid()), 0);
}

static void what_is_no_request(void **state)
{
	const struct packet good = asks_for(REQUEST_HAS_PID, "1\0", 2);
	struct packet p = good;

	p.request.magic++;
	check_no_request(*state, &p, whole(&p));
	p = good;
	p.request.version++;
	check_no_request(*state, &p, whole(&p));
	/* More or less text than it says. */
	check_no_request(*state, &good, whole(&good) - 1);
	check_no_request(*state, &good, whole(&good) + 1);
	check_no_request(*state, &good, sizeof(struct request) - 1);
	/* Text that does not end. */
	p = asks_for(REQUEST_HAS_PID, "1\0002", 3);
	check_no_request(*state, &p, whole(&p));
}

static void what_nobody_knows(void **state)
{
	struct packet p = asks_for(REQUEST_HAS_PID + 1, "", 0);
	struct request_answer answer = { 0 };

	assert_int_equal(ask(*state, &p, whole(&p), &answer), sizeof(answer));
	assert_int_equal(answer.error, -EPROTO);
}

#define each(test) \
	cmocka_unit_test_setup_teardown(test, test_recorder_setup, test_recorder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		each(one_after_the_other),
		each(what_is_no_request),
		each(what_nobody_knows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
