/* Processes that are traced: what is told of forks, programs, files and ends, in which order; and that they go on as without it. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/proc/filter.h"
#include "cmds/record/proc/proc.h"
#include "tests/unit/lib/store_memory.h"
#include "utils/format/datadir.h"

#define LIMIT_MS 60000
#define BIG	 (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static struct scene {
	struct store_memory memory;
	struct record_settings settings;
	struct proc proc;
	pid_t pid;
	int go_fd;
	/* Behind the end of all: what was told. */
	struct proc_record records[4096];
	size_t nr;
	size_t at;
} scene;

/* What proc_filter_check() says; 0: it is asked. */
static int filter_error;
/* What the tests' process is, once for all children. */
static char top[PATH_MAX];

int __real_proc_filter_check(void);
int __wrap_proc_filter_check(void);

int __wrap_proc_filter_check(void)
{
	return filter_error ? filter_error : __real_proc_filter_check();
}

static int begin(void **state)
{
	memset(&scene, 0, sizeof(scene));
	store_memory_init(&scene.memory);
	scene.settings.clock_id = CLOCK_MONOTONIC;
	filter_error = 0;
	return 0;
}

static int end(void **state)
{
	proc_log_close(&scene.proc.log);
	close(scene.proc.end_fd);
	close(scene.proc.over_fd);
	scene.proc.way->release(&scene.proc);
	scene.proc.way->release(&scene.proc);
	assert_null(scene.proc.own);
	store_memory_deinit(&scene.memory);
	return 0;
}

static void prepare(void)
{
	struct uft_err err = { 0 };

	scene.proc.way = &proc_by_ptrace;
	scene.proc.end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	scene.proc.over_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_int_equal(scene.proc.way->prepare(&scene.proc, &scene.settings, &err), 0);
	assert_non_null(scene.proc.own);
	assert_int_equal(proc_log_open(&scene.proc.log, &scene.settings, &scene.memory.store), 0);
}

static int start(pid_t pid, struct uft_err *err)
{
	return scene.proc.way->start(&scene.proc, pid, err);
}

/* A child that is traced from its first step on, which is @fn; its result is how it ends. */
static void trace(int (*fn)(void))
{
	struct uft_err err = { 0 };
	int go[2];

	prepare();
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	scene.pid = fork();
	assert_true(scene.pid >= 0);
	if (scene.pid == 0) {
		struct proc_filter filter;
		char byte;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(99);
		close(go[0]);
		proc_filter_make(&filter);
		if (scene.settings.traces_files && proc_filter_install(&filter.program) < 0)
			_exit(98);
		_exit(fn());
	}
	close(go[0]);
	scene.go_fd = go[1];
	if (start(scene.pid, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(write(scene.go_fd, "x", 1), 1);
	close(scene.go_fd);
}

static void wait_for(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&pollfd, 1, LIMIT_MS), 1);
}

static void read_records(void)
{
	struct strbuf *content = &scene.memory.files[scene.proc.log.stream].content;
	size_t at = 0, wanted;
	ssize_t len;

	assert_string_equal(scene.memory.files[scene.proc.log.stream].name, DATADIR_PROCESSES);
	while (at < content->len) {
		struct proc_record *record = &scene.records[scene.nr++];

		assert_true(scene.nr < 4096);
		len = proc_record_decode((const uint8_t *)content->data + at, content->len - at,
					 BIG, record, &wanted, NULL);
		assert_true(len > 0);
		at += len;
	}
	for (size_t i = 1; i < scene.nr; i++)
		assert_true(scene.records[i].time_ns > scene.records[i - 1].time_ns);
}

/* All have ended; how the program did. */
static int finish(void)
{
	struct rusage usage = { .ru_maxrss = -1 };
	int status = -1;

	wait_for(scene.proc.over_fd);
	wait_for(scene.proc.end_fd);
	assert_true(scene.proc.way->end(&scene.proc, &status, &usage));
	assert_true(usage.ru_maxrss > 0);
	scene.proc.way->stop(&scene.proc);
	read_records();
	/* It was all waited for. */
	assert_int_equal(waitpid(scene.pid, NULL, WNOHANG), -1);
	return status;
}

