/*
 * The line that shows the progress of `record`: when there is one, its text, and the processes
 * whose output hides it. Time, timer and terminal are simulated.
 */
#include "tests/unit/lib/record/recorder.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "cmds/record/run/progress.h"
#include "utils/base/clock.h"

#define S 1000000000ULL

/*
 * @now_ns: the time of all clocks; 0: the real time
 * @timer_fd: the event counter that plays the timer; negative: there is none
 * @shown: the text of the line; empty: no line
 */
static struct {
	bool is_tty;
	bool has_line;
	bool knows_device;
	bool has_timer;
	uint64_t device;
	uint64_t now_ns;
	int timer_fd;
	int nr_open;
	char shown[256];
} fake;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	if (!fake.now_ns)
		return __real_clock_gettime(clock, now);
	*now = (struct timespec){ fake.now_ns / S, fake.now_ns % S };
	return 0;
}

int __wrap_isatty(int fd);

int __wrap_isatty(int fd)
{
	assert_int_equal(fd, STDERR_FILENO);
	return fake.is_tty;
}

int __real_loop_add_timer(struct loop *loop, uint64_t period_ns, struct served *served);
int __wrap_loop_add_timer(struct loop *loop, uint64_t period_ns, struct served *served);

/* Timers with other periods are those of the recorder. */
int __wrap_loop_add_timer(struct loop *loop, uint64_t period_ns, struct served *served)
{
	if (period_ns != S)
		return __real_loop_add_timer(loop, period_ns, served);
	if (!fake.has_timer)
		return -1;
	fake.timer_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	assert_true(fake.timer_fd >= 0);
	assert_int_equal(loop_add(loop, fake.timer_fd, served), 0);
	return fake.timer_fd;
}

bool __wrap_statusline_open(void);

bool __wrap_statusline_open(void)
{
	fake.nr_open += fake.has_line;
	return fake.has_line;
}

void __wrap_statusline_close(void);

void __wrap_statusline_close(void)
{
	fake.nr_open--;
	fake.shown[0] = '\0';
}

void __wrap_statusline_show(const char *text);

void __wrap_statusline_show(const char *text)
{
	snprintf(fake.shown, sizeof(fake.shown), "%s", text);
}

void __wrap_statusline_hide(void);

void __wrap_statusline_hide(void)
{
	fake.shown[0] = '\0';
}

bool __wrap_statusline_terminal(uint64_t *device);

bool __wrap_statusline_terminal(uint64_t *device)
{
	*device = fake.device;
	return fake.knows_device;
}

struct line {
	struct test_recorder *t;
	struct opts opts;
	struct run run;
	struct run_progress progress;
};

static int setup(void **state)
{
	struct line *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	assert_int_equal(test_recorder_setup((void **)&l->t), 0);
	l->run.opts = &l->opts;
	fake = (typeof(fake)){
		.is_tty = true,
		.has_line = true,
		.knows_device = true,
		.has_timer = true,
		.device = makedev(1, 3),
		.timer_fd = -1,
	};
	*state = l;
	return 0;
}

static int teardown(void **state)
{
	struct line *l = *state;
	void *recorder = l->t;

	fake.now_ns = 0;
	assert_int_equal(test_recorder_teardown(&recorder), 0);
	free(l);
	return 0;
}

static void begin(struct line *l, pid_t program)
{
	run_progress_begin(&l->progress, &l->run, &l->t->rec, program);
}

/* The timer expires. */
static void tick(struct line *l)
{
	const uint64_t one = 1;

	assert_int_equal(write(fake.timer_fd, &one, sizeof(one)), sizeof(one));
	assert_int_equal(loop_serve(&l->t->rec.loop, 0), 1);
}

static void end(struct line *l)
{
	run_progress_end(&l->progress);
	assert_int_equal(l->progress.timer_fd, -1);
	assert_int_equal(fake.nr_open, 0);
	assert_string_equal(fake.shown, "");
	/* A second call does nothing. */
	run_progress_end(&l->progress);
	assert_int_equal(fake.nr_open, 0);
}

/* Check if there is a line, and if the calls are counted for it. */
static void check_line(struct line *l, bool is_counted, bool is_there)
{
	run_progress_prepare(&l->run, &l->t->rec);
	assert_int_equal(l->t->rec.writers.counts_calls, is_counted);
	begin(l, 0);
	assert_int_equal(l->progress.timer_fd >= 0, is_there);
	assert_int_equal(fake.nr_open, is_there);
	end(l);
}

