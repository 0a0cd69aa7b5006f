/* Unit tests of cmds/record/attach/target.c: which process a name stands for. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmds/record/attach/target.h"

/* A name that no other process has, nor a child that an earlier test left; prctl(2) keeps 15 bytes of it. */
static const char *make_name(char name[16])
{
	static int nr;

	snprintf(name, 16, "t%d-%d", getpid(), nr++);
	return name;
}

enum does {
	SLEEPS,
	FORKS,
	LEAVES_ZOMBIE
};

/* Always has a child of its own name, each for @ms milliseconds. */
static void fork_forever(int ms)
{
	const struct timespec time = { 0, ms * 1000000L };

	for (;;) {
		pid_t child = fork();

		if (child == 0) {
			nanosleep(&time, NULL);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

/* A process that is called @name, and is at work when this returns. */
static pid_t start(const char *name, enum does does)
{
	int ready[2];
	char byte;

	assert_true(pipe(ready) == 0);

	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		if (does == LEAVES_ZOMBIE && fork() == 0)
			_exit(0);
		if (does == LEAVES_ZOMBIE) {
			siginfo_t info;

			waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
		}
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		if (does == FORKS)
			fork_forever(20);
		for (;;)
			pause();
	}
	assert_true(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* A name for which there is no process that can be told from others: the error says @text. */
static void check_refused(const char *name, int code, const char *text)
{
	struct uft_err err = { 0 };

	assert_int_equal(target_find(name, &err), code);
	assert_non_null(strstr(err.text, text));
}

static void test_name(void **state)
{
	char name[16];

	check_refused(make_name(name), -ESRCH, "there is no process");

	pid_t pid = start(name, SLEEPS);

	assert_int_equal(target_find(name, NULL), pid);

	pid_t other = start(name, SLEEPS);

	check_refused(name, -EINVAL, "2 processes are called");
	end(other);
	assert_int_equal(target_find(name, NULL), pid);
	end(pid);
}

/* A server that forks all the time is the only one of its name; one whose child stays is not. */
static void test_children(void **state)
{
	char name[16];
	pid_t pid = start(make_name(name), FORKS);

	for (int i = 0; i < 5; i++)
		assert_int_equal(target_find(name, NULL), pid);

	pid_t other = start(name, SLEEPS);

	check_refused(name, -EINVAL, "2 processes are called");
	end(other);
	end(pid);
}

static void test_zombie(void **state)
{
	char name[16];
	pid_t pid = start(make_name(name), LEAVES_ZOMBIE);

	assert_int_equal(target_find(name, NULL), pid);
	end(pid);
}

static void test_number(void **state)
{
	assert_int_equal(target_find("17", NULL), 17);
	check_refused("0", -ESRCH, "there is no process 0");
	check_refused("-3", -ESRCH, "there is no process -3");
	check_refused("99999999999", -ESRCH, "there is no process 99999999999");
	check_refused("17x", -ESRCH, "there is no process '17x'");
	check_refused("", -ESRCH, "there is no process ''");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_zombie),
		cmocka_unit_test(test_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