/* The next record must be of that kind, of the program itself. */
static const struct proc_record *next(enum proc_kind kind)
{
	const struct proc_record *record = &scene.records[scene.at++];

	assert_true(scene.at <= scene.nr);
	assert_int_equal(record->kind, kind);
	return record;
}

static struct proc_fork next_fork(enum proc_fork_how how)
{
	const struct proc_record *record = next(PROC_FORK);
	struct proc_fork made;

	assert_true(proc_fork_decode(record->data, record->len, BIG, &made));
	assert_int_equal(record->tid, scene.pid);
	assert_int_equal(record->pid, scene.pid);
	assert_int_equal(made.how, how);
	return made;
}

static void next_exit(pid_t tid, pid_t pid, int status)
{
	const struct proc_record *record = next(PROC_EXIT);
	int found;

	assert_int_equal(record->tid, tid);
	assert_int_equal(record->pid, pid);
	assert_true(proc_exit_decode(record->data, record->len, BIG, &found));
	assert_int_equal(found, status);
}

static void no_more(void)
{
	assert_int_equal(scene.at, scene.nr);
}

/* --- what programs do; each returns how it ends --- */

static int wait_status(pid_t pid)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
									       : 90;
}

static int makes_children(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(3);
	if (wait_status(pid) != 3)
		return 1;
	pid = vfork();
	if (pid == 0)
		_exit(4);
	if (wait_status(pid) != 4)
		return 2;
	pid = (pid_t)syscall(SYS_clone, SIGURG, 0, 0, 0, 0);
	if (pid == 0)
		_exit(5);
	waitpid(pid, NULL, __WALL);
	return 7;
}

static void forks_are_told_before_what_their_children_do(void **state)
{
	struct proc_fork made;

	trace(makes_children);
	assert_int_equal(finish(), 7 << 8);
	made = next_fork(PROC_BY_FORK);
	assert_int_equal(made.child, made.child_pid);
	assert_int_equal(made.flags & 0xff, SIGCHLD);
	next_exit(made.child, made.child_pid, 3 << 8);
	made = next_fork(PROC_BY_VFORK);
	assert_int_equal(made.child, made.child_pid);
	next_exit(made.child, made.child_pid, 4 << 8);
	made = next_fork(PROC_BY_CLONE);
	assert_int_equal(made.child, made.child_pid);
	assert_int_equal(made.flags, SIGURG);
	next_exit(made.child, made.child_pid, 5 << 8);
	next_exit(scene.pid, scene.pid, 7 << 8);
	no_more();
}

static void *do_nothing(void *arg)
{
	return arg;
}

static int makes_a_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, do_nothing, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}

static void a_thread_is_of_its_process(void **state)
{
	struct proc_fork made;

	trace(makes_a_thread);
	assert_int_equal(finish(), 0);
	made = next_fork(PROC_BY_CLONE);
	assert_int_not_equal(made.child, scene.pid);
	assert_int_equal(made.child_pid, scene.pid);
	assert_true(made.flags & CLONE_THREAD);
	next_exit(made.child, scene.pid, 0);
	next_exit(scene.pid, scene.pid, 0);
	no_more();
}

static int makes_many_children(void)
{
	for (int nr = 0; nr < 100; nr++) {
		pid_t pid = fork();

		if (pid == 0) {
			pid = fork();
			_exit(pid == 0 ? 1 : wait_status(pid) - 1);
		}
		if (wait_status(pid) != 0)
			return 1;
	}
	return 0;
}

static void each_fork_of_many_has_an_end_behind_it(void **state)
{
	size_t nr_forks = 0, nr_ends = 0;

	trace(makes_many_children);
	assert_int_equal(finish(), 0);
	for (size_t i = 0; i < scene.nr; i++) {
		const struct proc_record *record = &scene.records[i];
		struct proc_fork made;
		size_t nr = 0;

		nr_ends += record->kind == PROC_EXIT;
		if (record->kind != PROC_FORK)
			continue;
		nr_forks++;
		assert_true(proc_fork_decode(record->data, record->len, BIG, &made));
		assert_int_equal(made.child_pid, made.child);
		for (size_t k = 0; k < scene.nr; k++) {
			if (scene.records[k].tid != made.child)
				continue;
			assert_true(k > i);
			assert_int_equal(scene.records[k].pid, made.child);
			nr += scene.records[k].kind == PROC_EXIT;
		}
		assert_int_equal(nr, 1);
	}
	assert_int_equal(nr_forks, 200);
	assert_int_equal(nr_ends, 201);
	assert_int_equal(scene.nr, 401);
}

