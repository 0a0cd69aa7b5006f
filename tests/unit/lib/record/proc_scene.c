/* Traced processes for tests (see proc_scene.h). */
#include "tests/unit/lib/record/proc_scene.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/proc/filter.h"
#include "utils/format/datadir.h"

#define LIMIT_MS 60000
#define BIG	 (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* First arguments of the test program: with these it does only a child's work. */
#define ENDS_ARG "ends-by-8"
#define DOES_ARG "does"

struct proc_scene proc_scene;
static char top[PATH_MAX];

int proc_scene_begin(void **state)
{
	memset(&proc_scene, 0, sizeof(proc_scene));
	store_memory_init(&proc_scene.memory);
	proc_scene.settings.clock_id = CLOCK_MONOTONIC;
	return 0;
}

int proc_scene_end(void **state)
{
	proc_log_close(&proc_scene.proc.log);
	close(proc_scene.proc.end_fd);
	close(proc_scene.proc.over_fd);
	proc_scene.proc.way->release(&proc_scene.proc);
	proc_scene.proc.way->release(&proc_scene.proc);
	assert_null(proc_scene.proc.own);
	store_memory_deinit(&proc_scene.memory);
	return 0;
}

void proc_scene_prepare(void)
{
	struct uft_err err = { 0 };

	proc_scene.proc.way = proc_scene_way;
	proc_scene.proc.end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	proc_scene.proc.over_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_int_equal(proc_scene.proc.way->prepare(&proc_scene.proc, &proc_scene.settings, &err),
			 0);
	assert_non_null(proc_scene.proc.own);
	assert_int_equal(
		proc_log_open(&proc_scene.proc.log, &proc_scene.settings, &proc_scene.memory.store),
		0);
}

int proc_scene_start(pid_t pid, struct uft_err *err)
{
	return proc_scene.proc.way->start(&proc_scene.proc, pid, err);
}

/* Returns the address of the function relative to the program, which may be loaded anywhere. */
static intptr_t number_of(int (*fn)(void))
{
	return (intptr_t)fn - (intptr_t)proc_scene_main;
}

static int run_as_program(int (*fn)(void))
{
	char number[32];

	snprintf(number, sizeof(number), "%" PRIdPTR, number_of(fn));
	execl("/proc/self/exe", "does", DOES_ARG, number, NULL);
	return 97;
}

/* _exit() keeps sanitizers from looking for leaks in traced children. */
void proc_scene_main(int argc, char *argv[])
{
	if (argc > 1 && strcmp(argv[1], ENDS_ARG) == 0)
		_exit(8);
	if (argc > 2 && strcmp(argv[1], DOES_ARG) == 0)
		_exit(((int (*)(void))((intptr_t)proc_scene_main + atoll(argv[2])))());
}

void proc_scene_trace(int (*fn)(void))
{
	struct uft_err err = { 0 };
	int go[2];

	proc_scene_prepare();
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	proc_scene.pid = fork();
	assert_true(proc_scene.pid >= 0);
	if (proc_scene.pid == 0) {
		struct proc_filter filter;
		char byte;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(99);
		close(go[0]);
		proc_filter_make(&filter);
		if (proc_scene_way->uses_filter && proc_scene.settings.traces_files &&
		    proc_filter_install(&filter.program) < 0)
			_exit(98);
		_exit(proc_scene_way->uses_filter ? fn() : run_as_program(fn));
	}
	close(go[0]);
	proc_scene.go_fd = go[1];
	if (proc_scene_start(proc_scene.pid, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(write(proc_scene.go_fd, "x", 1), 1);
	close(proc_scene.go_fd);
}

static void wait_for(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&pollfd, 1, LIMIT_MS), 1);
}

/*
 * A record with the CPU of a task comes before another record of this task, and has the same time.
 * Check the record with the CPU. It is not among the records of proc_scene.
 */
static void check_place(const struct proc_record *place, const struct proc_record *record)
{
	int cpu;

	assert_true(proc_cpu_decode(place->data, place->len, BIG, &cpu));
	assert_true(cpu < (int)sysconf(_SC_NPROCESSORS_CONF));
	assert_int_equal(place->tid, record->tid);
	assert_int_equal(place->time_ns, record->time_ns);
}

