/*
 * Unit tests of cmds/record/sources/perf.c with a simulated kernel of three CPUs: each has a pipe,
 * and a ring in our own memory.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cmds/record/sources/perf.h"
#include "tests/unit/lib/record/store_memory.h"
#include "utils/base/compiler.h"

#define CPUS	   3
#define PAGE	   4096
#define RING_BYTES (128 << 10)

/*
 * State of the simulated kernel.
 *
 * @open_fails,
 * @map_fails: errno for each CPU
 * @nr_asked: the number of calls of perf_event_open(2), for CPU 0 and up; @nr_maps: mappings that
 * are not unmapped yet
 */
static struct kernel {
	struct perf_cpu_played {
		int open_fails;
		int map_fails;
		int pipe[2];
		union {
			struct perf_event_mmap_page page;
			char bytes[PAGE + RING_BYTES];
		} map;
	} cpus[CPUS];
	unsigned nr_asked;
	int nr_maps;
	struct perf_event_attr attr;
} played;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
void *__real_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t len);
int __wrap_munmap(void *at, size_t len);
long __real_sysconf(int name);
long __wrap_sysconf(int name);

static int refuse(int code)
{
	errno = code;
	return -1;
}

/* Only perf.c calls this: no other code of the test program uses syscall(2). */
long __wrap_syscall(long number, ...)
{
	va_list list;

	assert_int_equal(number, SYS_perf_event_open);
	va_start(list, number);

	const struct perf_event_attr *attr = va_arg(list, void *);
	pid_t pid = va_arg(list, pid_t);
	unsigned index = va_arg(list, unsigned);
	int group = va_arg(list, int);
	unsigned long flags = va_arg(list, unsigned long);

	va_end(list);
	assert_int_equal(pid, 4711);
	assert_int_equal(index, played.nr_asked);
	assert_int_equal(group, -1);
	assert_int_equal(flags, PERF_FLAG_FD_CLOEXEC);
	assert_true(index < CPUS);
	played.nr_asked++;
	played.attr = *attr;

	struct perf_cpu_played *cpu = &played.cpus[index];

	if (cpu->open_fails)
		return refuse(cpu->open_fails);
	assert_int_equal(pipe2(cpu->pipe, O_CLOEXEC | O_NONBLOCK), 0);
	return cpu->pipe[0];
}

void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	for (unsigned i = 0; i < CPUS; i++) {
		struct perf_cpu_played *cpu = &played.cpus[i];

		if (fd < 0 || cpu->pipe[0] != fd)
			continue;
		assert_int_equal(len, PAGE + RING_BYTES);
		assert_int_equal(prot, PROT_READ | PROT_WRITE);
		assert_int_equal(flags, MAP_SHARED);
		assert_int_equal(offset, 0);
		if (cpu->map_fails)
			return (void *)(intptr_t)refuse(cpu->map_fails);
		played.nr_maps++;
		return &cpu->map;
	}
	return __real_mmap64(at, len, prot, flags, fd, offset);
}

int __wrap_munmap(void *at, size_t len)
{
	for (unsigned i = 0; i < CPUS; i++) {
		if (at == &played.cpus[i].map) {
			assert_int_equal(len, PAGE + RING_BYTES);
			played.nr_maps--;
			return 0;
		}
	}
	return __real_munmap(at, len);
}

long __wrap_sysconf(int name)
{
	return name == _SC_NPROCESSORS_CONF ? CPUS
	       : name == _SC_PAGESIZE	    ? PAGE
					    : __real_sysconf(name);
}

/* @append_fails: result of appending, if it is negative; @nr_open: open streams */
struct place {
	struct store_memory memory;
	struct store_ops ops, inner;
	struct record_settings settings;
	struct loop loop;
	struct sources sources;
	struct perf perf;
	int append_fails;
	int open_fails;
	int nr_open;
};

static struct place *place;

static int open_stream(struct store *store, const char *name)
{
	if (place->open_fails < 0)
		return place->open_fails;
	place->nr_open++;
	return place->inner.open(store, name);
}