static volatile sig_atomic_t nr_signals;

static void count_signal(int sig)
{
	nr_signals += sig == SIGUSR1 || sig == SIGTRAP ? 1 : 100;
}

static int gets_signals(void)
{
	signal(SIGUSR1, count_signal);
	signal(SIGTRAP, count_signal);
	raise(SIGUSR1);
	raise(SIGTRAP);
	kill(getpid(), SIGUSR1);
	return nr_signals;
}

static void signals_come_as_without_us(void **state)
{
	trace(gets_signals);
	assert_int_equal(finish(), 3 << 8);
	next_exit(scene.pid, scene.pid, 3 << 8);
	no_more();
}

static int is_killed(void)
{
	signal(SIGTERM, SIG_DFL);
	raise(SIGTERM);
	return 1;
}

static void the_end_by_a_signal_is_told_as_such(void **state)
{
	trace(is_killed);
	assert_int_equal(finish(), SIGTERM);
	next_exit(scene.pid, scene.pid, SIGTERM);
	no_more();
}

static int stops_a_child(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		raise(SIGSTOP);
		_exit(6);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		return 1;
	/* It stays there until it is continued. */
	usleep(20000);
	if (waitpid(pid, &status, WNOHANG) != 0)
		return 2;
	kill(pid, SIGCONT);
	return wait_status(pid);
}

static void who_is_stopped_can_be_continued(void **state)
{
	struct proc_fork made;

	trace(stops_a_child);
	assert_int_equal(finish(), 6 << 8);
	made = next_fork(PROC_BY_FORK);
	next_exit(made.child, made.child, 6 << 8);
	next_exit(scene.pid, scene.pid, 6 << 8);
	no_more();
}

static char *const exec_args[] = { "a name", "ends-by-8", NULL };
static char *const exec_environment[] = { "ONE=1", "TWO=2", NULL };

static int executes(void)
{
	execve("/proc/self/exe", exec_args, exec_environment);
	return 1;
}

static void *execute(void *arg)
{
	executes();
	return NULL;
}

static int executes_in_a_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, execute, NULL) == 0)
		pthread_join(thread, NULL);
	return 1;
}

static void next_exec(pid_t old_tid)
{
	static const char wanted[] = "a name\0ends-by-8";
	const struct proc_record *record = next(PROC_EXEC);
	struct proc_exec exec;

	assert_int_equal(record->tid, scene.pid);
	assert_int_equal(record->pid, scene.pid);
	assert_true(proc_exec_decode(record->data, record->len, BIG, &exec));
	assert_int_equal(exec.old_tid, old_tid);
	assert_int_equal(exec.args.end - exec.args.at, sizeof(wanted));
	assert_memory_equal(exec.args.at, wanted, sizeof(wanted));
}

static void a_program_is_told_with_what_it_was_given(void **state)
{
	trace(executes);
	assert_int_equal(finish(), 8 << 8);
	next_exec(scene.pid);
	next_exit(scene.pid, scene.pid, 8 << 8);
	no_more();
}

static void of_a_thread_that_executes_no_end_is_told(void **state)
{
	struct proc_fork made;

	trace(executes_in_a_thread);
	assert_int_equal(finish(), 8 << 8);
	made = next_fork(PROC_BY_CLONE);
	next_exec(made.child);
	next_exit(scene.pid, scene.pid, 8 << 8);
	no_more();
}

static void the_environment_is_told_when_it_is_wanted(void **state)
{
	static const char wanted[] = "ONE=1\0TWO=2";
	const struct proc_record *record;
	struct proc_act act;

	scene.settings.traces_environment = true;
	trace(executes);
	assert_int_equal(finish(), 8 << 8);
	next_exec(scene.pid);
	record = next(PROC_ENV);
	assert_int_equal(record->tid, scene.pid);
	assert_int_equal(record->pid, scene.pid);
	assert_true(proc_act_decode(record->data, record->len, BIG, &act));
	assert_int_equal(act.texts[0].end - act.texts[0].at, sizeof(wanted));
	assert_memory_equal(act.texts[0].at, wanted, sizeof(wanted));
	next_exit(scene.pid, scene.pid, 8 << 8);
	no_more();
}

