/*
 * An instance of the kernel's tracing: its settings, and its pages. Plain files and pipes stand for
 * it.
 */
#include "tests/unit/lib/record/recorder.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cmds/record/sources/kernel.h"
#include "cmds/record/sources/tracefs.h"
#include "utils/base/compiler.h"
#include "utils/base/fd.h"
#include "utils/format/kernel/kernel_dat.h"

#define PID 4711

/* The directory that plays tracefs, and the path of the instance. */
static char top[64];
static char instance[128];
static bool has_watermarks;
/* Instances can trace calls. */
static bool has_calls;
/* A file that instances do not have, or NULL. */
static const char *missing;
static size_t page;
/* The file of the first CPU's pages. */
static int cpu0;

/* --- the simulated kernel --- */

int __wrap_tracefs_open(struct uft_err *err);
ssize_t __wrap_readlink(const char *path, char *out, size_t size);
ssize_t __real_readlink(const char *path, char *out, size_t size);
int __wrap_mkdirat(int dir, const char *name, mode_t mode);
int __real_mkdirat(int dir, const char *name, mode_t mode);
int __wrap_unlinkat(int dir, const char *name, int flags);
int __real_unlinkat(int dir, const char *name, int flags);
ssize_t __wrap_splice(int in, loff_t *in_at, int out, loff_t *out_at, size_t len, unsigned flags);
ssize_t __real_splice(int in, loff_t *in_at, int out, loff_t *out_at, size_t len, unsigned flags);

int __wrap_tracefs_open(struct uft_err *err)
{
	return open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static const char *pid_space = "pid:[4026531836]";

ssize_t __wrap_readlink(const char *path, char *out, size_t size)
{
	if (strcmp(path, "/proc/self/ns/pid") != 0)
		return __real_readlink(path, out, size);
	memcpy(out, pid_space, strlen(pid_space));
	return (ssize_t)strlen(pid_space);
}

static void put(const char *dir, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);

	int fd cleanup_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

static void make_dirs(const char *in, const char *const *names)
{
	char path[256];

	for (; *names; names++) {
		snprintf(path, sizeof(path), "%s/%s", in, *names);
		assert_int_equal(mkdir(path, 0700), 0);
	}
}

/* A directory that is made below instances/ becomes an instance. */
int __wrap_mkdirat(int dir, const char *name, mode_t mode)
{
	static const char *const dirs[] = { "options",	      "events",
					    "events/sched",   "events/sched/a",
					    "events/sched/b", "per_cpu",
					    "per_cpu/cpu0",   NULL };
	static const char *const files[] = { "tracing_on",	     "trace_clock",
					     "buffer_size_kb",	     "options/event-fork",
					     "set_event_pid",	     "events/sched/a/enable",
					     "events/sched/b/enable" };
	static const char *const files_of_calls[] = { "max_graph_depth", "set_graph_function",
						      "set_ftrace_pid", "current_tracer",
						      "options/function-fork" };
	char path[256];
	int ret = __real_mkdirat(dir, name, mode);

	if (ret < 0 || strncmp(name, "instances/", strlen("instances/")) != 0)
		return ret;
	snprintf(instance, sizeof(instance), "%s/%s", top, name);
	make_dirs(instance, dirs);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (!missing || strcmp(missing, files[i]) != 0)
			put(instance, files[i], "");
	}
	for (size_t i = 0; has_calls && i < ARRAY_SIZE(files_of_calls); i++)
		put(instance, files_of_calls[i], "");
	if (has_watermarks)
		put(instance, "buffer_percent", "");
	put(instance, "per_cpu/cpu0/stats",
	    "entries: 3\noverrun: 5\ncommit overrun: 70\nbytes: 9\ndropped events: 1100\nread "
	    "events: 2\n");
	snprintf(path, sizeof(path), "%s/per_cpu/cpu0/trace_pipe_raw", instance);
	assert_int_equal(mkfifo(path, 0600), 0);
	/* The test keeps the FIFO open for writing, too. So the recorder never reads its end. */
	cpu0 = open(path, O_RDWR | O_CLOEXEC);
	assert_true(cpu0 >= 0);
	return 0;
}