TEST_WITH(there_is_a_line_on_a_terminal_unless_options_forbid_it, setup, teardown)
{
	struct line *l = *state;

	check_line(l, true, true);
	l->opts.progress = OPTS_PROGRESS_OFF;
	check_line(l, false, false);
	l->opts.progress = OPTS_PROGRESS_ON;
	check_line(l, true, true);
	l->opts.logfile = "log";
	check_line(l, false, false);
	l->opts.logfile = NULL;
	l->opts.keep_pid = true;
	check_line(l, false, false);
	l->opts.keep_pid = false;
	fake.is_tty = false;
	check_line(l, false, false);
	fake.is_tty = true;
	fake.has_line = false;
	check_line(l, true, false);
	fake.has_line = true;
	fake.has_timer = false;
	check_line(l, true, false);
}

/* Other programs' output cannot be noticed on an unknown terminal. */
TEST_WITH(a_line_on_an_unknown_terminal_must_be_asked_for, setup, teardown)
{
	struct line *l = *state;

	fake.knows_device = false;
	check_line(l, true, false);
	l->opts.progress = OPTS_PROGRESS_ON;
	check_line(l, true, true);
}

TEST_WITH(the_line_has_the_time_and_the_counts, setup, teardown)
{
	static const struct {
		uint64_t after_ns;
		const char *time;
	} cases[] = {
		{ S - 1, "0:00" },	   { S, "0:01" },	    { 59 * S, "0:59" },
		{ 60 * S, "1:00" },	   { 61 * S + 1, "1:01" },  { 3599 * S, "59:59" },
		{ 3600 * S, "1:00:00" },   { 3661 * S, "1:01:01" }, { 36000 * S, "10:00:00" },
		{ 86399 * S, "23:59:59" },
	};
	struct line *l = *state;
	char expected[128];

	l->t->rec.writers.calls = 1234567;
	l->t->rec.writers.records_lost = 8;
	l->t->rec.writers.store->taken = (5 << 20) + (1 << 19);
	fake.now_ns = 1000 * S;
	begin(l, 0);
	assert_string_equal(fake.shown, "");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fake.now_ns = 1000 * S + cases[i].after_ns;
		tick(l);
		snprintf(expected, sizeof(expected), "%s, 1234567 calls, 5.5 MB, 8 lost",
			 cases[i].time);
		assert_string_equal(fake.shown, expected);
	}
	end(l);
}

/* A process with the number @pid that no file descriptor watches. */
static struct process *publish(struct line *l, pid_t pid)
{
	const struct control_hello hello = { .pid = pid, .ppid = 1, .kind = CONTROL_EXEC };
	struct recorder *rec = &l->t->rec;
	int arena_fd = -1;
	struct process *proc = process_create(&rec->processes, &hello, pid, &arena_fd);

	assert_non_null(proc);
	close(arena_fd);
	proc->session = image_create(&rec->sessions, pid, "/bin/x");
	process_publish(&rec->processes, proc);
	return proc;
}

TEST_WITH(a_flight_recording_states_what_is_in_memory, setup, teardown)
{
	struct line *l = *state;
	char expected[128];

	l->opts.progress = OPTS_PROGRESS_ON;
	l->t->settings.flight_bytes = FLIGHT_BYTES_MIN;
	fake.now_ns = S;
	begin(l, 0);
	tick(l);
	assert_string_equal(fake.shown, "0:00, 0.0 MB of 0 tasks in memory, 0 lost");

	struct process *proc = publish(l, getpid());
	struct ring *first = process_ring(proc, 0);
	struct ring *second = process_ring(proc, 1);

	proc->arena->high_water = 1;
	first->state = RING_LIVE;
	first->lost = 3;
	first->head = UINT64_MAX;
	tick(l);
	/* A ring never has more records than there is room for. */
	snprintf(expected, sizeof(expected), "0:00, %.1f MB of 1 task in memory, 3 lost",
		 (double)proc->nr_segments * proc->segment_bytes / (1 << 20));
	assert_string_equal(fake.shown, expected);
	proc->arena->high_water = 2;
	second->state = RING_LIVE;
	first->head = second->head = 0;
	second->lost = 1;
	tick(l);
	assert_string_equal(fake.shown, "0:00, 0.0 MB of 2 tasks in memory, 4 lost");
	first->state = second->state = RING_FREE;
	end(l);
}

/* --- processes that print on the terminal --- */

static void use_device(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_CREAT, 0600);

	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(1);
}

