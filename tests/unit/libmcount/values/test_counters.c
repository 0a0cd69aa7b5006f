/*
 * Counters by name and in pairs, with a simulated kernel: those that are opened, their groups, and
 * when they are read and closed.
 */
#include "libmcount/values/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "libmcount/system/undo.h"
#include "tests/unit/lib/unit.h"
#include "utils/base/compiler.h"

#define FILES	 32
#define FIRST_FD 100

/*
 * The simulated kernel.
 *
 * @files: open counters, by descriptor - FIRST_FD: their group, and their value so far
 * @hardware: the number of hardware counters that fit into one group
 * @is_unprivileged: counting in the kernel is not allowed
 */
static struct {
	struct {
		bool is_open;
		bool is_foreign; /* the program has opened its own file here */
		int leader;
		uint64_t id;
		uint64_t value;
		struct perf_event_attr attr;
	} files[FILES];
	uint64_t idle_ns;
	unsigned hardware;
	unsigned reads;
	bool has_no_pmu;
	bool is_unprivileged;
} sim;

static long refuse(int error)
{
	errno = error;
	return -1;
}

static unsigned hardware_in(int leader)
{
	unsigned nr = 0;

	for (int i = 0; i < FILES; i++)
		nr += sim.files[i].is_open && sim.files[i].leader == leader &&
		      sim.files[i].attr.type != PERF_TYPE_SOFTWARE;
	return nr;
}

static long sim_open(const struct perf_event_attr *attr, int leader)
{
	bool is_hardware = attr->type != PERF_TYPE_SOFTWARE;
	int i = 0;

	assert_int_equal(attr->size, sizeof(*attr));
	if (is_hardware && sim.has_no_pmu)
		return refuse(ENOENT);
	if (sim.is_unprivileged && !attr->exclude_kernel)
		return refuse(EACCES);
	if (leader >= 0 && is_hardware && hardware_in(leader) == sim.hardware)
		return refuse(EINVAL);
	while (sim.files[i].is_open)
		assert_true(++i < FILES);
	sim.files[i].is_open = true;
	sim.files[i].is_foreign = false;
	sim.files[i].attr = *attr;
	sim.files[i].id = 1000 + i;
	sim.files[i].leader = leader < 0 ? FIRST_FD + i : leader;
	sim.files[i].value = attr->config * 100;
	return FIRST_FD + i;
}

static long sim_read(int fd, uint64_t *to, size_t bytes)
{
	uint64_t *at = to + 3;

	assert_false(sim.files[fd - FIRST_FD].is_foreign);
	sim.reads++;
	for (int i = 0; i < FILES; i++) {
		if (sim.files[i].is_open && sim.files[i].leader == fd)
			*at++ = sim.files[i].value;
	}
	to[0] = at - (to + 3);
	to[1] = 5000 + sim.idle_ns;
	to[2] = 5000;
	assert_true((size_t)((char *)at - (char *)to) <= bytes);
	return (char *)at - (char *)to;
}

static long sim_ioctl(int fd, unsigned long request, uint64_t *id)
{
	assert_int_equal(request, PERF_EVENT_IOC_ID);
	if (!sim.files[fd - FIRST_FD].is_open)
		return refuse(EBADF);
	if (sim.files[fd - FIRST_FD].is_foreign)
		return refuse(ENOTTY);
	*id = sim.files[fd - FIRST_FD].id;
	return 0;
}

static long sim_close(int fd)
{
	assert_true(sim.files[fd - FIRST_FD].is_open && !sim.files[fd - FIRST_FD].is_foreign);
	sim.files[fd - FIRST_FD].is_open = false;
	return 0;
}

long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	va_list args;

	va_start(args, number);

	long a = va_arg(args, long);
	long b = va_arg(args, long);
	long c = va_arg(args, long);
	long d = va_arg(args, long);

	va_end(args);
	switch (number) {
	case SYS_perf_event_open:
		assert_int_equal((int)b, 0); /* in this thread */
		assert_int_equal((int)c, -1);
		return sim_open((const struct perf_event_attr *)a, (int)d);
	case SYS_read:
		return sim_read((int)a, (uint64_t *)b, c);
	case SYS_ioctl:
		return sim_ioctl((int)a, b, (uint64_t *)c);
	case SYS_close:
		return sim_close((int)a);
	}
	fail_msg("system call %ld", number);
	return -1;
}