/* Removes the instance with all files in it, as the kernel does. */
int __wrap_unlinkat(int dir, const char *name, int flags)
{
	if (!strstr(name, "utrail-"))
		return __real_unlinkat(dir, name, flags);
	assert_int_equal(flags, AT_REMOVEDIR);

	char path[256];
	struct stat of_dir, of_top;

	assert_true(fstat(dir, &of_dir) == 0 && stat(top, &of_top) == 0);
	snprintf(path, sizeof(path), "%s/%s%s", top,
		 of_dir.st_ino == of_top.st_ino ? "" : "instances/", name);
	return nftw(path, test_recorder_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* The kernel moves whole pages only. */
ssize_t __wrap_splice(int in, loff_t *in_at, int out, loff_t *out_at, size_t len, unsigned flags)
{
	int there = 0;

	assert_int_equal(ioctl(in, FIONREAD, &there), 0);
	len = MIN(len, there / page * page);
	if (!len) {
		errno = EAGAIN;
		return -1;
	}
	return __real_splice(in, in_at, out, out_at, len, flags);
}

/* --- a recorder with this source --- */

struct place {
	struct test_recorder *t;
	struct event_rules rules;
	struct sources sources;
	struct kernel kernel;
};

static int setup(void **state)
{
	static const char *const dirs[] = { "instances", "events", "events/sched", "events/sched/a",
					    NULL };
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	page = sysconf(_SC_PAGESIZE);
	assert_int_equal(test_recorder_setup((void **)&p->t), 0);
	strcpy(top, "/tmp/utrail-unit-XXXXXX");
	assert_non_null(mkdtemp(top));
	make_dirs(top, dirs);
	put(top, "available_events", "sched:a\nsched:b\nftrace:without_a_switch\nirq:c\n");
	put(top, "events/header_page", "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n");
	put(top, "events/sched/a/format", "name: a\n");
	has_watermarks = true;
	has_calls = false;
	missing = NULL;
	cpu0 = -1;
	instance[0] = '\0';
	pid_space = "pid:[4026531836]";
	assert_int_equal(event_rules_parse("sched:*@kernel", MATCH_GLOB, &p->rules, NULL), 0);
	p->t->settings.events = &p->rules;
	p->sources = (struct sources){ &p->t->settings, &p->t->store.store, &p->t->rec.loop };
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	sources_finish(&p->sources);
	p->t->settings.events = &p->t->events;
	event_rules_deinit(&p->rules);
	nftw(top, test_recorder_remove, 16, FTW_DEPTH | FTW_PHYS);
	if (cpu0 >= 0)
		close(cpu0);
	test_recorder_teardown((void **)&p->t);
	free(p);
	return 0;
}

static void begin(struct place *p)
{
	struct uft_err err = { 0 };

	kernel_open(&p->kernel, &p->sources, PID, &err);
	assert_string_equal(err.text, "");
}

static void check(const char *name, const char *expected)
{
	char path[256];
	struct strbuf text cleanup_strbuf = { 0 };

	snprintf(path, sizeof(path), "%s/%s", instance, name);
	assert_int_equal(file_read_all(path, 4096, &text, NULL), 0);
	assert_string_equal(strbuf_str(&text), expected);
}

static void give(char byte, size_t len)
{
	char *bytes = malloc(len);

	assert_non_null(bytes);
	memset(bytes, byte, len);
	assert_int_equal(fd_write_all(cpu0, bytes, len), 0);
	free(bytes);
}

/* @expected: one letter for each page */
static void check_pages(const struct place *p, const char *expected)
{
	char *text = test_recorder_file(p->t, "kernel-cpu0.dat");
	struct stat st;

	assert_int_equal(fstatat(p->t->dir_fd, "kernel-cpu0.dat", &st, 0), 0);
	assert_int_equal(st.st_size, strlen(expected) * page);
	for (size_t i = 0; i < strlen(expected); i++)
		assert_int_equal(text[i * page], expected[i]);
	free(text);
}

/* --- tests --- */

TEST_WITH(what_it_is_told, setup, teardown)
{
	struct place *p = *state;
	char *header;

	p->t->settings.clock_id = CLOCK_BOOTTIME;
	begin(p);
	check("trace_clock", "boot");
	check("buffer_size_kb", "1408");
	check("buffer_percent", "1");
	check("options/event-fork", "1");
	check("set_event_pid", "4711");
	check("events/sched/a/enable", "1");
	check("events/sched/b/enable", "1");
	check("tracing_on", "1");
	assert_true(p->kernel.has_watermark);
	/* Programs inherit no descriptor of the recorder. The recorder never waits at the pipe. */
	for (int i = 0; i < 2; i++) {
		assert_true(fcntl(p->kernel.pipe[i], F_GETFD) & FD_CLOEXEC);
		assert_true(fcntl(p->kernel.pipe[i], F_GETFL) & O_NONBLOCK);
	}
	assert_true(fcntl(p->kernel.instance_fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(p->sources.nr, 1);
	header = test_recorder_file(p->t, "kernel_header");
	free(header);
	assert_int_equal(faccessat(p->t->dir_fd, "kallsyms", F_OK, 0),
			 access("/proc/kallsyms", R_OK));
	sources_finish(&p->sources);
	/* The instance is removed, and none of its files is open. */
	assert_int_equal(access(instance, F_OK), -1);
	assert_int_equal(p->kernel.instance_fd, -1);
	assert_int_equal(p->kernel.tracefs_fd, -1);
	assert_int_equal(p->kernel.pipe[0], -1);
	assert_int_equal(p->kernel.pipe[1], -1);
	assert_int_equal(p->kernel.lost, 1175);
}

TEST_WITH(each_clock, setup, teardown)
{
	static const struct {
		clockid_t id;
		const char *name;
	} clocks[] = { { CLOCK_MONOTONIC, "mono" }, { CLOCK_MONOTONIC_RAW, "mono_raw" } };
	struct place *p = *state;
	struct uft_err err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		p->t->settings.clock_id = clocks[i].id;
		begin(p);
		check("trace_clock", clocks[i].name);
		sources_finish(&p->sources);
		close(cpu0);
		cpu0 = -1;
	}
	p->t->settings.clock_id = CLOCK_REALTIME;
	assert_int_equal(kernel_open(&p->kernel, &p->sources, PID, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "cannot record events of the kernel: "));
	p->t->settings.clock_id = CLOCK_MONOTONIC;
}

/*
 * The kernel wakes the recorder when 16 KB are full. If the buffer has less than 32 KB, the kernel
 * wakes the recorder when half of it is full, but at least two pages. The kernel is told this as a
 * percentage of the buffer.
 */
TEST_WITH(when_it_is_to_wake_us, setup, teardown)
{
	static const struct {
		size_t pages;
		const char *percent;
	} sizes[] = { { 1, "100" }, { 2, "100" }, { 3, "67" },	{ 4, "50" },
		      { 8, "50" },  { 16, "25" }, { 100, "4" }, { 1000, "1" } };
	struct place *p = *state;

	if (page != 4096)
		skip_because("the sizes are those of pages of 4096 bytes");
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		p->t->settings.kernel_buffer_bytes = sizes[i].pages * page;
		begin(p);
		check("buffer_percent", sizes[i].percent);
		sources_finish(&p->sources);
		close(cpu0);
		cpu0 = -1;
	}
}

TEST_WITH(pages_are_written, setup, teardown)
{
	struct place *p = *state;

	p->t->settings.kernel_buffer_bytes = 1 << 20;
	begin(p);
	give('a', page);
	give('b', page);
	give('c', 100);
	/* Pages that are full are taken without delay. */
	assert_int_equal(loop_serve(&p->t->rec.loop, 1000), 1);
	check_pages(p, "ab");
	assert_int_equal(p->kernel.bytes_written, 2 * page);
	/* A page that is not full is taken at the end, and filled up. */
	sources_finish(&p->sources);
	check_pages(p, "abc");

	char *text = test_recorder_file(p->t, "kernel-cpu0.dat");

	assert_int_equal(text[2 * page + 99], 'c');
	for (size_t i = 100; i < page; i++)
		assert_int_equal(text[2 * page + i], '\0');
	free(text);
	assert_int_equal(p->t->store.store.error, 0);
}

/* Some kernels wake the recorder for each record: it then takes all records that are there. */
TEST_WITH(without_a_watermark, setup, teardown)
{
	struct place *p = *state;

	has_watermarks = false;
	begin(p);
	assert_false(p->kernel.has_watermark);
	give('a', page);
	give('b', 50);
	assert_int_equal(loop_serve(&p->t->rec.loop, 1000), 1);
	check_pages(p, "ab");
}

TEST_WITH(half_of_what_may_be_written, setup, teardown)
{
	struct place *p = *state;

	p->t->settings.max_bytes = 6 * page;
	begin(p);
	give('a', page);
	sources_save(&p->sources);
	give('b', page);
	sources_save(&p->sources);
	give('c', page);
	sources_save(&p->sources);
	assert_false(p->kernel.is_full);
	give('d', page);
	sources_save(&p->sources);
	assert_true(p->kernel.is_full);
	check_pages(p, "abc");
}

TEST_WITH(the_newest_are_kept, setup, teardown)
{
	struct place *p = *state;

	p->t->settings.flight_bytes = 1 << 20;
	begin(p);
	/* The limit allows three pages for each CPU. */
	p->t->settings.max_bytes = 8 * p->kernel.nr_cpus * 3 * page;
	for (char c = 'a'; c <= 'k'; c++) {
		give(c, page);
		assert_int_equal(loop_serve(&p->t->rec.loop, 1000), 1);
	}
	assert_int_equal(p->kernel.bytes_written, 0);
	assert_int_equal(sources_save(&p->sources), 0);
	check_pages(p, "ijk");
	give('l', page);
	sources_finish(&p->sources);
	check_pages(p, "jkl");
	p->t->settings.flight_bytes = p->t->settings.max_bytes = 0;
}

TEST_WITH(what_cannot_be_had, setup, teardown)
{
	struct place *p = *state;
	struct event_rules none = { 0 };
	struct uft_err err = { 0 };

	p->t->settings.events = &none;
	assert_int_equal(event_rules_parse("no:such@kernel;irq:c@kernel", MATCH_GLOB, &none, NULL),
			 0);
	assert_true(kernel_open(&p->kernel, &p->sources, PID, &err) < 0);
	assert_int_equal(p->sources.nr, 0);
	assert_int_equal(access(instance, F_OK), -1);
	assert_int_equal(faccessat(p->t->dir_fd, "kernel-cpu0.dat", F_OK, 0), -1);
	assert_int_equal(faccessat(p->t->dir_fd, "kernel_header", F_OK, 0), -1);
	event_rules_deinit(&none);
	close(cpu0);
	cpu0 = -1;

	/* One of the two events exists, and is recorded. */
	assert_int_equal(
		event_rules_parse("no:such@kernel;sched:a@kernel", MATCH_GLOB, &none, NULL), 0);
	err = (struct uft_err){ 0 };
	assert_int_equal(kernel_open(&p->kernel, &p->sources, PID, &err), 0);
	assert_string_equal(err.text,
			    "no event of the kernel is called 'no:such@kernel' (--list-event shows "
			    "those that are)");
	check("events/sched/a/enable", "1");
	check("events/sched/b/enable", "");
	sources_finish(&p->sources);
	event_rules_deinit(&none);
	p->t->settings.events = &p->rules;
	close(cpu0);
	cpu0 = -1;

	pid_space = "pid:[4026531837]";
	err = (struct uft_err){ 0 };
	assert_int_equal(kernel_open(&p->kernel, &p->sources, PID, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "pid name space of its own"));
}

/* Only the instances of ended recorders are removed. */
TEST_WITH(stale_instances, setup, teardown)
{
	struct place *p = *state;
	char ended[64], own[64], lives[64];
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	snprintf(ended, sizeof(ended), "instances/utrail-%d", pid);
	snprintf(own, sizeof(own), "instances/utrail-%d", getpid());
	snprintf(lives, sizeof(lives), "instances/utrail-%d", getppid());
	make_dirs(top,
		  (const char *[]){ ended, own, lives, "instances/utrail-12x", "instances/utrail-0",
				    "instances/utrail--1", "instances/other", NULL });
	begin(p);

	int fd cleanup_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(faccessat(fd, ended, F_OK, 0), -1);
	assert_int_equal(faccessat(fd, own, F_OK, 0), 0);
	assert_int_equal(faccessat(fd, lives, F_OK, 0), 0);
	assert_int_equal(faccessat(fd, "instances/utrail-12x", F_OK, 0), 0);
	assert_int_equal(faccessat(fd, "instances/utrail-0", F_OK, 0), 0);
	assert_int_equal(faccessat(fd, "instances/utrail--1", F_OK, 0), 0);
	assert_int_equal(faccessat(fd, "instances/other", F_OK, 0), 0);
}

/*
 * This kernel offers no calls in an instance: calls come from the global buffer, and so do events.
 */
TEST_WITH(everybodys, setup, teardown)
{
	static const char *const files[] = {
		"tracing_on",		"trace_clock",		 "buffer_size_kb",
		"options/event-fork",	"options/function-fork", "set_event_pid",
		"set_ftrace_pid",	"max_graph_depth",	 "events/sched/a/enable",
		"events/sched/b/enable"
	};
	struct place *p = *state;
	char name[128];

	make_dirs(top, (const char *[]){ "options", "events/sched/b", NULL });
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		put(top, files[i], "");
	put(top, "current_tracer", "nop\n");
	put(top, "available_tracers", "function_graph nop\n");
	p->t->settings.kernel_depth = 2;
	p->t->settings.depth = 1024;
	begin(p);
	assert_true(p->kernel.is_everybodys && p->kernel.has_graph && p->kernel.has_events);
	snprintf(name, sizeof(name), "instances/utrail-%d", getpid());
	strcpy(instance, top);
	check("current_tracer", "function_graph");
	check("max_graph_depth", "2");
	check("set_ftrace_pid", "4711");
	check("buffer_size_kb", "2048");
	check("tracing_on", "1");
	/* The instance, which could not be used, is removed. */
	check("set_event_pid", "4711");

	int fd cleanup_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(faccessat(fd, name, F_OK, 0), -1);
	sources_finish(&p->sources);
	check("set_event_pid", "");
	check("set_ftrace_pid", "");
	p->t->settings.kernel_depth = 0;
}

/* Calls are not available, but events are. */
TEST_WITH(events_alone, setup, teardown)
{
	struct place *p = *state;
	struct uft_err err = { 0 };

	p->t->settings.kernel_depth = 4;
	assert_int_equal(kernel_open(&p->kernel, &p->sources, PID, &err), 0);
	assert_non_null(strstr(err.text, "cannot record calls of the kernel: "));
	assert_true(p->kernel.has_events && !p->kernel.has_graph && !p->kernel.is_everybodys);
	check("buffer_size_kb", "1408");
	assert_int_equal(p->sources.nr, 1);
	p->t->settings.kernel_depth = 0;
}

static void end(struct place *p)
{
	sources_finish(&p->sources);
	p->sources.nr = 0;
	close(cpu0);
	cpu0 = -1;
}

/* The default size of the buffer depends on the depth of the calls. */
TEST_WITH(calls_in_an_own_instance, setup, teardown)
{
	static const struct {
		unsigned depth;
		const char *text, *kb;
	} cases[] = { { 1, "1", "1408" },  { 2, "2", "2048" }, { 3, "3", "2048" },
		      { 4, "4", "3072" },  { 7, "7", "3072" }, { 8, "8", "4096" },
		      { 50, "50", "4096" } };
	struct place *p = *state;

	has_calls = true;
	put(top, "available_tracers", "function_graph nop\n");
	p->t->settings.depth = 1024;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		p->t->settings.kernel_depth = cases[i].depth;
		begin(p);
		assert_true(p->kernel.has_graph && p->kernel.has_events);
		assert_false(p->kernel.is_everybodys);
		check("buffer_size_kb", cases[i].kb);
		check("max_graph_depth", cases[i].text);
		check("set_event_pid", "4711");
		assert_int_equal(p->sources.nr, 1);
		end(p);
		assert_int_equal(access(instance, F_OK), -1);
	}
	p->t->settings.kernel_buffer_bytes = 5 << 20;
	begin(p);
	check("buffer_size_kb", "5120");
	end(p);
	p->t->settings.kernel_buffer_bytes = 0;
	p->t->settings.kernel_depth = 0;
}

/* Calls alone need none of the files of events. */
TEST_WITH(calls_alone, setup, teardown)
{
	struct place *p = *state;

	has_calls = true;
	put(top, "available_tracers", "function_graph nop\n");
	p->t->settings.depth = 1024;
	p->t->settings.kernel_depth = 1;
	p->t->settings.events = &p->t->events;
	begin(p);
	assert_true(p->kernel.has_graph && !p->kernel.has_events);
	check("set_event_pid", "");
	check("options/event-fork", "");
	check("events/sched/a/enable", "");
	check("set_ftrace_pid", "4711");
	check("tracing_on", "1");
	end(p);
	p->t->settings.kernel_depth = 0;
}

/* If events cannot be recorded, calls still are. */
TEST_WITH(calls_without_their_events, setup, teardown)
{
	struct event_rules none = { 0 };
	struct place *p = *state;
	struct uft_err err = { 0 };

	has_calls = true;
	put(top, "available_tracers", "function_graph nop\n");
	p->t->settings.depth = 1024;
	p->t->settings.kernel_depth = 1;
	p->t->settings.events = &none;
	assert_int_equal(event_rules_parse("no:such@kernel", MATCH_GLOB, &none, NULL), 0);
	assert_int_equal(kernel_open(&p->kernel, &p->sources, PID, &err), 0);
	assert_non_null(strstr(err.text, "no event of the kernel is called 'no:such@kernel'"));
	assert_true(p->kernel.has_graph);
	check("tracing_on", "1");
	end(p);
	p->t->settings.events = &p->rules;
	event_rules_deinit(&none);
	p->t->settings.kernel_depth = 0;
}

/* The error names the file. Nothing is left of the instance and of the recording's files. */
TEST_WITH(each_file_that_is_missing, setup, teardown)
{
	static const char *const names[] = { "tracing_on", "trace_clock", "buffer_size_kb",
					     "options/event-fork", "set_event_pid" };
	struct place *p = *state;
	char what[64];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct uft_err err = { 0 };

		missing = names[i];
		assert_int_equal(kernel_open(&p->kernel, &p->sources, PID, &err), -ENOENT);
		snprintf(what, sizeof(what), "'%s'", names[i]);
		assert_non_null(strstr(err.text, what));
		assert_ptr_equal(strstr(err.text, "cannot record events of the kernel: "),
				 err.text);
		assert_int_equal(p->sources.nr, 0);
		assert_int_equal(access(instance, F_OK), -1);
		assert_int_equal(p->kernel.tracefs_fd, -1);
		close(cpu0);
		cpu0 = -1;
	}
	/* An event that has no file "enable" is left out, and the other event is recorded. */
	struct uft_err why = { 0 };

	missing = "events/sched/b/enable";
	assert_int_equal(kernel_open(&p->kernel, &p->sources, PID, &why), 0);
	assert_non_null(strstr(why.text, "cannot write to 'events/sched/b/enable'"));
	check("events/sched/a/enable", "1");
	check("tracing_on", "1");
	end(p);
}

