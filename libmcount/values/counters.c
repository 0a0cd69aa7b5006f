/* Counters of each thread (see counters.h). */
#include "libmcount/values/counters.h"

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/system/undo.h"
#include "libmcount/system/own_syscall.h"
#include "utils/base/compiler.h"

/*
 * A counter that a thread has opened. The counter counts only while the descriptor @fd is open, so
 * the probe keeps @fd open. The probe keeps no other descriptors open.
 *
 * @id: the kernel's number of the counter
 */
struct open_counter {
	int fd;
	uint32_t leader; /* the leader of this counter's group, as an index in the set */
	uint64_t id;
};

/*
 * The counters of one thread. After the thread has ended, another thread may reuse the struct.
 *
 * @generation: the value of the variable `generation` when the counters were opened
 */
struct thread_counters {
	struct thread_counters *next;
	_Atomic uint32_t in_use;
	uint32_t generation;
	bool is_open[COUNTER_SETS];
	struct open_counter sets[COUNTER_SETS][PLAN_COUNTERS_MAX];
};

struct set {
	struct plan_counter counters[PLAN_COUNTERS_MAX];
	uint32_t nr;
};

#define HARDWARE(config)                         \
	{                                        \
		(config), PERF_TYPE_HARDWARE, 0, \
	}

static struct set sets[COUNTER_SETS] = {
	{ { HARDWARE(PERF_COUNT_HW_CPU_CYCLES), HARDWARE(PERF_COUNT_HW_INSTRUCTIONS) }, 2 },
	{ { HARDWARE(PERF_COUNT_HW_CACHE_REFERENCES), HARDWARE(PERF_COUNT_HW_CACHE_MISSES) }, 2 },
	{ { HARDWARE(PERF_COUNT_HW_BRANCH_INSTRUCTIONS), HARDWARE(PERF_COUNT_HW_BRANCH_MISSES) },
	  2 },
};

/*
 * The number of the present generation of counters. A new generation begins when a recording begins
 * or ends, and in a forked child. No thread reads counters of an earlier generation.
 */
static _Atomic uint32_t generation = 1;
static _Atomic(struct thread_counters *) all;
/*
 * own_generation: the generation in which `own` was set. `own` is valid only in that generation:
 * the memory is freed when a recording has ended.
 */
static __thread struct thread_counters *own __attribute__((tls_model("initial-exec")));
static __thread uint32_t own_generation __attribute__((tls_model("initial-exec")));

void counters_choose(const struct plan_counter *counters, uint32_t nr)
{
	struct set *set = &sets[COUNTERS_BY_NAME];

	atomic_fetch_add(&generation, 1);
	set->nr = nr;
	memcpy(set->counters, counters, nr * sizeof(*counters));
}

static void forget_counters(struct thread_counters *t)
{
	for (unsigned set = 0; set < COUNTER_SETS; set++) {
		t->is_open[set] = false;
		for (unsigned i = 0; i < PLAN_COUNTERS_MAX; i++)
			t->sets[set][i].fd = -1;
	}
	t->generation = atomic_load(&generation);
}

/*
 * Returns the struct of a thread that has ended, or a new one. Returns NULL when there is no
 * memory.
 */
static struct thread_counters *take_counters(void)
{
	struct thread_counters *t = atomic_load(&all);
	uint32_t unused = 0;

	for (; t; t = t->next, unused = 0) {
		if (atomic_compare_exchange_strong(&t->in_use, &unused, 1))
			return t;
	}
	t = undo_new_memory(sizeof(*t));
	if (!t)
		return NULL;
	t->in_use = 1;
	t->next = atomic_load(&all);
	while (!atomic_compare_exchange_weak(&all, &t->next, t))
		;
	return t;
}

static struct thread_counters *own_counters(void)
{
	uint32_t now = atomic_load(&generation);

	if (!own || own_generation != now) {
		own = take_counters();
		own_generation = now;
		if (own)
			forget_counters(own);
	}
	return own;
}