static void read_records(void)
{
	struct proc_record place = { 0 };
	struct strbuf *content = &proc_scene.memory.files[proc_scene.proc.log.stream].content;
	size_t at = 0, wanted;
	ssize_t len;

	assert_string_equal(proc_scene.memory.files[proc_scene.proc.log.stream].name,
			    DATADIR_PROCESSES);
	while (at < content->len) {
		struct proc_record *record = &proc_scene.records[proc_scene.nr];

		assert_true(proc_scene.nr + 1 < 4096);
		len = proc_record_decode((const uint8_t *)content->data + at, content->len - at,
					 BIG, record, &wanted, NULL);
		assert_true(len > 0);
		at += len;
		if (record->kind == PROC_CPU) {
			assert_int_equal(place.kind, 0);
			place = *record;
			continue;
		}
		if (place.kind)
			check_place(&place, record);
		place.kind = 0;
		proc_scene.nr++;
	}
	assert_int_equal(place.kind, 0);
	for (size_t i = 1; i < proc_scene.nr; i++)
		assert_true(proc_scene.records[i].time_ns > proc_scene.records[i - 1].time_ns);
}

/* Skip the first records: they are about the execution of the test program itself. */
static void skip_first_program(void)
{
	assert_true(proc_scene.nr && proc_scene.records[0].kind == PROC_EXEC);
	do
		proc_scene.at++;
	while (proc_scene.at < proc_scene.nr &&
	       (proc_scene.records[proc_scene.at].kind == PROC_ENV ||
		proc_scene.records[proc_scene.at].kind == PROC_INHERIT));
}

int proc_scene_finish(void)
{
	struct rusage usage = { .ru_maxrss = -1 };
	int status = -1;

	wait_for(proc_scene.proc.over_fd);
	if (proc_scene_way->tells_end) {
		wait_for(proc_scene.proc.end_fd);
		assert_true(proc_scene_way->end(&proc_scene.proc, &status, &usage));
		assert_true(usage.ru_maxrss > 0);
	} else {
		assert_int_equal(waitpid(proc_scene.pid, &status, 0), proc_scene.pid);
	}
	proc_scene_way->stop(&proc_scene.proc);
	read_records();
	if (!proc_scene_way->uses_filter)
		skip_first_program();
	/* The tracer has waited for all children. */
	assert_int_equal(waitpid(proc_scene.pid, NULL, WNOHANG), -1);
	return status;
}

/* Returns the next record, which must be of kind @kind and of the program itself. */
static const struct proc_record *next(enum proc_kind kind)
{
	const struct proc_record *record = &proc_scene.records[proc_scene.at++];

	assert_true(proc_scene.at <= proc_scene.nr);
	assert_int_equal(record->kind, kind);
	return record;
}

static struct proc_fork next_fork(enum proc_fork_how how)
{
	const struct proc_record *record = next(PROC_FORK);
	struct proc_fork made;

	assert_true(proc_fork_decode(record->data, record->len, BIG, &made));
	assert_int_equal(record->tid, proc_scene.pid);
	assert_int_equal(record->pid, proc_scene.pid);
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
	assert_int_equal(proc_scene.at, proc_scene.nr);
}

/* --- the work of programs; each function returns the exit status --- */

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