static void check_header(struct place *p, const struct kernel_layout *layout,
			 const char *const *files)
{
	struct strbuf expected cleanup_strbuf = { 0 };
	char *header;

	kernel_header_put_layout(&expected, layout);
	for (; files[0]; files += 2)
		kernel_header_put_file(&expected, files[0], files[1], strlen(files[1]));
	begin(p);
	end(p);
	header = test_recorder_file(p->t, "kernel_header");
	assert_memory_equal(header, strbuf_str(&expected), expected.len);
	assert_int_equal(header[expected.len], '\0');
	free(header);
}

#define PAGE_OF_LONG(size) "\tfield: local_t commit;\toffset:8;\tsize:" size ";\tsigned:1;\n"

/* The header has the formats that the kernel has. */
TEST_WITH(formats_for_readers, setup, teardown)
{
	static const uint16_t order = 1;
	struct place *p = *state;
	struct kernel_layout layout = {
		.page_bytes = page,
		.long_size = sizeof(long),
		.is_big_endian = *(const uint8_t *)&order == 0,
	};
	char path[128];

	/* Without header_page, the kernel's longs are taken to be as large as those of this machine. */
	snprintf(path, sizeof(path), "%s/events/header_page", top);
	assert_int_equal(unlink(path), 0);
	check_header(p, &layout,
		     (const char *const[]){ "events/sched/a/format", "name: a\n", NULL });
	/* A long of the kernel has four bytes. */
	put(top, "events/header_page", PAGE_OF_LONG("4"));
	layout.long_size = 4;
	check_header(p, &layout,
		     (const char *const[]){ "events/header_page", PAGE_OF_LONG("4"),
					    "events/sched/a/format", "name: a\n", NULL });
	make_dirs(top,
		  (const char *const[]){ "events/ftrace", "events/ftrace/funcgraph_entry",
					 "events/ftrace/funcgraph_exit", "events/sched/b", NULL });
	put(top, "events/ftrace/funcgraph_entry/format", "name: funcgraph_entry\n");
	put(top, "events/ftrace/funcgraph_exit/format", "name: funcgraph_exit\n");
	put(top, "events/sched/b/format", "name: b\n");
	check_header(p, &layout,
		     (const char *const[]){
			     "events/header_page", PAGE_OF_LONG("4"),
			     "events/ftrace/funcgraph_entry/format", "name: funcgraph_entry\n",
			     "events/ftrace/funcgraph_exit/format", "name: funcgraph_exit\n",
			     "events/sched/a/format", "name: a\n", "events/sched/b/format",
			     "name: b\n", NULL });
}

/*
 * The recorder takes at most about as much as a buffer holds, and then serves others. It takes 16
 * pages at a time.
 */
TEST_WITH(a_stream_without_an_end, setup, teardown)
{
	struct place *p = *state;

	p->t->settings.kernel_buffer_bytes = 20 * page;
	begin(p);
	if (fcntl(cpu0, F_SETPIPE_SZ, 64 * page) < 0)
		skip_because("needs a pipe of 64 pages");
	give('a', 40 * page);
	assert_int_equal(loop_serve(&p->t->rec.loop, 1000), 1);
	assert_int_equal(p->kernel.bytes_written, 32 * page);
	assert_int_equal(loop_serve(&p->t->rec.loop, 1000), 1);
	assert_int_equal(p->kernel.bytes_written, 40 * page);
	/* If 16 pages are exactly a buffer, the recorder takes 16 more. */
	p->kernel.buffer_bytes = 16 * page;
	give('b', 40 * page);
	assert_int_equal(loop_serve(&p->t->rec.loop, 1000), 1);
	assert_int_equal(p->kernel.bytes_written, 72 * page);
	assert_int_equal(loop_serve(&p->t->rec.loop, 1000), 1);
	assert_int_equal(p->kernel.bytes_written, 80 * page);
}
