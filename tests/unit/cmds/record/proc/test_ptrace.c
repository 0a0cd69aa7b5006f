/*
 * Processes traced by ptrace(2): failures, and letting them go; proc_scene.c has the checks of
 * their records.
 */
#include "tests/unit/lib/record/proc_scene.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/proc/filter.h"
#include "utils/base/compiler.h"

#define BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

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

#ifdef SYS_fork
/* The children of clone(2) report their ends by SIGURG. The call of fork(2) has no flags. */
static int clones_and_forks(void)
{
	static const long calls[] = { SYS_clone, SYS_fork, SYS_clone };
	int status = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(calls); i++) {
		pid_t pid = (pid_t)syscall(calls[i], SIGURG, 0, 0, 0, 0);

		if (pid == 0)
			_exit(3);
		if (waitpid(pid, &status, __WALL) != pid || status != 3 << 8)
			return 1;
	}
	return 6;
}

/* With a filter, the flags of clone(2) are forgotten when its child is known. */
static void flags_of_a_clone_are_forgotten(void **state)
{
	static const uint64_t flags[] = { SIGURG, 0, SIGURG };
	unsigned nr = 0;

	proc_scene.settings.traces_files = true;
	proc_scene_trace(clones_and_forks);
	assert_int_equal(proc_scene_finish(), 6 << 8);
	for (size_t i = 0; i < proc_scene.nr; i++) {
		const struct proc_record *record = &proc_scene.records[i];
		struct proc_fork made;

		if (record->kind != PROC_FORK)
			continue;
		assert_true(nr < ARRAY_SIZE(flags));
		assert_true(proc_fork_decode(record->data, record->len, BIG, &made));
		assert_int_equal(made.how, flags[nr] ? PROC_BY_CLONE : PROC_BY_FORK);
		assert_int_equal(made.flags, flags[nr]);
		assert_int_equal(made.child, made.child_pid);
		nr++;
	}
	assert_int_equal(nr, ARRAY_SIZE(flags));
}
#endif

/*
 * @pid: the result of a system call that makes a child. The child exits with status 4. In the
 * parent, returns true when the child has done so.
 */
static bool child_has_ended(long pid)
{
	int status;

	if (pid == 0)
		_exit(4);
	return pid > 0 && waitpid((pid_t)pid, &status, __WALL) == pid && status == 4 << 8;
}

/* Sizes of struct clone_args: the first one, a newer one, and the largest one of all kernels. */
static const size_t clone_sizes[] = { 64, 88, 4096 };

static int makes_children_that_ask_for_no_tracer(void)
{
	static uint64_t args[1024];

	args[0] = CLONE_UNTRACED;
	args[4] = SIGCHLD;
	if (!child_has_ended(syscall(SYS_clone, CLONE_UNTRACED | SIGURG, 0, 0, 0, 0)))
		return 1;
	for (unsigned i = 0; i < ARRAY_SIZE(clone_sizes); i++) {
		if (!child_has_ended(syscall(SYS_clone3, args, clone_sizes[i])))
			return 2;
		if (args[0] != CLONE_UNTRACED || args[4] != SIGCHLD || args[5])
			return 3;
	}
	/* The kernel refuses arguments that are too short or too long, or cannot be read. */
	if (syscall(SYS_clone3, args, 56) != -1 || errno != EINVAL)
		return 4;
	if (syscall(SYS_clone3, NULL, 64) != -1 || errno != EFAULT)
		return 5;
	if (sysconf(_SC_PAGESIZE) == 4096 &&
	    (syscall(SYS_clone3, args, sizeof(args)) != -1 || errno != E2BIG))
		return 8;
	args[0] = 0;
	return child_has_ended(syscall(SYS_clone3, args, 64)) ? 6 : 7;
}

/* With a filter, all children are traced, and the program's own arguments stay. */
static void children_that_ask_for_no_tracer_have_one(void **state)
{
	unsigned nr_forks = 0, nr_ends = 0;

	proc_scene.settings.traces_files = true;
	proc_scene_trace(makes_children_that_ask_for_no_tracer);
	assert_int_equal(proc_scene_finish(), 6 << 8);
	for (size_t i = 0; i < proc_scene.nr; i++) {
		const struct proc_record *record = &proc_scene.records[i];
		struct proc_fork made;
		int status;

		if (record->kind == PROC_FORK) {
			assert_true(proc_fork_decode(record->data, record->len, BIG, &made));
			assert_int_equal(made.how, nr_forks ? PROC_BY_FORK : PROC_BY_CLONE);
			assert_int_equal(made.child, made.child_pid);
			nr_forks++;
		}
		if (record->kind == PROC_EXIT && record->pid != proc_scene.pid) {
			assert_true(proc_exit_decode(record->data, record->len, BIG, &status));
			assert_int_equal(status, 4 << 8);
			nr_ends++;
		}
	}
	assert_int_equal(nr_forks, ARRAY_SIZE(clone_sizes) + 2);
	assert_int_equal(nr_ends, nr_forks);
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
#ifdef SYS_fork
		PROC_SCENE_TEST(flags_of_a_clone_are_forgotten),
#endif
		PROC_SCENE_TEST(children_that_ask_for_no_tracer_have_one),
		PROC_SCENE_TEST(what_it_needs_is_said),
	};

	proc_scene_main(argc, argv);
	return cmocka_run_group_tests(tests, proc_scene_make_top, proc_scene_remove_top);
}
