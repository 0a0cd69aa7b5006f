/*
 * Processes traced by ptrace(2): failures, and letting them go; proc_scene.c has the checks of
 * their records.
 */
#include "tests/unit/lib/record/proc_scene.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/proc/filter.h"

const struct proc_way *const proc_scene_way = &proc_by_ptrace;

/* The result of proc_filter_check(); 0: the real one. */
static int filter_error;

int __real_proc_filter_check(void);
int __wrap_proc_filter_check(void);

int __wrap_proc_filter_check(void)
{
	return filter_error ? filter_error : __real_proc_filter_check();
}

/* --- processes that are not followed to their end --- */

static int said_fds[2], heard_fds[2];

static int says_and_waits(void)
{
	char byte;

	return write(said_fds[1], "x", 1) == 1 && read(heard_fds[0], &byte, 1) == 1 ? 9 : 1;
}

static void who_is_let_go_goes_on(void **state)
{
	struct rusage usage;
	int status = 4711;
	char byte;

	assert_int_equal(pipe(said_fds), 0);
	assert_int_equal(pipe(heard_fds), 0);
	proc_scene_trace(says_and_waits);
	assert_int_equal(read(said_fds[0], &byte, 1), 1);
	assert_false(proc_scene.proc.way->end(&proc_scene.proc, &status, &usage));
	assert_int_equal(status, 4711);
	proc_scene.proc.way->stop(&proc_scene.proc);
	assert_int_equal(write(heard_fds[1], "x", 1), 1);
	assert_int_equal(waitpid(proc_scene.pid, &status, 0), proc_scene.pid);
	assert_int_equal(status, 9 << 8);
	for (int nr = 0; nr < 2; nr++) {
		close(said_fds[nr]);
		close(heard_fds[nr]);
	}
}

static void one_that_is_not_there_cannot_be_traced(void **state)
{
	struct uft_err err = { 0 };
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	proc_scene_prepare();
	assert_int_equal(proc_scene_start(pid, &err), -ESRCH);
	assert_int_equal(err.code, -ESRCH);
	assert_string_equal(err.text, "cannot trace processes: No such process");
}

static void one_that_is_traced_cannot_be_traced(void **state)
{
	struct uft_err err = { 0 };
	int ends[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && write(ends[1], "x", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	proc_scene_prepare();
	assert_int_equal(proc_scene_start(pid, &err), -EPERM);
	assert_int_equal(err.code, -EPERM);
	assert_string_equal(err.text,
			    "cannot trace processes: Operation not permitted: another program "
			    "traces it already, or /proc/sys/kernel/yama/ptrace_scope forbids it");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ends[0]);
	close(ends[1]);
}

static void without_a_filter_there_are_no_files(void **state)
{
	struct proc proc = { 0 };
	struct uft_err err = { 0 };

	proc_scene_prepare();
	proc_scene.settings.traces_files = true;
	filter_error = -EOPNOTSUPP;
	assert_int_equal(proc_by_ptrace.prepare(&proc, &proc_scene.settings, &err), -EOPNOTSUPP);
	filter_error = 0;
	assert_null(proc.own);
	assert_int_equal(err.code, -EOPNOTSUPP);
	assert_string_equal(err.text, PROC_FILTER_WHY ": Operation not supported");
}

static int says_nothing(void)
{
	return 0;
}

static void stops_of_children_are_not_signalled(void **state)
{
	struct sigaction children = { .sa_handler = SIG_DFL };

	sigaction(SIGCHLD, &children, NULL);
	proc_scene_trace(says_nothing);
	proc_scene_finish();
	sigaction(SIGCHLD, NULL, &children);
	assert_true(children.sa_flags & SA_NOCLDSTOP);
}

static void what_it_needs_is_said(void **state)
{
	proc_scene_prepare();
	assert_true(proc_by_ptrace.uses_filter);
	assert_true(proc_by_ptrace.tells_end);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		PROC_SCENE_TESTS,
		PROC_SCENE_TEST(who_is_let_go_goes_on),
		PROC_SCENE_TEST(one_that_is_not_there_cannot_be_traced),
		PROC_SCENE_TEST(one_that_is_traced_cannot_be_traced),
		PROC_SCENE_TEST(without_a_filter_there_are_no_files),
		PROC_SCENE_TEST(stops_of_children_are_not_signalled),
		PROC_SCENE_TEST(what_it_needs_is_said),
	};

	proc_scene_main(argc, argv);
	return cmocka_run_group_tests(tests, proc_scene_make_top, proc_scene_remove_top);
}
