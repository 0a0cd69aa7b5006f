/* Both sides of the rings in one process (see pair.h). */
#include "tests/unit/lib/probe/pair.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libmcount/system/arena.h"
#include "libmcount/hot/frames.h"
#include "tests/unit/lib/unit.h"
#include "utils/base/fd.h"

#define WAIT_NS 10000000ULL

/*
 * A task id above those that the kernel gives to threads, and below those of stacks that programs
 * make.
 */
#define NO_THREADS_TID (1 << 22)

static __thread void (*when_waiting)(void *arg);
static __thread void *when_waiting_arg;
static __thread uint64_t waited_ns;
static __thread unsigned wakes;
static __thread unsigned dlsyms;
static __thread long asked_number;
static __thread int (*ask_before)(void *arg);
static __thread void *ask_before_arg;

void pair_pass(uint64_t ns)
{
	waited_ns += ns;
}

unsigned pair_wakes(void)
{
	return wakes;
}

unsigned pair_dlsyms(void)
{
	return dlsyms;
}

void pair_when_waiting(void (*fn)(void *arg), void *arg)
{
	when_waiting = fn;
	when_waiting_arg = arg;
}

void pair_before(long number, int (*fn)(void *arg), void *arg)
{
	asked_number = number;
	ask_before = fn;
	ask_before_arg = arg;
}

/*
 * syscall(3) for the probe and the recorder. The linker sends their calls here (--wrap), since the
 * probe has a syscall(3) of its own.
 */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/*
 * Take all six arguments, as the C library does. Those that the caller did not pass have any value.
 */
NO_SANITIZE_ADDRESS long __wrap_syscall(long number, ...)
{
	long args[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	wakes += number == SYS_futex && (args[1] & FUTEX_CMD_MASK) == FUTEX_WAKE;
	if (number == SYS_futex && when_waiting && (args[1] & FUTEX_CMD_MASK) == FUTEX_WAIT) {
		waited_ns += WAIT_NS;
		when_waiting(when_waiting_arg);
		errno = ETIMEDOUT;
		return -1;
	}
	if (ask_before && number == asked_number) {
		int ret = ask_before(ask_before_arg);

		if (ret < 0) {
			errno = -ret;
			return -1;
		}
	}
	if (number == SYS_clock_gettime)
		return clock_gettime(args[0], (struct timespec *)args[1]);
	return __real_syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

/*
 * The probe looks for libc's clock_gettime() with RTLD_NEXT. It must find the one below, whose time
 * the tests control.
 */
void *__real_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name);

void *__wrap_dlsym(void *handle, const char *name)
{
	dlsyms++;
	if (strcmp(name, "clock_gettime") == 0)
		return (void *)clock_gettime;
	return __real_dlsym(handle, name);
}

/* Takes the place of libc's function, since the program's own comes first. */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	static int (*next)(clockid_t, struct timespec *);

	if (!next)
		*(void **)&next = __real_dlsym(RTLD_NEXT, "clock_gettime");

	int ret = next(id, ts);
	uint64_t ns = ts->tv_nsec + waited_ns;

	ts->tv_sec += ns / 1000000000;
	ts->tv_nsec = ns % 1000000000;
	return ret;
}

/*
 * The number of open descriptors at the beginning: a pair must leave no more open. Sanitizers check
 * the heap.
 */
static unsigned fds_before;

static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned nr = 0;

	while (dir && readdir(dir))
		nr++;
	if (dir)
		closedir(dir);
	return nr;
}