/* Opens a counter of this thread. If @user_only is set, the counter excludes the kernel's work. */
static int open_one(const struct plan_counter *counter, int leader, bool user_only)
{
	struct perf_event_attr attr = {
		.type = counter->type,
		.size = sizeof(attr),
		.config = counter->config,
		.exclude_kernel = user_only,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	/* Without these calls the probe could not check the counter, or close it again. */
	if (!seal_allows(SYS_close) || !seal_allows(SYS_ioctl))
		return -1;
	return own_syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

/*
 * True for a clock. If the user is not allowed to count the kernel's work, a clock is opened with
 * exclude_kernel. The clock counts the same time as without exclude_kernel.
 */
static bool is_clock(const struct plan_counter *counter)
{
	return counter->type == PERF_TYPE_SOFTWARE && (counter->config == PERF_COUNT_SW_CPU_CLOCK ||
						       counter->config == PERF_COUNT_SW_TASK_CLOCK);
}

static int open_counter(const struct plan_counter *counter, int leader)
{
	int fd = open_one(counter, leader, counter->type != PERF_TYPE_SOFTWARE);

	return fd < 0 && is_clock(counter) ? open_one(counter, leader, true) : fd;
}

/*
 * True when the descriptor still refers to counter @c. The program may have closed the descriptor,
 * and may have got the descriptor's number for a file of the program.
 */
static bool is_ours(const struct open_counter *c)
{
	uint64_t id = 0;

	return c->fd >= 0 && own_syscall(SYS_ioctl, c->fd, PERF_EVENT_IOC_ID, &id) == 0 &&
	       id == c->id;
}

static void close_counter(struct open_counter *c)
{
	if (is_ours(c))
		own_syscall(SYS_close, c->fd);
	c->fd = -1;
}

static void close_all(struct thread_counters *t)
{
	for (unsigned set = 0; set < COUNTER_SETS; set++) {
		for (unsigned i = 0; i < PLAN_COUNTERS_MAX; i++)
			close_counter(&t->sets[set][i]);
	}
}

/* Opens counter @i in the group of the counter before it or, if that fails, in a new group. */
static bool open_into(struct open_counter *members, const struct set *set, uint32_t i,
		      uint32_t *leader)
{
	struct open_counter *c = &members[i];

	if (*leader < i) {
		c->leader = *leader;
		c->fd = open_counter(&set->counters[i], members[*leader].fd);
	}
	if (c->fd < 0) {
		c->leader = i;
		c->fd = open_counter(&set->counters[i], -1);
	}
	if (c->fd < 0 || own_syscall(SYS_ioctl, c->fd, PERF_EVENT_IOC_ID, &c->id) != 0) {
		if (c->fd >= 0)
			own_syscall(SYS_close, c->fd);
		c->fd = -1;
		return false;
	}
	*leader = c->leader;
	return true;
}

/* Opens all counters of a set. If counter i cannot be opened, bit i of the result is 1. */
static uint32_t open_set(struct thread_counters *t, enum counter_set which)
{
	const struct set *set = &sets[which];
	uint32_t leader = UINT32_MAX;
	uint32_t failed = 0;

	t->is_open[which] = true;
	for (uint32_t i = 0; i < set->nr; i++) {
		if (!open_into(t->sets[which], set, i, &leader))
			failed |= 1U << i;
	}
	return failed;
}

/* Reads the counters of the group that @first leads, with one system call. */
static void read_group(struct open_counter *members, uint32_t nr, uint32_t first,
		       struct counter_values *out)
{
	struct {
		uint64_t nr;
		uint64_t enabled_ns;
		uint64_t running_ns;
		uint64_t values[PLAN_COUNTERS_MAX];
	} group;
	uint32_t expected = 0;
	uint32_t at = 0;

	for (uint32_t i = first; i < nr; i++)
		expected += members[i].fd >= 0 && members[i].leader == first;

	long len = offsetof(__typeof__(group), values) + expected * sizeof(group.values[0]);

	if (!is_ours(&members[first]) ||
	    own_syscall(SYS_read, members[first].fd, &group, sizeof(group)) != len ||
	    group.nr != expected) {
		members[first].fd = -1;
		return;
	}
	if (group.enabled_ns && !group.running_ns)
		return;
	for (uint32_t i = first; i < nr; i++) {
		if (members[i].fd < 0 || members[i].leader != first)
			continue;
		out->values[i] = group.values[at++];
		out->idle_ns[i] = group.enabled_ns - group.running_ns;
		out->got |= 1U << i;
	}
}

uint32_t counters_read(enum counter_set which, struct counter_values *out)
{
	struct thread_counters *t = own_counters();
	uint32_t nr = sets[which].nr;
	uint32_t failed = 0;

	out->got = 0;
	if (!t)
		return (1U << nr) - 1;
	if (!t->is_open[which])
		failed = open_set(t, which);
	for (uint32_t i = 0; i < nr; i++) {
		if (t->sets[which][i].fd >= 0 && t->sets[which][i].leader == i)
			read_group(t->sets[which], nr, i, out);
	}
	return failed;
}

void counters_end(void)
{
	struct thread_counters *t = own;

	own = NULL;
	if (!t || own_generation != atomic_load(&generation))
		return;
	close_all(t);
	atomic_store_explicit(&t->in_use, 0, memory_order_release);
}

void counters_drop(void)
{
	for (struct thread_counters *t = atomic_load(&all); t; t = t->next)
		close_all(t);
	atomic_store(&all, NULL);
	atomic_fetch_add(&generation, 1);
}

/*
 * In a forked child: lets the child's threads reuse the structs of the parent's threads. In the
 * child, the descriptors of the parent's counters stay open until an exec closes them.
 */
void counters_after_fork(void)
{
	for (struct thread_counters *t = atomic_load(&all); t; t = t->next)
		t->in_use = 0;
	own = NULL;
	atomic_fetch_add(&generation, 1);
}
