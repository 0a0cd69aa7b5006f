/*
 * Unit tests of cmds/record/attach/target.c: finding the process that has a name, and judging
 * whether it can be attached to.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmds/record/attach/target.h"

/*
 * Makes a name that no other process has, not even a child of an earlier test; prctl(2) keeps 15
 * bytes of it.
 */
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

/* Forks children of the same name for ever, one at a time; each lives for @ms milliseconds. */
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

/* Starts a process with the name @name, which has begun its work when this function returns. */
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

/* Check that the name leads to no process, or to several ones, and that the error says @text. */
static void check_refused(const char *name, int code, const char *text)
{
	struct uft_err err = { 0 };

	assert_int_equal(target_find(name, &err), code);
	assert_non_null(strstr(err.text, text));
}

TEST(test_name)
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

/*
 * A server that forks children of the same name all the time is found by its name. Another process
 * of this name makes the name ambiguous.
 */
TEST(test_children)
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

TEST(test_zombie)
{
	char name[16];
	pid_t pid = start(make_name(name), LEAVES_ZOMBIE);

	assert_int_equal(target_find(name, NULL), pid);
	end(pid);
}

TEST(test_number)
{
	assert_int_equal(target_find("17", NULL), 17);
	check_refused("0", -ESRCH, "there is no process 0");
	check_refused("-3", -ESRCH, "there is no process -3");
	check_refused("99999999999", -ESRCH, "there is no process 99999999999");
	check_refused("17x", -ESRCH, "there is no process '17x'");
	check_refused("", -ESRCH, "there is no process ''");
}

/* --- processes that can be attached to --- */

/* True when this process is confined itself, by a container for example. */
static bool is_confined(void)
{
	char line[128];
	int mode = 0;
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "Seccomp: %d", &mode);
	if (file)
		fclose(file);
	return mode != 0;
}

static void check(pid_t pid, bool force, int code, const char *format, ...)
{
	struct uft_err err = { 0 };
	char expected[512];
	va_list args;

	va_start(args, format);
	vsnprintf(expected, sizeof(expected), format, args);
	va_end(args);
	assert_int_equal(target_check(pid, force, &err), code);
	assert_memory_equal(err.text, expected, strlen(expected));
}

TEST(test_good)
{
	char name[16];
	pid_t pid = start(make_name(name), SLEEPS);

	assert_int_equal(target_check(pid, is_confined(), NULL), 0);
	end(pid);
}

TEST(test_ourselves)
{
	check(getpid(), false, -EINVAL,
	      "cannot attach to process %d: it is utrail itself, or its parent", getpid());
	check(getppid(), false, -EINVAL,
	      "cannot attach to process %d: it is utrail itself, or its parent", getppid());
	check(INT32_MAX, false, -ESRCH, "there is no process %d", INT32_MAX);
}

TEST(test_stopped)
{
	char name[16];
	pid_t pid = start(make_name(name), SLEEPS);

	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	check(pid, true, -EAGAIN, "cannot attach to process %d: it is stopped; 'kill -CONT %d'",
	      pid, pid);
	end(pid);
}

TEST(test_ended)
{
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	check(pid, true, -ESRCH, "cannot attach to process %d: it has ended (a zombie)", pid);
	waitpid(pid, NULL, 0);
}

/* The message names the tracer. */
TEST(test_traced)
{
	char name[16];
	char comm[32] = "";
	pid_t pid = start(make_name(name), SLEEPS);
	FILE *file = fopen("/proc/self/comm", "re");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%31s", comm), 1);
	fclose(file);
	assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	check(pid, true, -EBUSY,
	      "cannot attach to process %d: process %d (%s) traces it, and there", pid, getpid(),
	      comm);
	end(pid);
}

static int ends[2];

static void *tell_tid(void *arg)
{
	char byte;

	atomic_store((_Atomic int *)arg, (int)syscall(SYS_gettid));
	return read(ends[0], &byte, 1) < 0 ? arg : NULL;
}

TEST(test_thread)
{
	_Atomic int tid = 0;
	pthread_t thread;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&thread, NULL, tell_tid, (void *)&tid), 0);
	while (!atomic_load(&tid))
		sched_yield();
	check(tid, true, -EINVAL,
	      "cannot attach to %d: it is a thread of process %d, which can be attached to", tid,
	      getpid());
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
}

/* A pipe that keeps the process of start_confined() alive until end(). */
static int stays[2];

/* Starts a process with fewer rights than others. Returns -1 where no process can be confined. */
static pid_t start_confined(bool is_strict)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(stays), 0);
	pid = fork();
	if (pid == 0) {
		struct sock_filter all[] = { { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW } };
		const struct sock_fprog filter = { 1, all };

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (is_strict ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)
			      : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
			_exit(write(ready[1], "n", 1) != 1);
		/* The process may call read(2) and write(2) only. */
		if (write(ready[1], "y", 1) == 1)
			while (read(stays[0], &byte, 1) == 1)
				;
		syscall(SYS_exit, 0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	if (byte == 'y')
		return pid;
	waitpid(pid, NULL, 0);
	return -1;
}

static void end_confined(pid_t pid)
{
	if (pid > 0)
		end(pid);
	close(stays[0]);
	close(stays[1]);
}

TEST(test_confined)
{
	pid_t pid = start_confined(false);

	if (pid > 0) {
		check(pid, false, -EPERM,
		      "cannot attach to process %d: it is confined by seccomp, and its", pid);
		assert_int_equal(target_check(pid, true, NULL), 0);
	}
	end_confined(pid);
}

TEST(test_strictly_confined)
{
	pid_t pid = start_confined(true);

	if (pid > 0)
		check(pid, true, -EPERM,
		      "cannot attach to process %d: it is confined by strict seccomp", pid);
	end_confined(pid);
}

/* In another network name space, the recorder's socket does not exist. */
TEST(test_another_network)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		byte = unshare(CLONE_NEWNET) == 0 ? 'y' : 'n';
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	if (byte == 'y')
		check(pid, true, -ENETUNREACH,
		      "cannot attach to process %d: it is in a network namespace of its own, where "
		      "it does not reach the recorder; 'nsenter -t %d -n' runs utrail there",
		      pid, pid);
	end(pid);
	close(ready[0]);
	close(ready[1]);
}

static void explained(int ret, int code, const char *text)
{
	struct uft_err err = { 0 };

	assert_int_equal(target_explain(17, ret, &err), code);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.text, text));
}

TEST(test_explained)
{
	explained(-ESRCH, -ESRCH, "cannot attach to process 17: it has ended");
	explained(-ENOENT, -ESRCH, "cannot attach to process 17: it has ended");
	explained(-ENOMEM, -ENOMEM, "cannot attach to process 17: Cannot allocate memory");
	/* For these errors the rest of the message depends on the machine. */
	explained(-EPERM, -EPERM, "cannot attach to process 17: ");
	explained(-EACCES, -EPERM, "cannot attach to process 17: ");
}