static int append(struct store *store, int stream, const struct iovec *parts, int nr)
{
	return place->append_fails < 0 ? place->append_fails
				       : place->inner.append(store, stream, parts, nr);
}

static void close_stream(struct store *store, int stream)
{
	place->nr_open--;
}

static int setup(void **state)
{
	struct place *p = place = calloc(1, sizeof(*p));

	assert_non_null(p);
	memset(&played, 0, sizeof(played));
	for (unsigned i = 0; i < CPUS; i++)
		played.cpus[i].pipe[0] = played.cpus[i].pipe[1] = -1;
	store_memory_init(&p->memory);
	p->inner = p->ops = *p->memory.store.ops;
	p->ops.open = open_stream;
	p->ops.append = append;
	p->ops.close = close_stream;
	p->memory.store.ops = &p->ops;
	p->loop.epoll_fd = -1;
	assert_int_equal(loop_open(&p->loop, NULL), 0);
	p->settings.clock_id = CLOCK_MONOTONIC_RAW;
	p->sources = (struct sources){ &p->settings, &p->memory.store, &p->loop };
	*state = p;
	return 0;
}

/* At the end no file may be open. */
static int teardown(void **state)
{
	struct place *p = *state;

	sources_finish(&p->sources);
	assert_int_equal(played.nr_maps, 0);
	assert_int_equal(p->nr_open, 0);
	for (unsigned i = 0; i < CPUS; i++) {
		if (played.cpus[i].pipe[0] < 0)
			continue;
		assert_int_equal(fcntl(played.cpus[i].pipe[0], F_GETFD), -1);
		close(played.cpus[i].pipe[1]);
	}
	loop_close(&p->loop);
	store_memory_deinit(&p->memory);
	free(p);
	return 0;
}

static void begin(struct place *p)
{
	assert_int_equal(perf_open(&p->perf, &p->sources, 4711, NULL), 0);
	assert_int_equal(played.nr_asked, CPUS);
	assert_int_equal(p->sources.nr, 1);
}

/* Writes @len bytes to the ring of @cpu as the kernel does; the ring wraps. */
static void write_ring(unsigned cpu, const void *data, size_t len)
{
	char *ring = played.cpus[cpu].map.bytes + PAGE;
	struct perf_event_mmap_page *page = &played.cpus[cpu].map.page;

	for (size_t i = 0; i < len; i++)
		ring[page->data_head++ % RING_BYTES] = ((const char *)data)[i];
}

static void say(unsigned cpu, const char *text)
{
	write_ring(cpu, text, strlen(text));
}

/* Wake the reader of the ring of @cpu. */
static void wake(unsigned cpu)
{
	assert_int_equal(write(played.cpus[cpu].pipe[1], "", 1), 1);
}

static void sleep_again(unsigned cpu)
{
	char c;

	assert_int_equal(read(played.cpus[cpu].pipe[0], &c, 1), 1);
}

static uint64_t tail(unsigned cpu)
{
	return played.cpus[cpu].map.page.data_tail;
}

static bool has_file(struct place *p, const char *name)
{
	struct strbuf content cleanup_strbuf = { 0 };

	return store_read(&p->memory.store, name, SIZE_MAX, &content) == 0;
}

static void check(struct place *p, const char *name, const char *expected)
{
	struct strbuf content cleanup_strbuf = { 0 };

	assert_int_equal(store_read(&p->memory.store, name, SIZE_MAX, &content), 0);
	assert_string_equal(strbuf_str(&content), expected);
}

/* The expected values come from doc/formats/events.md, "perf-cpu<N>.dat". */
TEST_WITH(the_kernel_is_asked_for_what_the_format_says, setup, teardown)
{
	struct place *p = *state;
	const struct perf_event_attr *attr = &played.attr;

	p->settings.use_names = true;
	begin(p);
	assert_int_equal(attr->size, sizeof(*attr));
	assert_int_equal(attr->type, PERF_TYPE_SOFTWARE);
	assert_int_equal(attr->config, PERF_COUNT_SW_DUMMY);
	assert_int_equal(attr->sample_type, PERF_SAMPLE_TIME | PERF_SAMPLE_TID);
	assert_int_equal(attr->sample_period, 1);
	assert_true(attr->sample_id_all && attr->exclude_kernel && attr->disabled);
	assert_true(attr->enable_on_exec && attr->inherit && attr->watermark);
	assert_int_equal(attr->wakeup_watermark, 8192);
	assert_true(attr->use_clockid);
	assert_int_equal(attr->clockid, CLOCK_MONOTONIC_RAW);
	assert_true(attr->comm && attr->comm_exec);
	assert_false(attr->task || attr->context_switch);
}