/* The process gets a controlling terminal, and prints on /dev/tty. */
static void use_own_terminal(void)
{
	int unlocked = 0;
	int number;
	char name[64];
	int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY);

	if (setsid() < 0 || fd < 0 || ioctl(fd, TIOCSPTLCK, &unlocked) < 0 ||
	    ioctl(fd, TIOCGPTN, &number) < 0)
		_exit(1);
	snprintf(name, sizeof(name), "/dev/pts/%d", number);

	int terminal = open(name, O_RDWR);

	if (terminal < 0 || ioctl(terminal, TIOCSCTTY, 0) < 0)
		_exit(1);
	use_device("/dev/tty");
}

/* Start a process whose stdout is the file @path. Returns 0 when the file cannot be opened. */
static pid_t begin_printer(const char *path)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (strcmp(path, "/dev/tty") == 0)
			use_own_terminal();
		else
			use_device(path);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = 0;
	}
	close(ready[0]);
	return pid;
}

static void stop_printer(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void check_shown(struct line *l, bool is_shown)
{
	/* The terminal shows an earlier line. It is replaced, or erased. */
	strcpy(fake.shown, "before");
	tick(l);
	if (is_shown)
		assert_true(strstr(fake.shown, "calls"));
	else
		assert_string_equal(fake.shown, "");
}

TEST_WITH(a_program_that_prints_there_hides_the_line, setup, teardown)
{
	struct line *l = *state;
	pid_t pid = begin_printer("/dev/null");

	assert_true(pid > 0);
	begin(l, pid);
	check_shown(l, false);
	fake.device = makedev(1, 5);
	end(l);

	/* The program's stdout is another device. */
	begin(l, pid);
	check_shown(l, true);
	end(l);

	/* The user has asked for the line. */
	fake.device = makedev(1, 3);
	l->opts.progress = OPTS_PROGRESS_ON;
	begin(l, pid);
	check_shown(l, true);
	end(l);
	l->opts.progress = 0;

	/* The program has ended: another process may have its number now. */
	begin(l, pid);
	check_shown(l, false);
	alive_program_ended(&l->t->rec.alive);
	check_shown(l, true);
	end(l);
	l->t->rec.alive.program_ended = false;

	/* The recorder has started no program (-p). */
	begin(l, 0);
	check_shown(l, true);
	end(l);

	/* The program has ended, and the recorder has not heard of it yet. */
	begin(l, pid);
	stop_printer(pid);
	check_shown(l, true);
	end(l);
}

TEST_WITH(so_does_any_recorded_process, setup, teardown)
{
	struct line *l = *state;
	pid_t printer = begin_printer("/dev/null");
	pid_t other = begin_printer("/dev/zero");
	struct process *first, *second;

	assert_true(printer > 0 && other > 0);
	first = publish(l, printer);
	second = publish(l, other);
	begin(l, other);
	check_shown(l, false);
	process_retire(&l->t->rec.processes, first);
	check_shown(l, true);
	process_retire(&l->t->rec.processes, second);
	check_shown(l, true);
	end(l);
	stop_printer(printer);
	stop_printer(other);
}

/* A plain file does not stand for a device: its st_rdev is 0. */
TEST_WITH(a_plain_file_is_no_terminal, setup, teardown)
{
	struct line *l = *state;
	char path[96];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/out", l->t->dir);
	pid = begin_printer(path);
	assert_true(pid > 0);
	fake.device = 0;
	begin(l, pid);
	check_shown(l, true);
	end(l);
	stop_printer(pid);
}

/* /dev/tty has a number of its own, and may be any terminal. */
TEST_WITH(dev_tty_is_every_terminal, setup, teardown)
{
	struct line *l = *state;
	pid_t pid = begin_printer("/dev/tty");

	if (!pid)
		skip_because("there are no pseudo terminals");
	begin(l, pid);
	check_shown(l, false);
	end(l);
	stop_printer(pid);
}

/* The files of another user's process cannot be seen, so its stdout may be the terminal. */
TEST_WITH(the_line_is_hidden_for_a_process_of_another_user, setup, teardown)
{
	struct line *l = *state;
	pid_t pid;

	if (geteuid() != 0)
		skip_because("needs root, to be another user");
	pid = begin_printer("/dev/zero");
	assert_true(pid > 0);
	begin(l, pid);
	check_shown(l, true);
	assert_int_equal(seteuid(65534), 0);
	check_shown(l, false);
	assert_int_equal(seteuid(0), 0);
	end(l);
	stop_printer(pid);
}
