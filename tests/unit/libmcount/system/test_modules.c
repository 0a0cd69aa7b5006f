/* Reports of modules after dlopen(3). The test plays the recorder. */
#include "libmcount/system/modules.h"

#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libmcount/hot/probe.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/base/unix_name.h"

/* The recorder's side of one conversation. */
struct talk {
	int listener;
	bool answers;
	bool has_come;
	int nr_modules;
};

static struct pair pair;

static int setup(void **state)
{
	pair_init(&pair);
	pair_open(&pair);
	return 0;
}

static int teardown(void **state)
{
	modules_drop();
	pair_stop(&pair);
	pair_close(&pair);
	atomic_store(&probe_threads, NULL);
	return 0;
}

/* Counts the modules of a conversation, and answers its end or closes the connection. */
static void *serve(void *arg)
{
	struct talk *talk = arg;
	int fd = accept(talk->listener, NULL, NULL);
	union {
		struct control_header h;
		char bytes[CONTROL_MSG_MAX];
	} packet = { 0 };
	struct control_plan answer = { 0 };

	talk->has_come = fd >= 0;
	while (talk->has_come && recv(fd, &packet, sizeof(packet), 0) > 0 &&
	       packet.h.type != CONTROL_READY)
		talk->nr_modules += packet.h.type == CONTROL_MODULE;
	control_stamp(&answer, CONTROL_PLAN, CONTROL_ANSWER, sizeof(answer), packet.h.seq);
	if (talk->has_come && talk->answers)
		send(fd, &answer, sizeof(answer), MSG_NOSIGNAL);
	if (talk->has_come)
		close(fd);
	return NULL;
}

/* Returns the number of modules that are reported after a dlopen(3), or -1 without a report. */
static int report(bool answers)
{
	struct talk talk = { .answers = answers };
	struct sockaddr_un addr;
	int len = snprintf(probe.address, sizeof(probe.address), "utrail-modules-%d", getpid());
	socklen_t addr_len = unix_name_address(&addr, probe.address, len);
	pthread_t recorder;

	talk.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_return_code(bind(talk.listener, (struct sockaddr *)&addr, addr_len), errno);
	assert_return_code(listen(talk.listener, 1), errno);
	strcat(probe.address, ":0");
	assert_int_equal(pthread_create(&recorder, NULL, serve, &talk), 0);
	modules_after_dlopen(1);
	/* This ends accept(2). */
	shutdown(talk.listener, SHUT_RDWR);
	pthread_join(recorder, NULL);
	close(talk.listener);
	return talk.has_come ? talk.nr_modules : -1;
}

/* A recorder that gives no plan may not know the modules, so they are reported again. */
TEST_WITH(a_failed_report_is_repeated, setup, teardown)
{
	int nr = report(false);

	assert_in_range(nr, 2, 100);
	assert_int_equal(report(true), -1);
	pair_pass(11000000000);
	assert_int_equal(report(false), nr);
	pair_pass(11000000000);
	assert_int_equal(report(false), -1);
	pair_pass(10000000000);
	assert_int_equal(report(true), nr);
	pair_pass(11000000000);
	assert_int_equal(report(true), -1);
}