static void *noted[8];
static unsigned nr_noted;

void *undo_new_memory(uint64_t bytes)
{
	assert_true(nr_noted < ARRAY_SIZE(noted));
	return noted[nr_noted++] = calloc(1, bytes);
}

static unsigned nr_open(void)
{
	unsigned nr = 0;

	for (int i = 0; i < FILES; i++)
		nr += sim.files[i].is_open;
	return nr;
}

static int begin(void **state)
{
	memset(&sim, 0, sizeof(sim));
	sim.hardware = 4;
	return 0;
}

static int end(void **state)
{
	counters_drop();
	assert_int_equal(nr_open(), 0);
	while (nr_noted)
		free(noted[--nr_noted]);
	return 0;
}

#define SW(config)                                            \
	{                                                     \
		PERF_COUNT_SW_##config, PERF_TYPE_SOFTWARE, 0 \
	}
#define HW(config)                                            \
	{                                                     \
		PERF_COUNT_HW_##config, PERF_TYPE_HARDWARE, 0 \
	}
#define RAW(code)                        \
	{                                \
		(code), PERF_TYPE_RAW, 0 \
	}

static const struct plan_counter mixed[] = { SW(CONTEXT_SWITCHES), HW(INSTRUCTIONS), RAW(0x1a8),
					     SW(TASK_CLOCK) };

/*
 * One read gives all values. Counters of the processor leave out work of the kernel, and counters
 * of the kernel include it.
 */
TEST_WITH(one_group, begin, end)
{
	struct counter_values values;

	counters_choose(mixed, 4);
	assert_int_equal(counters_read(COUNTERS_BY_NAME, &values), 0);
	assert_int_equal(values.got, 15);
	assert_int_equal(sim.reads, 1);
	assert_int_equal(nr_open(), 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(values.values[i], mixed[i].config * 100);
		assert_int_equal(values.idle_ns[i], 0);
		assert_int_equal(sim.files[i].leader, FIRST_FD);
		assert_int_equal(sim.files[i].attr.type, mixed[i].type);
		assert_int_equal(sim.files[i].attr.config, mixed[i].config);
		assert_int_equal(sim.files[i].attr.exclude_kernel,
				 mixed[i].type != PERF_TYPE_SOFTWARE);
	}
	sim.files[2].value += 7;
	sim.idle_ns = 30;
	assert_int_equal(counters_read(COUNTERS_BY_NAME, &values), 0);
	assert_int_equal(values.values[2], 0x1a8 * 100 + 7);
	assert_int_equal(values.idle_ns[2], 30);
	assert_int_equal(nr_open(), 4);
}

/* A counter that does not fit into the group begins one of its own. */
TEST_WITH(several_groups, begin, end)
{
	struct counter_values values;

	sim.hardware = 1;
	counters_choose(mixed, 4);
	assert_int_equal(counters_read(COUNTERS_BY_NAME, &values), 0);
	assert_int_equal(values.got, 15);
	assert_int_equal(sim.reads, 2);
	assert_int_equal(sim.files[2].leader, FIRST_FD + 2);
	for (int i = 0; i < 4; i++)
		assert_int_equal(values.values[i], mixed[i].config * 100);
}

TEST_WITH(without_pmu, begin, end)
{
	struct counter_values values;

	sim.has_no_pmu = true;
	counters_choose(mixed, 4);
	assert_int_equal(counters_read(COUNTERS_BY_NAME, &values), 6);
	assert_int_equal(values.got, 9);
	assert_int_equal(values.values[3], PERF_COUNT_SW_TASK_CLOCK * 100);
	/* A failure is reported only once. */
	assert_int_equal(counters_read(COUNTERS_BY_NAME, &values), 0);
	assert_int_equal(values.got, 9);
	assert_int_equal(counters_read(COUNTERS_PMU_CYCLE, &values), 3);
	assert_int_equal(values.got, 0);
}