void forks_are_told_before_what_their_children_do(void **state)
{
	struct proc_fork made;

	proc_scene_trace(makes_children);
	assert_int_equal(proc_scene_finish(), 7 << 8);
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
	next_exit(proc_scene.pid, proc_scene.pid, 7 << 8);
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

void a_thread_is_of_its_process(void **state)
{
	struct proc_fork made;

	proc_scene_trace(makes_a_thread);
	assert_int_equal(proc_scene_finish(), 0);
	made = next_fork(PROC_BY_CLONE);
	assert_int_not_equal(made.child, proc_scene.pid);
	assert_int_equal(made.child_pid, proc_scene.pid);
	assert_true(made.flags & CLONE_THREAD);
	next_exit(made.child, proc_scene.pid, 0);
	next_exit(proc_scene.pid, proc_scene.pid, 0);
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

/* Returns the place of @tid among the live tasks, or their number. */
static size_t find_live(const int32_t *live, size_t nr, int32_t tid)
{
	size_t i = 0;

	while (i < nr && live[i] != tid)
		i++;
	return i;
}

/* The kernel may give the number of an ended child to a later one. */
void each_fork_of_many_has_an_end_behind_it(void **state)
{
	size_t nr_forks = 0, nr_ends = 0, nr_live = 1;
	int32_t live[4];

	proc_scene_trace(makes_many_children);
	assert_int_equal(proc_scene_finish(), 0);
	live[0] = proc_scene.pid;
	for (size_t i = proc_scene.at; i < proc_scene.nr; i++) {
		const struct proc_record *record = &proc_scene.records[i];
		size_t who = find_live(live, nr_live, record->tid);
		struct proc_fork made;

		assert_true(who < nr_live);
		assert_int_equal(record->pid, record->tid);
		if (record->kind == PROC_EXIT) {
			nr_ends++;
			live[who] = live[--nr_live];
			continue;
		}
		assert_int_equal(record->kind, PROC_FORK);
		nr_forks++;
		assert_true(proc_fork_decode(record->data, record->len, BIG, &made));
		assert_int_equal(made.child_pid, made.child);
		assert_int_equal(find_live(live, nr_live, made.child), nr_live);
		/* The program, its child, and the child's child. */
		assert_true(nr_live < 3);
		live[nr_live++] = made.child;
	}
	assert_int_equal(nr_live, 0);
	assert_int_equal(nr_forks, 200);
	assert_int_equal(nr_ends, 201);
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

void signals_come_as_without_us(void **state)
{
	proc_scene_trace(gets_signals);
	assert_int_equal(proc_scene_finish(), 3 << 8);
	next_exit(proc_scene.pid, proc_scene.pid, 3 << 8);
	no_more();
}

static int is_killed(void)
{
	signal(SIGTERM, SIG_DFL);
	raise(SIGTERM);
	return 1;
}

void the_end_by_a_signal_is_told_as_such(void **state)
{
	proc_scene_trace(is_killed);
	assert_int_equal(proc_scene_finish(), SIGTERM);
	next_exit(proc_scene.pid, proc_scene.pid, SIGTERM);
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
	/* The child stays stopped until it is continued. */
	usleep(20000);
	if (waitpid(pid, &status, WNOHANG) != 0)
		return 2;
	kill(pid, SIGCONT);
	return wait_status(pid);
}

void who_is_stopped_can_be_continued(void **state)
{
	struct proc_fork made;

	proc_scene_trace(stops_a_child);
	assert_int_equal(proc_scene_finish(), 6 << 8);
	made = next_fork(PROC_BY_FORK);
	next_exit(made.child, made.child, 6 << 8);
	next_exit(proc_scene.pid, proc_scene.pid, 6 << 8);
	no_more();
}

static char *const exec_args[] = { "a name", ENDS_ARG, NULL };
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
	static const char wanted[] = "a name\0" ENDS_ARG;
	const struct proc_record *record = next(PROC_EXEC);
	struct proc_exec exec;

	assert_int_equal(record->tid, proc_scene.pid);
	assert_int_equal(record->pid, proc_scene.pid);
	assert_true(proc_exec_decode(record->data, record->len, BIG, &exec));
	assert_int_equal(exec.old_tid, old_tid);
	assert_int_equal(exec.args.end - exec.args.at, sizeof(wanted));
	assert_memory_equal(exec.args.at, wanted, sizeof(wanted));
}

void a_program_is_told_with_what_it_was_given(void **state)
{
	proc_scene_trace(executes);
	assert_int_equal(proc_scene_finish(), 8 << 8);
	next_exec(proc_scene.pid);
	next_exit(proc_scene.pid, proc_scene.pid, 8 << 8);
	no_more();
}

void of_a_thread_that_executes_no_end_is_told(void **state)
{
	struct proc_fork made;

	proc_scene_trace(executes_in_a_thread);
	assert_int_equal(proc_scene_finish(), 8 << 8);
	made = next_fork(PROC_BY_CLONE);
	next_exec(made.child);
	next_exit(proc_scene.pid, proc_scene.pid, 8 << 8);
	no_more();
}

void the_environment_is_told_when_it_is_wanted(void **state)
{
	static const char wanted[] = "ONE=1\0TWO=2";
	const struct proc_record *record;
	struct proc_act act;

	proc_scene.settings.traces_environment = true;
	proc_scene_trace(executes);
	assert_int_equal(proc_scene_finish(), 8 << 8);
	next_exec(proc_scene.pid);
	record = next(PROC_ENV);
	assert_int_equal(record->tid, proc_scene.pid);
	assert_int_equal(record->pid, proc_scene.pid);
	assert_true(proc_act_decode(record->data, record->len, BIG, &act));
	assert_int_equal(act.texts[0].end - act.texts[0].at, sizeof(wanted));
	assert_memory_equal(act.texts[0].at, wanted, sizeof(wanted));
	next_exit(proc_scene.pid, proc_scene.pid, 8 << 8);
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
	/* A call that fails for a missing file is not recorded. */
	if (renameat(AT_FDCWD, "made", AT_FDCWD, "moved") >= 0)
		return 3;
	if (dup3(fd, 77, O_CLOEXEC) != 77)
		return 4;
	syscall(SYS_close, 77);
	syscall(SYS_close, 77);
	return unlinkat(AT_FDCWD, "moved", 0) < 0 ? 5 : 0;
}

/* Find the next act of kind @kind. Others may come from the C library. */
static struct proc_act next_act(enum proc_kind kind)
{
	struct proc_act act;

	while (proc_scene.at < proc_scene.nr && proc_scene.records[proc_scene.at].kind != kind)
		proc_scene.at++;
	assert_true(proc_scene.at < proc_scene.nr);
	assert_int_equal(proc_scene.records[proc_scene.at].tid, proc_scene.pid);
	assert_int_equal(proc_scene.records[proc_scene.at].pid, proc_scene.pid);
	assert_true(proc_act_decode(proc_scene.records[proc_scene.at].data,
				    proc_scene.records[proc_scene.at].len, BIG, &act));
	proc_scene.at++;
	return act;
}

bool proc_scene_is_below(const struct text *text, const char *name)
{
	char wanted[PATH_MAX + 32];
	size_t len = snprintf(wanted, sizeof(wanted), "%s/%s", top, name);

	return (size_t)(text->end - text->at) == len && memcmp(text->at, wanted, len) == 0;
}

static size_t count(enum proc_kind kind)
{
	size_t nr = 0;

	for (size_t i = proc_scene.at; i < proc_scene.nr; i++)
		nr += proc_scene.records[i].kind == kind;
	return nr;
}

void calls_that_have_done_something_are_told(void **state)
{
	size_t nr_renames, nr_closes;
	struct proc_act act;
	uint32_t fd;

	proc_scene.settings.traces_files = true;
	proc_scene_trace(uses_files);
	assert_int_equal(proc_scene_finish(), 0);
	/* Before this file a program opens others, such as libraries. */
	do
		act = next_act(PROC_OPEN);
	while (!proc_scene_is_below(&act.texts[0], "made"));
	nr_renames = count(PROC_RENAME);
	nr_closes = count(PROC_CLOSE);
	assert_int_equal(count(PROC_OPEN), 0);
	fd = act.numbers[0];
	assert_int_equal(act.numbers[1] & ~O_LARGEFILE, O_CREAT | O_RDWR);
	assert_int_equal(act.numbers[2], 0640);
	assert_true(proc_scene_is_below(&act.texts[0], "made"));
	act = next_act(PROC_RENAME);
	assert_true(proc_scene_is_below(&act.texts[0], "made"));
	assert_true(proc_scene_is_below(&act.texts[1], "moved"));
	act = next_act(PROC_DUP);
	assert_int_equal(act.numbers[0], fd);
	assert_int_equal(act.numbers[1], 77);
	assert_int_equal(act.numbers[2], O_CLOEXEC);
	act = next_act(PROC_CLOSE);
	assert_int_equal(act.numbers[0], 77);
	assert_int_equal(act.numbers[1], 77);
	act = next_act(PROC_UNLINK);
	assert_true(proc_scene_is_below(&act.texts[0], "moved"));
	next_exit(proc_scene.pid, proc_scene.pid, 0);
	no_more();
	assert_int_equal(nr_closes, 1);
	assert_int_equal(nr_renames, 1);
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

void what_a_program_finds_open_is_told(void **state)
{
	bool has_it = false;

	proc_scene.settings.traces_files = true;
	proc_scene_trace(executes_with_a_file);
	assert_int_equal(proc_scene_finish(), 8 << 8);
	for (size_t i = proc_scene.at; i < proc_scene.nr; i++) {
		const struct proc_record *record = &proc_scene.records[i];
		struct proc_act act;

		if (record->kind != PROC_INHERIT)
			continue;
		assert_int_equal(record->tid, proc_scene.pid);
		assert_int_equal(record->pid, proc_scene.pid);
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

void without_files_there_are_none(void **state)
{
	proc_scene_trace(uses_files);
	assert_int_equal(proc_scene_finish(), 0);
	next_exit(proc_scene.pid, proc_scene.pid, 0);
	no_more();
}

int proc_scene_make_top(void **state)
{
	char template[] = "/tmp/utrail-unit-XXXXXX";

	return !mkdtemp(template) || !realpath(template, top) || chdir(top) ? -1 : 0;
}

int proc_scene_remove_top(void **state)
{
	return rmdir(top);
}
