/* cmds/terminal/ask.c: requests while signals come. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "cmds/terminal/ask.h"
#include "tests/unit/lib/unit.h"
#include "utils/base/unix_name.h"

#define SIGNALS_BEFORE_ANSWER 3
#define SIGNAL_US	      1000

static atomic_int nr_signals;

static void count_signal(int sig)
{
	(void)sig;
	nr_signals++;
}

/* A recorder that answers one request, after the caller has had some signals. */
static void *answer_late(void *arg)
{
	const struct request_answer answer = { .magic = REQUEST_MAGIC, .nr_tasks = 5 };
	struct request request;
	int fd = accept(*(int *)arg, NULL, NULL);
	ssize_t len = recv(fd, &request, sizeof(request), 0);
	int before = nr_signals;

	while (len > 0 && nr_signals < before + SIGNALS_BEFORE_ANSWER)
		usleep(1000);
	send(fd, &answer, sizeof(answer), MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

/* A recorder that gives no answer. It returns when the caller has closed the connection. */
static void *answer_never(void *arg)
{
	struct request request;
	int fd = accept(*(int *)arg, NULL, NULL);

	while (recv(fd, &request, sizeof(request), 0) > 0)
		;
	close(fd);
	return NULL;
}

static int listen_as(struct recorder_name *name)
{
	struct sockaddr_un addr;
	socklen_t len;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	*name = (struct recorder_name){ .owner = geteuid() };
	snprintf(name->text, sizeof(name->text), REQUEST_NAME_PREFIX "test-%d", (int)getpid());
	len = unix_name_address(&addr, name->text, strlen(name->text));
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, len), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

/* Asks the recorder @recorder while signals come often. Returns the result of ask_named(). */
static int ask_with_signals(void *(*recorder)(void *), struct request_answer *answer)
{
	/* Without SA_RESTART, each signal interrupts a wait. */
	const struct sigaction counts = { .sa_handler = count_signal };
	const struct itimerval often = { { .tv_usec = SIGNAL_US }, { .tv_usec = SIGNAL_US } };
	const struct itimerval never = { { 0 }, { 0 } };
	struct recorder_name name;
	struct sigaction before;
	pthread_t thread;
	sigset_t alarms;
	int fd = listen_as(&name);

	/* Only this thread gets the signals. */
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	assert_int_equal(pthread_create(&thread, NULL, recorder, &fd), 0);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	assert_int_equal(sigaction(SIGALRM, &counts, &before), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);

	int ret = ask_named(&name, REQUEST_PROGRESS, NULL, -1, answer, NULL);

	assert_int_equal(pthread_join(thread, NULL), 0);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	close(fd);
	return ret;
}

TEST(signals_do_not_end_the_wait)
{
	struct request_answer answer = { 0 };

	assert_int_equal(ask_with_signals(answer_late, &answer), 0);
	assert_int_equal(answer.nr_tasks, 5);
}

static bool has_signal(void)
{
	return nr_signals > 0;
}

TEST(the_end_of_the_command_ends_the_wait)
{
	struct request_answer answer = { 0 };

	nr_signals = 0;
	ask_end_when(has_signal);
	assert_int_equal(ask_with_signals(answer_never, &answer), -EPIPE);
	ask_end_when(NULL);
}
