/* Children that have asked this process to trace them go on, and the first one is reported. */
#include "tests/unit/lib/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/run/traceme.h"

static void exit_7(int sig)
{
	_exit(7);
}

/* The acts of children. */
enum act {
	ACT_STOP,	   /* asks for a tracer, and stops itself for it */
	ACT_SIGNAL,	   /* asks for a tracer, and gets a signal that it handles */
	ACT_EXEC,	   /* asks for a tracer, and starts a program */
	ACT_TRAP,	   /* asks for a tracer, and sends itself SIGTRAP, which it handles */
	ACT_WAIT,	   /* asks for a tracer, and waits for signals */
	ACT_STOP_UNTRACED, /* stops itself */
	ACT_WAIT_UNTRACED, /* waits for signals */
};

static pid_t begin(enum act act)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		const struct rlimit no_core = { 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGUSR1, exit_7);
		signal(SIGTRAP, act == ACT_TRAP ? exit_7 : SIG_DFL);
		if (act < ACT_STOP_UNTRACED && ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(1);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		if (act == ACT_STOP || act == ACT_STOP_UNTRACED)
			raise(SIGSTOP);
		if (act == ACT_SIGNAL)
			raise(SIGUSR1);
		if (act == ACT_TRAP)
			kill(getpid(), SIGTRAP);
		if (act == ACT_EXEC)
			execl("/bin/true", "true", NULL);
		while (act == ACT_WAIT || act == ACT_WAIT_UNTRACED)
			pause();
		_exit(5);
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* Wait until the child is stopped. The stop can still be waited for. */
static void await_stop(pid_t pid)
{
	siginfo_t stop = { 0 };

	assert_int_equal(waitid(P_PID, pid, &stop, WSTOPPED | WEXITED | WNOWAIT), 0);
	assert_true(stop.si_code == CLD_TRAPPED || stop.si_code == CLD_STOPPED);
}

static bool has_stopped_child(void)
{
	siginfo_t stop = { 0 };

	return waitid(P_ALL, 0, &stop, WSTOPPED | WNOHANG | WNOWAIT) == 0 && stop.si_pid;
}

static void check_exit(pid_t pid, int code)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), code);
}

static void check_seen(const struct traceme *seen, pid_t tid, int sig, bool was_passed_on)
{
	assert_int_equal(seen->tid, tid);
	assert_int_equal(seen->sig, sig);
	assert_int_equal(seen->was_passed_on, was_passed_on);
}

TEST(they_go_on_with_the_signals_that_are_theirs)
{
	static const struct {
		enum act act;
		int sig;
		bool is_passed_on;
		int code;
	} cases[] = {
		{ ACT_STOP, SIGSTOP, false, 5 },
		{ ACT_SIGNAL, SIGUSR1, true, 7 },
		{ ACT_EXEC, SIGTRAP, false, 0 },
		{ ACT_TRAP, SIGTRAP, true, 7 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct traceme seen = { 0 };
		pid_t pid = begin(cases[i].act);

		await_stop(pid);
		traceme_let_go(&seen);
		check_seen(&seen, pid, cases[i].sig, cases[i].is_passed_on);
		check_exit(pid, cases[i].code);
	}
}

/* A stop that another process has sent is a stop of the child, whether it is traced or not. */
TEST(the_stop_of_another_process_is_passed_on)
{
	struct traceme seen = { 0 };
	pid_t pid = begin(ACT_WAIT);
	siginfo_t stop;

	kill(pid, SIGSTOP);
	await_stop(pid);
	traceme_let_go(&seen);
	check_seen(&seen, pid, SIGSTOP, true);
	kill(pid, SIGUSR1);
	kill(pid, SIGCONT);
	/* The child may report its stop first. */
	assert_int_equal(waitid(P_PID, pid, &stop, WEXITED | WNOWAIT), 0);
	check_exit(pid, 7);
}

TEST(all_go_on_and_the_first_is_reported)
{
	struct traceme seen = { 0 };
	pid_t first = begin(ACT_STOP);
	pid_t untraced, second, third;

	await_stop(first);
	traceme_let_go(&seen);
	check_exit(first, 5);
	untraced = begin(ACT_STOP_UNTRACED);
	second = begin(ACT_SIGNAL);
	third = begin(ACT_STOP);
	await_stop(untraced);
	await_stop(second);
	await_stop(third);
	traceme_let_go(&seen);
	check_seen(&seen, first, SIGSTOP, false);
	check_exit(second, 7);
	check_exit(third, 5);
	/* The stop of the untraced child was taken, and the child is still stopped. */
	assert_false(has_stopped_child());
	assert_int_equal(waitpid(untraced, NULL, WNOHANG), 0);
	kill(untraced, SIGCONT);
	check_exit(untraced, 5);
}

TEST(without_a_stopped_child_nothing_is_done)
{
	struct traceme seen = { 0 };
	pid_t pid;

	traceme_let_go(&seen);
	check_seen(&seen, 0, 0, false);
	pid = begin(ACT_WAIT);
	traceme_let_go(&seen);
	check_seen(&seen, 0, 0, false);
	/* The child is still traced: its next signal stops it. */
	kill(pid, SIGUSR1);
	await_stop(pid);
	traceme_let_go(&seen);
	check_seen(&seen, pid, SIGUSR1, true);
	check_exit(pid, 7);
}

/* A stop with an event is not that of a child that has asked. */
TEST(a_child_that_was_seized_stays_stopped)
{
	struct traceme seen = { 0 };
	pid_t pid = begin(ACT_WAIT_UNTRACED);

	assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	await_stop(pid);
	traceme_let_go(&seen);
	check_seen(&seen, 0, 0, false);
	assert_true(has_stopped_child());
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	kill(pid, SIGUSR1);
	check_exit(pid, 7);
}

TEST(the_warning)
{
	static const struct {
		struct traceme seen;
		const char *end;
	} cases[] = {
		{ { 12, SIGSTOP, false }, "19 (Stopped (signal)), which was for a tracer alone\n" },
		{ { 12, SIGTERM, true }, "15 (Terminated), which was passed on\n" },
		{ { 12, 0, false }, "0 (stop), which was for a tracer alone\n" },
		{ { 1, 1, true }, "1 (Hangup), which was passed on\n" },
	};
	struct msg msg = { 0 };
	char expected[512];

	for (size_t i = 0; i <= sizeof(cases) / sizeof(cases[0]); i++) {
		const struct traceme none = { 0, SIGTERM, true };
		bool is_last = i == sizeof(cases) / sizeof(cases[0]);
		char *text = NULL;
		size_t len;

		msg.file = open_memstream(&text, &len);
		assert_non_null(msg.file);
		traceme_warn(is_last ? &none : &cases[i].seen, &msg);
		fclose(msg.file);
		if (is_last)
			expected[0] = '\0';
		else
			snprintf(expected, sizeof(expected),
				 "WARN: task %d asked its parent to trace it (PTRACE_TRACEME), "
				 "which utrail is here: it went on untraced at its first signal, "
				 "%s",
				 cases[i].seen.tid, cases[i].end);
		assert_string_equal(text, expected);
		free(text);
	}
}