TEST_WITH(new_tasks_and_switches_are_asked_for_each_by_itself, setup, teardown)
{
	struct place *p = *state;
	const struct perf_event_attr *attr = &played.attr;

	p->settings.use_tasks = true;
	begin(p);
	assert_true(attr->task);
	assert_false(attr->comm || attr->comm_exec || attr->context_switch);
	sources_finish(&p->sources);
	close(played.cpus[0].pipe[1]);
	close(played.cpus[1].pipe[1]);
	close(played.cpus[2].pipe[1]);
	played.nr_asked = 0;
	p->settings = (struct record_settings){ .use_switches = true };
	p->sources.nr = 0;
	begin(p);
	assert_true(attr->context_switch);
	assert_false(attr->task || attr->comm || attr->comm_exec);
}

TEST_WITH(each_cpu_has_a_file_that_grows_when_the_kernel_wakes_us, setup, teardown)
{
	struct place *p = *state;

	begin(p);
	say(0, "not yet");
	say(2, "two ");
	wake(2);
	assert_int_equal(loop_serve(&p->loop, 5000), 1);
	sleep_again(2);
	check(p, "perf-cpu0.dat", "");
	check(p, "perf-cpu2.dat", "two ");
	assert_int_equal(tail(2), 4);
	assert_int_equal(tail(0), 0);
	say(2, "and more");
	wake(2);
	assert_int_equal(loop_serve(&p->loop, 5000), 1);
	sleep_again(2);
	check(p, "perf-cpu2.dat", "two and more");
	assert_int_equal(sources_save(&p->sources), 0);
	check(p, "perf-cpu0.dat", "not yet");
	check(p, "perf-cpu1.dat", "");
	check(p, "perf-cpu2.dat", "two and more");
	say(1, "last");
	assert_int_equal(sources_finish(&p->sources), 0);
	check(p, "perf-cpu1.dat", "last");
	assert_int_equal(p->perf.nr_cpus, 0);
	assert_null(p->perf.cpus);
	assert_int_equal(p->memory.store.error, 0);
}

TEST_WITH(what_wraps_comes_in_order, setup, teardown)
{
	struct place *p = *state;
	struct strbuf content cleanup_strbuf = { 0 };
	char *much = malloc(RING_BYTES);

	assert_non_null(much);
	begin(p);
	memset(much, 'x', RING_BYTES);
	write_ring(0, much, RING_BYTES - 3);
	assert_int_equal(sources_save(&p->sources), 0);
	say(0, "abcdef");
	assert_int_equal(sources_save(&p->sources), 0);
	assert_int_equal(tail(0), RING_BYTES + 3);
	/* A ring that is full. */
	write_ring(0, much, RING_BYTES);
	assert_int_equal(sources_save(&p->sources), 0);
	assert_int_equal(store_read(&p->memory.store, "perf-cpu0.dat", SIZE_MAX, &content), 0);
	assert_int_equal(content.len, 2 * RING_BYTES + 3);
	assert_memory_equal(content.data + RING_BYTES - 4, "xabcdefx", 8);
	assert_int_equal(content.data[content.len - 1], 'x');
	free(much);
}

/*
 * After a failed write the ring is emptied all the same, so the kernel has room. The first failure
 * is reported.
 */
