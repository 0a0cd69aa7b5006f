/* A recording from its program's start to its end: its exit status, and the handling of signals. */
#include "tests/unit/lib/record/recorder.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static sigset_t before;

static int setup(void **state)
{
	int ret = test_recorder_setup(state);
	struct test_recorder *t = *state;
	sigset_t set;

	recorder_signals(&t->settings, &set);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, &before), 0);
	return ret;
}

static int teardown(void **state)
{
	const struct timespec now = { 0 };
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigtimedwait(&chld, NULL, &now);
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
	return test_recorder_teardown(state);
}

static unsigned count_fds(void)
{
	unsigned nr = 0;

	for (int fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/*
 * Start a program. It exits with status @what; if @what is negative, it waits for signal -@what.
 * The signal is blocked when the child begins, so an early one is not lost. It is not ignored, as
 * SIGINT and SIGQUIT are in a shell's background jobs.
 */
static pid_t begin(int what)
{
	void (*was)(int) = what < 0 ? signal(-what, SIG_DFL) : NULL;
	pid_t pid = fork();

	if (pid == 0) {
		const struct rlimit no_core = { 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		if (what >= 0)
			_exit(what);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	if (what < 0)
		signal(-what, was);
	return pid;
}

/* The program's descriptor stays open: other commands use it. */
static void run(struct test_recorder *t, pid_t pid, struct recorder_end *end)
{
	unsigned nr = count_fds();

	assert_int_equal(recorder_run(&t->rec, pid, end, NULL), 0);
	assert_int_equal(count_fds(), nr + (t->rec.program_fd >= 0));
}

TEST_WITH(its_status, setup, teardown)
{
	struct test_recorder *t = *state;
	struct recorder_end end;
	pid_t pid = begin(7);

	run(t, pid, &end);
	assert_true(WIFEXITED(end.status));
	assert_int_equal(WEXITSTATUS(end.status), 7);
	assert_int_equal(end.given_up, 0);
	assert_false(end.has_left_rest);
	assert_true(end.usage.ru_maxrss > 0);
	/* The recorder has waited for the program, so the program is no child any more. */
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

TEST_WITH(that_of_a_signal, setup, teardown)
{
	struct test_recorder *t = *state;
	struct recorder_end end;
	pid_t pid = begin(-SIGTERM);

	kill(pid, SIGKILL);
	run(t, pid, &end);
	assert_true(WIFSIGNALED(end.status));
	assert_int_equal(WTERMSIG(end.status), SIGKILL);
	assert_int_equal(end.given_up, 0);
}

/* A signal to the recorder is passed on to the program. */
TEST_WITH(passed_on, setup, teardown)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGQUIT };
	struct test_recorder *t = *state;
	struct recorder_end end;

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		t->rec.alive = (struct alive){ 0 };
		if (t->rec.program_fd >= 0)
			close(t->rec.program_fd);
		t->rec.program_fd = -1;
		pid_t pid = begin(-signals[i]);

		raise(signals[i]);
		run(t, pid, &end);
		assert_true(WIFSIGNALED(end.status));
		assert_int_equal(WTERMSIG(end.status), signals[i]);
		assert_int_equal(end.given_up, 0);
	}
}

/*
 * The program is no child of the recorder, as with --keep-pid. The recorder notices its end, and
 * its parent gets its status.
 */
TEST_WITH(not_ours, setup, teardown)
{
	struct test_recorder *t = *state;
	struct recorder_end end;
	int fds[2];
	pid_t middle;
	pid_t pid = 0;
	int status;
	char byte;
	int go[2];

	assert_true(pipe(fds) == 0 && pipe(go) == 0);
	middle = fork();
	if (middle == 0) {
		pid = fork();
		if (pid == 0) {
			close(go[1]);
			_exit(read(go[0], &byte, 1) == 1 ? 5 : 6);
		}
		if (write(fds[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
		_exit(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5 ? 0 : 2);
	}
	assert_int_equal(read(fds[0], &pid, sizeof(pid)), sizeof(pid));
	assert_int_equal(write(go[1], "", 1), 1);
	run(t, pid, &end);
	assert_int_equal(end.status, RECORDER_STATUS_UNKNOWN);
	assert_int_equal(end.given_up, 0);
	assert_int_equal(waitpid(middle, &status, 0), middle);
	assert_int_equal(status, 0);
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(go[i]);
	}
}

static void has(const sigset_t *set, int sig, bool is_in)
{
	assert_int_equal(sigismember(set, sig), is_in);
}

/*
 * An ignored SIGHUP (nohup) stays ignored. SIGUSR1 is passed to the program, except in flight
 * recordings.
 */
TEST_WITH(which_signals, setup, teardown)
{
	struct test_recorder *t = *state;
	void (*hangup)(int) = signal(SIGHUP, SIG_DFL);
	sigset_t set;

	recorder_signals(&t->settings, &set);
	has(&set, SIGINT, true);
	has(&set, SIGTERM, true);
	has(&set, SIGQUIT, true);
	has(&set, SIGCHLD, true);
	has(&set, SIGHUP, true);
	has(&set, SIGUSR1, false);
	has(&set, SIGUSR2, false);
	signal(SIGHUP, SIG_IGN);
	t->settings.flight_bytes = 1;
	recorder_signals(&t->settings, &set);
	has(&set, SIGHUP, false);
	has(&set, SIGUSR1, true);
	t->settings.flight_bytes = 0;
	signal(SIGHUP, hangup);
}

/*
 * The recorder waits for a while after the third interrupt that the program ignores. In this test
 * most of that time is over.
 */
TEST_WITH(one_that_goes_on_is_given_up, setup, teardown)
{
	struct test_recorder *t = *state;
	struct recorder_end end;
	void (*was[3])(int) = { signal(SIGINT, SIG_IGN), signal(SIGQUIT, SIG_IGN),
				signal(SIGTERM, SIG_IGN) };
	pid_t pid = begin(-SIGUSR2);

	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	t->rec.alive = (struct alive){ .final_ticks = ALIVE_FINAL_TICKS - 2 };
	raise(SIGINT);
	raise(SIGQUIT);
	raise(SIGTERM);
	run(t, pid, &end);
	signal(SIGINT, was[0]);
	signal(SIGQUIT, was[1]);
	signal(SIGTERM, was[2]);
	assert_int_equal(end.given_up, SIGTERM);
	assert_int_equal(end.status, RECORDER_STATUS_UNKNOWN);
	assert_int_equal(t->rec.alive.final_ticks, ALIVE_FINAL_TICKS);
	/* The program still runs, and its parent gets its status. */
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Processes outlive the program. */
TEST_WITH(what_is_left_behind_is_left_alone_after_a_while, setup, teardown)
{
	struct test_recorder *t = *state;
	struct recorder_end end;

	t->settings.without_probe = true;
	t->rec.alive = (struct alive){ .rest_ticks = ALIVE_REST_TICKS - 2 };
	alive_add(&t->rec.alive);
	run(t, begin(3), &end);
	assert_int_equal(WEXITSTATUS(end.status), 3);
	assert_true(end.has_left_rest);
	assert_int_equal(end.given_up, 0);
	assert_int_equal(t->rec.alive.rest_ticks, ALIVE_REST_TICKS);
}

/*
 * After the program's end, an interrupt ends the recording, and there is no program to pass it to.
 */
TEST_WITH(an_interrupt_behind_the_program_ends_it_at_once, setup, teardown)
{
	struct test_recorder *t = *state;
	struct recorder_end end;
	pid_t pid = begin(4);
	siginfo_t info;

	assert_int_equal(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	alive_add(&t->rec.alive);
	raise(SIGTERM);
	run(t, pid, &end);
	assert_int_equal(WEXITSTATUS(end.status), 4);
	assert_int_equal(end.given_up, 0);
	assert_false(end.has_left_rest);
	assert_false(alive_program_runs(&t->rec.alive));
}

/* A hangup is passed on, too, unless it is ignored. */
TEST_WITH(a_hangup_is_passed_on, setup, teardown)
{
	struct test_recorder *t = *state;
	void (*was)(int) = signal(SIGHUP, SIG_DFL);
	struct recorder_end end;
	sigset_t hangup;

	sigemptyset(&hangup);
	sigaddset(&hangup, SIGHUP);
	assert_int_equal(sigprocmask(SIG_BLOCK, &hangup, NULL), 0);

	pid_t pid = begin(-SIGHUP);

	raise(SIGHUP);
	run(t, pid, &end);
	signal(SIGHUP, was);
	assert_true(WIFSIGNALED(end.status));
	assert_int_equal(WTERMSIG(end.status), SIGHUP);
}

/*
 * A signal of the terminal's keys comes from the kernel, and the program gets it from there. So the
 * recorder passes on only SIGTERM. It reads signals in the order of their numbers, SIGINT first.
 */
TEST_WITH(a_signal_of_the_terminal_is_not_passed_on, setup, teardown)
{
	struct test_recorder *t = *state;
	siginfo_t info = { .si_signo = SIGINT, .si_code = SI_KERNEL };
	void (*was)(int) = signal(SIGINT, SIG_DFL);
	struct recorder_end end;
	pid_t pid = begin(-SIGTERM);

	/* A process may send a signal with SI_KERNEL to itself. */
	assert_int_equal(syscall(SYS_rt_sigqueueinfo, getpid(), SIGINT, &info), 0);
	raise(SIGTERM);
	run(t, pid, &end);
	signal(SIGINT, was);
	assert_true(WIFSIGNALED(end.status));
	assert_int_equal(WTERMSIG(end.status), SIGTERM);
	assert_int_equal(end.given_up, 0);
	assert_int_equal(t->rec.alive.nr_interrupts, 2);
}

/* A program that asks its parent to trace it goes on, however often it stops. */
TEST_WITH(a_program_that_wants_a_tracer_goes_on, setup, teardown)
{
	struct test_recorder *t = *state;
	struct recorder_end end;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		for (int i = 0; i < 3; i++) {
			if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
				_exit(1);
			raise(SIGSTOP);
		}
		_exit(6);
	}
	assert_true(pid > 0);
	run(t, pid, &end);
	assert_true(WIFEXITED(end.status));
	assert_int_equal(WEXITSTATUS(end.status), 6);
	assert_int_equal(end.traceme.tid, pid);
	assert_int_equal(end.traceme.sig, SIGSTOP);
	assert_false(end.traceme.was_passed_on);
}

/* SIGUSR1 saves a flight recording, and the program does not get it. */
TEST_WITH(a_flight_recording_keeps_sigusr1, setup, teardown)
{
	struct test_recorder *t = *state;
	struct recorder_end end;
	sigset_t usr1;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	assert_int_equal(sigprocmask(SIG_BLOCK, &usr1, NULL), 0);
	t->settings.flight_bytes = FLIGHT_BYTES_MIN;

	pid_t pid = begin(-SIGTERM);

	raise(SIGUSR1);
	raise(SIGTERM);
	run(t, pid, &end);
	t->settings.flight_bytes = 0;
	assert_true(WIFSIGNALED(end.status));
	assert_int_equal(WTERMSIG(end.status), SIGTERM);
	assert_int_equal(t->rec.alive.nr_interrupts, 1);
}

/* The rest of the processes is left alone only if none of them needs the recorder. */
TEST_WITH(the_rest_is_waited_for_if_it_is_traced, setup, teardown)
{
	struct test_recorder *t = *state;
	struct recorder_end end;

	run(t, begin(0), &end);
	assert_false(t->rec.alive.leaves_rest);
	t->rec.alive = (struct alive){ 0 };
	close(t->rec.program_fd);
	t->rec.program_fd = -1;
	t->settings.without_probe = true;
	run(t, begin(0), &end);
	assert_true(t->rec.alive.leaves_rest);
	assert_false(end.has_left_rest);
}

TEST_WITH(without_descriptors_nothing_is_watched, setup, teardown)
{
	struct test_recorder *t = *state;
	struct uft_err err = { 0 };
	struct recorder_end end;
	struct rlimit limit, none;
	pid_t pid = begin(-SIGUSR2);

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);

	int ret = recorder_run(&t->rec, pid, &end, &err);

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(ret, -EMFILE);
	assert_non_null(strstr(err.text, "cannot watch signals"));
	assert_int_equal(end.status, RECORDER_STATUS_UNKNOWN);
	assert_int_equal(end.given_up, 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}