/* --- files --- */

static int uses_files(void)
{
	int fd = openat(AT_FDCWD, "made", O_CREAT | O_RDWR, 0640);

	if (fd < 0 || openat(AT_FDCWD, "none", O_RDONLY) >= 0)
		return 1;
	if (renameat(AT_FDCWD, "made", AT_FDCWD, "moved") < 0)
		return 2;
	/* What there is nothing of is told of by nobody. */
	if (renameat(AT_FDCWD, "made", AT_FDCWD, "moved") >= 0)
		return 3;
	if (dup3(fd, 77, O_CLOEXEC) != 77)
		return 4;
	syscall(SYS_close, 77);
	syscall(SYS_close, 77);
	return unlinkat(AT_FDCWD, "moved", 0) < 0 ? 5 : 0;
}

/* Others may come from what the C library does by itself. */
static struct proc_act next_act(enum proc_kind kind)
{
	struct proc_act act;

	while (scene.at < scene.nr && scene.records[scene.at].kind != kind)
		scene.at++;
	assert_true(scene.at < scene.nr);
	assert_int_equal(scene.records[scene.at].tid, scene.pid);
	assert_int_equal(scene.records[scene.at].pid, scene.pid);
	assert_true(proc_act_decode(scene.records[scene.at].data, scene.records[scene.at].len, BIG,
				    &act));
	scene.at++;
	return act;
}

static void check_below(const struct text *text, const char *name)
{
	char wanted[PATH_MAX + 32];
	int len = snprintf(wanted, sizeof(wanted), "%s/%s", top, name);

	assert_int_equal(text->end - text->at, len);
	assert_memory_equal(text->at, wanted, len);
}

static size_t count(enum proc_kind kind)
{
	size_t nr = 0;

	for (size_t i = 0; i < scene.nr; i++)
		nr += scene.records[i].kind == kind;
	return nr;
}

static void calls_that_have_done_something_are_told(void **state)
{
	struct proc_act act;
	uint32_t fd;

	scene.settings.traces_files = true;
	trace(uses_files);
	assert_int_equal(finish(), 0);
	act = next_act(PROC_OPEN);
	fd = act.numbers[0];
	assert_int_equal(act.numbers[1] & ~O_LARGEFILE, O_CREAT | O_RDWR);
	assert_int_equal(act.numbers[2], 0640);
	check_below(&act.texts[0], "made");
	act = next_act(PROC_RENAME);
	check_below(&act.texts[0], "made");
	check_below(&act.texts[1], "moved");
	act = next_act(PROC_DUP);
	assert_int_equal(act.numbers[0], fd);
	assert_int_equal(act.numbers[1], 77);
	assert_int_equal(act.numbers[2], O_CLOEXEC);
	act = next_act(PROC_CLOSE);
	assert_int_equal(act.numbers[0], 77);
	assert_int_equal(act.numbers[1], 77);
	act = next_act(PROC_UNLINK);
	check_below(&act.texts[0], "moved");
	next_exit(scene.pid, scene.pid, 0);
	no_more();
	assert_int_equal(count(PROC_OPEN), 1);
	assert_int_equal(count(PROC_CLOSE), 1);
	assert_int_equal(count(PROC_RENAME), 1);
}

static int executes_with_a_file(void)
{
	int fd = openat(AT_FDCWD, "given", O_CREAT | O_WRONLY, 0600);

	unlinkat(AT_FDCWD, "given", 0);
	if (dup3(fd, 78, 0) != 78)
		return 1;
	dup3(fd, 79, O_CLOEXEC);
	return executes();
}