TEST_WITH(what_cannot_be_written_is_dropped, setup, teardown)
{
	struct place *p = *state;

	begin(p);
	say(0, "gone");
	say(1, "gone, too");
	p->append_fails = -ENOSPC;
	assert_int_equal(sources_save(&p->sources), -ENOSPC);
	assert_int_equal(tail(0), 4);
	assert_int_equal(tail(1), 9);
	p->append_fails = -EIO;
	say(0, "again");
	wake(0);
	assert_int_equal(loop_serve(&p->loop, 5000), 1);
	sleep_again(0);
	assert_int_equal(p->memory.store.error, -EIO);
	p->append_fails = 0;
	say(0, "here");
	assert_int_equal(sources_finish(&p->sources), 0);
	check(p, "perf-cpu0.dat", "here");
	check(p, "perf-cpu1.dat", "");
}

static void ignore(void *arg)
{
}

TEST_WITH(there_is_no_more_than_max_size, setup, teardown)
{
	struct place *p = *state;

	store_limit(&p->memory.store, 5, ignore, NULL);
	begin(p);
	say(0, "12345");
	assert_int_equal(sources_save(&p->sources), 0);
	say(0, "6");
	assert_int_equal(sources_save(&p->sources), 0);
	check(p, "perf-cpu0.dat", "12345");
	assert_int_equal(tail(0), 6);
}

TEST_WITH(an_end_that_the_kernel_tells_is_told_once, setup, teardown)
{
	struct place *p = *state;

	begin(p);
	say(1, "bye");
	close(played.cpus[1].pipe[1]);
	played.cpus[1].pipe[1] = -1;
	assert_int_equal(loop_serve(&p->loop, 5000), 1);
	check(p, "perf-cpu1.dat", "bye");
	assert_int_equal(loop_serve(&p->loop, 0), 0);
	/* The events of other CPUs still come. */
	say(2, "on");
	wake(2);
	assert_int_equal(loop_serve(&p->loop, 5000), 1);
	assert_int_equal(loop_serve(&p->loop, 0), 1);
	check(p, "perf-cpu2.dat", "on");
}

TEST_WITH(a_cpu_that_is_not_there_has_no_events, setup, teardown)
{
	struct place *p = *state;

	played.cpus[1].open_fails = ENODEV;
	begin(p);
	say(0, "a");
	say(2, "b");
	assert_int_equal(sources_save(&p->sources), 0);
	check(p, "perf-cpu0.dat", "a");
	check(p, "perf-cpu2.dat", "b");
	assert_false(has_file(p, "perf-cpu1.dat"));
}

static void check_refused(struct place *p, int code, const char *text, unsigned nr_asked)
{
	struct uft_err err = { 0 };

	assert_int_equal(perf_open(&p->perf, &p->sources, 4711, &err), code);
	assert_string_equal(err.text, text);
	assert_int_equal(played.nr_asked, nr_asked);
	assert_null(p->perf.cpus);
	assert_int_equal(p->sources.nr, 0);
	assert_null(p->sources.first);
	assert_false(has_file(p, "perf-cpu0.dat"));
	assert_false(has_file(p, "perf-cpu1.dat"));
	assert_false(has_file(p, "perf-cpu2.dat"));
}

#define REFUSED "cannot record scheduler events: "

TEST_WITH(a_kernel_that_does_not_allow_it_leaves_nothing, setup, teardown)
{
	played.cpus[1].open_fails = EACCES;
	check_refused(*state, -EACCES, REFUSED "Permission denied", 2);
}

TEST_WITH(a_ring_that_cannot_be_mapped_leaves_nothing, setup, teardown)
{
	played.cpus[2].map_fails = EPERM;
	check_refused(*state, -EPERM, REFUSED "Operation not permitted", 3);
}

TEST_WITH(a_file_that_cannot_be_made_leaves_nothing, setup, teardown)
{
	((struct place *)*state)->open_fails = -EMFILE;
	check_refused(*state, -EMFILE, REFUSED "Too many open files", 1);
}

TEST_WITH(a_loop_that_has_no_room_leaves_nothing, setup, teardown)
{
	struct place *p = *state;
	int epoll_fd = p->loop.epoll_fd;

	p->loop.epoll_fd = -1;
	check_refused(p, -EBADF, REFUSED "Bad file descriptor", 1);
	p->loop.epoll_fd = epoll_fd;
}