/* Counters of the processor, and clocks, can be read without privilege. */
TEST_WITH(without_privilege, begin, end)
{
	struct counter_values values;

	sim.is_unprivileged = true;
	counters_choose(mixed, 4);
	assert_int_equal(counters_read(COUNTERS_BY_NAME, &values), 1);
	assert_int_equal(values.got, 14);
}

TEST_WITH(pairs, begin, end)
{
	struct counter_values values;

	assert_int_equal(counters_read(COUNTERS_PMU_CACHE, &values), 0);
	assert_int_equal(values.got, 3);
	assert_int_equal(values.values[0], PERF_COUNT_HW_CACHE_REFERENCES * 100);
	assert_int_equal(values.values[1], PERF_COUNT_HW_CACHE_MISSES * 100);
	assert_int_equal(sim.reads, 1);
	assert_int_equal(sim.files[1].leader, FIRST_FD);
}

/*
 * The program closes descriptors that are not its own, and opens its files with the same numbers.
 * These are neither read nor closed.
 */
TEST_WITH(taken_by_the_program, begin, end)
{
	struct counter_values values;

	counters_choose(mixed, 4);
	counters_read(COUNTERS_BY_NAME, &values);
	sim.files[0].is_foreign = true;
	assert_int_equal(counters_read(COUNTERS_BY_NAME, &values), 0);
	assert_int_equal(values.got, 0);
	assert_int_equal(sim.reads, 1);
	counters_end();
	assert_int_equal(nr_open(), 1);
	sim.files[0].is_open = false;
}

/* The next thread uses the memory again, with descriptors of its own. */
TEST_WITH(ends, begin, end)
{
	struct counter_values values;

	counters_choose(mixed, 4);
	counters_read(COUNTERS_BY_NAME, &values);
	counters_read(COUNTERS_PMU_CYCLE, &values);
	assert_int_equal(nr_open(), 6);
	counters_end();
	assert_int_equal(nr_open(), 0);
	counters_end();
	counters_read(COUNTERS_BY_NAME, &values);
	assert_int_equal(nr_open(), 4);
	assert_int_equal(nr_noted, 1);
}

/*
 * Read counters in this thread and in *@arg further ones. Each thread begins and ends while the
 * ones before it go on.
 */
static void *read_and_end(void *arg)
{
	unsigned before = nr_open();
	unsigned *more = arg;
	struct counter_values values;
	pthread_t thread;

	assert_int_equal(counters_read(COUNTERS_BY_NAME, &values), 0);
	assert_int_equal(nr_open(), before + 4);
	if ((*more)--) {
		assert_int_equal(pthread_create(&thread, NULL, read_and_end, more), 0);
		pthread_join(thread, NULL);
	}
	assert_int_equal(nr_open(), before + 4);
	assert_int_equal(counters_read(COUNTERS_BY_NAME, &values), 0);
	assert_int_equal(values.got, 15);
	counters_end();
	assert_int_equal(nr_open(), before);
	return NULL;
}

/* Each thread has its own descriptors, and closes only these. */
TEST_WITH(threads, begin, end)
{
	unsigned more = 3;

	counters_choose(mixed, 4);
	read_and_end(&more);
}

/* A child neither reads nor closes its parent's counters. */
TEST_WITH(forked, begin, end)
{
	struct counter_values values;

	counters_choose(mixed, 1);
	counters_read(COUNTERS_BY_NAME, &values);
	counters_after_fork();
	sim.files[0].value = 77;
	counters_read(COUNTERS_BY_NAME, &values);
	assert_int_equal(nr_open(), 2);
	assert_int_equal(values.values[0], PERF_COUNT_SW_CONTEXT_SWITCHES * 100);
	sim.files[0].is_open = false;
}

/* Another recording of the same process has other counters. */
TEST_WITH(another_recording, begin, end)
{
	struct counter_values values;

	counters_choose(mixed, 4);
	counters_read(COUNTERS_BY_NAME, &values);
	counters_drop();
	assert_int_equal(nr_open(), 0);
	counters_choose(&mixed[3], 1);
	assert_int_equal(counters_read(COUNTERS_BY_NAME, &values), 0);
	assert_int_equal(values.got, 1);
	assert_int_equal(values.values[0], PERF_COUNT_SW_TASK_CLOCK * 100);
	assert_int_equal(nr_noted, 2);
}