void pair_init(struct pair *pair)
{
	fds_before = count_fds();
	waited_ns = 0; /* earlier waits do not count in clock_gettime() of a new pair */
	*pair = (struct pair){ .dir = "/tmp/utrail-pair.XXXXXX" };
	pair->settings = (struct record_settings){
		.filters = &pair->filters,
		.watch = &pair->watch,
		.events = &pair->events,
		.patches = &pair->patches,
		.segment_bytes = RING_PAGE,
		.clock_id = CLOCK_MONOTONIC,
		.depth = 64,
		.max_stack = 64,
		.trace_on = true,
	};
	assert_non_null(mkdtemp(pair->dir));
	pair->dir_fd = open(pair->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(pair->dir_fd >= 0);
	store_dir_use(&pair->store, pair->dir_fd);
	pair->into = &pair->store.store;
}

/* Without writer threads the test itself is the only writer. */
static void be_the_writer(struct recorder *rec)
{
	free(rec->writers.threads);
	free(rec->writers.flushed_ns);
	rec->writers.threads = NULL;
	rec->writers.flushed_ns = calloc(1, sizeof(*rec->writers.flushed_ns));
	assert_non_null(rec->writers.flushed_ns);
	rec->writers.nr = rec->control->nr_writers = 1;
}

/* The fast paths need the counter. Tests use it with any clock source of the kernel. */
static void use_counter(const struct record_settings *settings, struct plan *plan)
{
	if (!arch_has_invariant_counter() || plan->clock == PLAN_CLOCK_COUNTER)
		return;
	plan->clock = PLAN_CLOCK_COUNTER;
	plan->anchor_counter = arch_counter_read();
	plan->anchor_ns = settings_now_ns(settings);
}

static void be_the_probe(struct pair *pair, int arena_fd)
{
	struct recorder *rec = &pair->rec;

	use_counter(&pair->settings, &rec->channel.plan);

	probe = (struct probe){
		.plan = rec->channel.plan,
		.control = rec->control,
		.news = &rec->control->finished,
		.nr_writers = rec->control->nr_writers,
		.pid = getpid(),
		.plain = true,
		.tracing = true,
		.is_on = true,
		.ready = true,
	};
	assert_true(arena_adopt(arena_fd));
	clock_setup();
}

void pair_open(struct pair *pair)
{
	const struct control_hello hello = {
		.pid = getpid(),
		.ppid = getppid(),
		.kind = CONTROL_EXEC,
	};
	struct recorder *rec = &pair->rec;
	int arena_fd = -1;
	struct uft_err err = { 0 };

	if (recorder_open(rec, &pair->settings, pair->into, &err) < 0)
		fail_msg("%s", err.text);
	if (!pair->settings.nr_writers)
		be_the_writer(rec);
	pair->proc = process_create(&rec->processes, &hello, getpid(), &arena_fd);
	assert_non_null(pair->proc);
	pair->proc->session = image_create(&rec->sessions, getpid(), "/bin/program");
	assert_non_null(pair->proc->session);
	process_publish(&rec->processes, pair->proc);
	be_the_probe(pair, arena_fd);
	close(arena_fd);
}

void pair_stop(struct pair *pair)
{
	recorder_stop(&pair->rec);
}

static void remove_dir(struct pair *pair)
{
	DIR *dir = opendir(pair->dir);
	struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_type == DT_REG)
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	closedir(dir);
	assert_return_code(rmdir(pair->dir), errno);
}

/* Forget all threads: the rings of an arena that was removed must not be found. */
static void forget_threads(void)
{
	for (struct thread *t = atomic_load(&probe_threads); t; t = t->next) {
		frames_reset(t);
		/* A thread keeps its aside for good, and the aside's ring is in no arena. */
		if (t->is_aside)
			continue;
		t->ring = NULL;
		t->at = t->end = NULL;
		t->in_use = 0;
	}
	self = NULL;
}

void pair_close(struct pair *pair)
{
	probe.ready = false;
	probe_stop();
	forget_threads();
	recorder_close(&pair->rec);
	close(pair->dir_fd);
	remove_dir(pair);
	assert_int_equal(count_fds(), fds_before);
}

uint64_t pair_look(struct pair *pair, bool everything)
{
	return writer_look(&pair->rec.writers, 0, everything);
}

struct thread *pair_thread(void)
{
	struct thread *t = thread_take_state();

	static int32_t tids_in_use = NO_THREADS_TID;

	assert_non_null(t);
	thread_take_ring(t);
	if (!t->ring) {
		t->in_use = 0;
		return NULL;
	}
	t->ring->tid = tids_in_use++;
	return t;
}

uint32_t pair_ring_index(const struct pair *pair, const struct ring *r)
{
	return r->index;
}

struct strbuf pair_file(const struct pair *pair, const char *name)
{
	char path[512];
	struct strbuf content = { 0 };

	snprintf(path, sizeof(path), "%s/%s", pair->dir, name);
	file_read_all(path, 1 << 30, &content, NULL);
	return content;
}

struct strbuf pair_data(const struct pair *pair, int32_t tid)
{
	char name[32];

	snprintf(name, sizeof(name), "%d.dat", tid);
	return pair_file(pair, name);
}

void pair_check_data(struct pair *pair, int32_t tid, const struct strbuf *expected)
{
	pair_look(pair, true);

	struct strbuf file cleanup_strbuf = pair_data(pair, tid);
	const struct record *r = (const struct record *)strbuf_str(&file);
	const uint64_t *words = (const uint64_t *)strbuf_str(expected);
	size_t nr = expected->len / sizeof(*words);

	assert_int_equal(file.len, nr * sizeof(*r));
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(r[i].data, words[i]);
		assert_true(i == 0 || r[i].time_ns >= r[i - 1].time_ns);
	}
}