/* --- flight recordings --- */

/* Write a record of 16 bytes, which begins with the kernel's header. */
static void record(unsigned cpu, char letter)
{
	struct {
		struct perf_event_header header;
		char text[8];
	} one = { { .type = 1, .size = sizeof(one) }, { letter, letter, 0, 0, 0, 0, 0, letter } };

	write_ring(cpu, &one, sizeof(one));
}

/* Check the letters of the records in a file. */
static void check_records(struct place *p, const char *name, const char *expected)
{
	struct strbuf content cleanup_strbuf = { 0 };
	char letters[64] = "";

	assert_int_equal(store_read(&p->memory.store, name, SIZE_MAX, &content), 0);
	assert_int_equal(content.len % 16, 0);
	assert_true(content.len / 16 < sizeof(letters));
	for (size_t i = 0; i < content.len / 16; i++)
		letters[i] = content.data[16 * i + 8];
	assert_string_equal(letters, expected);
}

/* An eighth of the limit is for all CPUs together, which is three records of 16 bytes for each. */
static void begin_flight(struct place *p)
{
	p->settings.flight_bytes = 4096;
	p->settings.max_bytes = 8 * CPUS * 48;
	begin(p);
}

TEST_WITH(a_flight_recording_writes_when_it_is_saved, setup, teardown)
{
	struct place *p = *state;

	begin_flight(p);
	record(0, 'a');
	wake(0);
	assert_int_equal(loop_serve(&p->loop, 5000), 1);
	sleep_again(0);
	assert_int_equal(tail(0), 16);
	check(p, "perf-cpu0.dat", "");
	record(0, 'b');
	assert_int_equal(sources_save(&p->sources), 0);
	check_records(p, "perf-cpu0.dat", "ab");
	check(p, "perf-cpu1.dat", "");
	record(0, 'c');
	record(1, 'x');
	assert_int_equal(sources_save(&p->sources), 0);
	check_records(p, "perf-cpu0.dat", "abc");
	check_records(p, "perf-cpu1.dat", "x");
}

TEST_WITH(the_newest_are_kept_of_a_flight, setup, teardown)
{
	struct place *p = *state;

	begin_flight(p);
	for (char c = 'a'; c <= 'f'; c++)
		record(0, c);
	assert_int_equal(sources_save(&p->sources), 0);
	check_records(p, "perf-cpu0.dat", "def");
	record(0, 'g');
	assert_int_equal(sources_finish(&p->sources), 0);
	check_records(p, "perf-cpu0.dat", "efg");
}

TEST_WITH(a_flight_that_is_too_long_forgets_meanwhile, setup, teardown)
{
	struct place *p = *state;
	begin_flight(p);
	/* Data with a length of 0 is skipped, one header at a time. */
	write_ring(0, (const char[16]){ 0 }, 16);
	for (char c = 'a'; c <= 'h'; c++) {
		record(0, c);
		wake(0);
		assert_int_equal(loop_serve(&p->loop, 5000), 1);
		sleep_again(0);
	}
	assert_int_equal(sources_save(&p->sources), 0);
	check_records(p, "perf-cpu0.dat", "fgh");
}

static int refuse_to_publish(struct store *store, const char *name, const struct iovec *parts,
			     int nr, int *stream, struct uft_err *err)
{
	return strcmp(name, "perf-cpu0.dat") == 0 ? -EFBIG : -EIO;
}

/* The first failure is reported. The kept records stay for the next attempt. */
TEST_WITH(a_flight_that_cannot_be_saved_says_so, setup, teardown)
{
	struct place *p = *state;

	begin_flight(p);
	record(0, 'a');
	record(1, 'b');
	p->ops.publish = refuse_to_publish;
	assert_int_equal(sources_save(&p->sources), -EFBIG);
	p->ops.publish = p->inner.publish;
	assert_int_equal(sources_save(&p->sources), 0);
	check_records(p, "perf-cpu0.dat", "a");
	check_records(p, "perf-cpu1.dat", "b");
}