static void what_a_program_finds_open_is_told(void **state)
{
	bool has_it = false;

	scene.settings.traces_files = true;
	trace(executes_with_a_file);
	assert_int_equal(finish(), 8 << 8);
	for (size_t i = 0; i < scene.nr; i++) {
		const struct proc_record *record = &scene.records[i];
		struct proc_act act;

		if (record->kind != PROC_INHERIT)
			continue;
		assert_int_equal(record->tid, scene.pid);
		assert_int_equal(record->pid, scene.pid);
		assert_true(proc_act_decode(record->data, record->len, BIG, &act));
		assert_int_not_equal(act.numbers[0], 79);
		if (act.numbers[0] == 78) {
			assert_false(has_it);
			assert_int_equal(act.numbers[1], O_WRONLY);
			has_it = true;
		}
	}
	assert_true(has_it);
}

static void without_files_there_are_none(void **state)
{
	trace(uses_files);
	assert_int_equal(finish(), 0);
	next_exit(scene.pid, scene.pid, 0);
	no_more();
}

/* --- who is not followed to the end --- */

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
	trace(says_and_waits);
	assert_int_equal(read(said_fds[0], &byte, 1), 1);
	assert_false(scene.proc.way->end(&scene.proc, &status, &usage));
	assert_int_equal(status, 4711);
	scene.proc.way->stop(&scene.proc);
	assert_int_equal(write(heard_fds[1], "x", 1), 1);
	assert_int_equal(waitpid(scene.pid, &status, 0), scene.pid);
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
	prepare();
	assert_int_equal(start(pid, &err), -ESRCH);
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
	prepare();
	assert_int_equal(start(pid, &err), -EPERM);
	assert_int_equal(err.code, -EPERM);
	assert_string_equal(err.text,
			    "cannot trace processes: Operation not permitted: somebody else "
			    "traces the program, or /proc/sys/kernel/yama/ptrace_scope forbids it");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ends[0]);
	close(ends[1]);
}

static void without_a_filter_there_are_no_files(void **state)
{
	struct proc proc = { 0 };
	struct uft_err err = { 0 };

	filter_error = -EOPNOTSUPP;
	prepare();
	scene.settings.traces_files = true;
	assert_int_equal(proc_by_ptrace.prepare(&proc, &scene.settings, &err), -EOPNOTSUPP);
	assert_null(proc.own);
	assert_int_equal(err.code, -EOPNOTSUPP);
	assert_string_equal(err.text, PROC_FILTER_WHY ": Operation not supported");
}

static void stops_of_children_are_not_signalled(void **state)
{
	struct sigaction children = { .sa_handler = SIG_DFL };

	sigaction(SIGCHLD, &children, NULL);
	trace(is_killed);
	finish();
	sigaction(SIGCHLD, NULL, &children);
	assert_true(children.sa_flags & SA_NOCLDSTOP);
}

static void what_it_needs_is_said(void **state)
{
	prepare();
	assert_true(proc_by_ptrace.uses_filter);
	assert_true(proc_by_ptrace.tells_end);
}

static int make_top(void **state)
{
	char template[] = "/tmp/utrail-unit-XXXXXX";

	return !mkdtemp(template) || !realpath(template, top) || chdir(top) ? -1 : 0;
}

static int remove_top(void **state)
{
	return rmdir(top);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		TEST(forks_are_told_before_what_their_children_do),
		TEST(a_thread_is_of_its_process),
		TEST(each_fork_of_many_has_an_end_behind_it),
		TEST(signals_come_as_without_us),
		TEST(the_end_by_a_signal_is_told_as_such),
		TEST(who_is_stopped_can_be_continued),
		TEST(a_program_is_told_with_what_it_was_given),
		TEST(of_a_thread_that_executes_no_end_is_told),
		TEST(the_environment_is_told_when_it_is_wanted),
		TEST(calls_that_have_done_something_are_told),
		TEST(what_a_program_finds_open_is_told),
		TEST(without_files_there_are_none),
		TEST(who_is_let_go_goes_on),
		TEST(one_that_is_not_there_cannot_be_traced),
		TEST(one_that_is_traced_cannot_be_traced),
		TEST(without_a_filter_there_are_no_files),
		TEST(stops_of_children_are_not_signalled),
		TEST(what_it_needs_is_said),
	};

	if (argc > 1 && strcmp(argv[1], "ends-by-8") == 0)
		_exit(8); /* no sanitizer looks for leaks in who is traced */
	return cmocka_run_group_tests(tests, make_top, remove_top);
}
