/* What triggers read of the process (see reads.h). */
#include "libmcount/reads.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/emit.h"
#include "utils/format/event_ids.h"

/* Which event says what was read, and which how much it has changed: its @read, and its @diff. */
static const struct {
	uint32_t bit;
	uint32_t read;
	uint32_t diff;
	uint32_t at; /* in struct reading */
	uint32_t bytes;
} kinds[] = {
	{ PLAN_READ_STATM, EVENT_ID_READ_STATM, EVENT_ID_DIFF_STATM,
	  offsetof(struct reading, statm), 24 },
	{ PLAN_READ_PAGE_FAULT, EVENT_ID_READ_PAGE_FAULT, EVENT_ID_DIFF_PAGE_FAULT,
	  offsetof(struct reading, page_faults), 16 },
	{ PLAN_READ_PMU_CYCLE, EVENT_ID_READ_PMU_CYCLE, EVENT_ID_DIFF_PMU_CYCLE,
	  offsetof(struct reading, pmu[0]), 16 },
	{ PLAN_READ_PMU_CACHE, EVENT_ID_READ_PMU_CACHE, EVENT_ID_DIFF_PMU_CACHE,
	  offsetof(struct reading, pmu[1]), 16 },
	{ PLAN_READ_PMU_BRANCH, EVENT_ID_READ_PMU_BRANCH, EVENT_ID_DIFF_PMU_BRANCH,
	  offsetof(struct reading, pmu[2]), 16 },
};

static const struct {
	uint32_t bit;
	uint64_t leader;
	uint64_t member;
} counters[] = {
	{ PLAN_READ_PMU_CYCLE, PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS },
	{ PLAN_READ_PMU_CACHE, PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CACHE_MISSES },
	{ PLAN_READ_PMU_BRANCH, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_MISSES },
};

/*
 * The groups of counters of a thread, by index in @counters. Descriptors that are kept, as an exception: a counter counts
 * from when it was opened. The program may close or replace one; what is read from it then has another length.
 */
struct counter_group {
	int leader;
	int member;
	bool is_open;
	bool failed;
};

static __thread struct counter_group groups[ARRAY_SIZE(counters)]
	__attribute__((tls_model("initial-exec")));

static int open_counter(uint64_t config, int leader)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = config,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_GROUP,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

static bool open_group(struct counter_group *g, unsigned index)
{
	if (g->is_open || g->failed)
		return g->is_open;
	g->leader = open_counter(counters[index].leader, -1);
	g->member = g->leader < 0 ? -1 : open_counter(counters[index].member, g->leader);
	g->is_open = g->member >= 0;
	g->failed = !g->is_open;
	if (g->failed && g->leader >= 0)
		syscall(SYS_close, g->leader);
	if (g->failed)
		atomic_fetch_or(&probe.arena->reads_failed, counters[index].bit);
	return g->is_open;
}

static bool read_group(unsigned index, uint64_t values[2])
{
	struct counter_group *g = &groups[index];
	struct {
		uint64_t nr;
		uint64_t values[2];
	} group;

	if (!open_group(g, index))
		return false;
	if (syscall(SYS_read, g->leader, &group, sizeof(group)) != sizeof(group) || group.nr != 2) {
		/* The program has closed it, or has a file of its own in its place. */
		g->is_open = false;
		g->failed = true;
		return false;
	}
	values[0] = group.values[0];
	values[1] = group.values[1];
	return true;
}

/* "size resident shared ..." in pages: proc_pid_statm(5). */
static bool read_statm(uint64_t values[3])
{
	char text[128];
	uint64_t kb = sysconf(_SC_PAGESIZE) / 1024;
	int fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/statm", O_RDONLY | O_CLOEXEC, 0);
	long len = fd < 0 ? -1 : syscall(SYS_read, fd, text, sizeof(text));
	const char *at = text;

	if (fd >= 0)
		syscall(SYS_close, fd);
	for (int i = 0; i < 3; i++) {
		uint64_t pages = 0;

		for (; at < text + len && *at >= '0' && *at <= '9'; at++)
			pages = pages * 10 + (*at - '0');
		at++;
		values[i] = pages * kb;
	}
	return len > 0;
}

static bool read_page_faults(uint64_t values[2])
{
	struct rusage usage;

	if (syscall(SYS_getrusage, RUSAGE_SELF, &usage) < 0)
		return false;
	values[0] = usage.ru_majflt;
	values[1] = usage.ru_minflt;
	return true;
}

void reads_take(uint32_t what, struct reading *out)
{
	out->got = 0;
	if ((what & PLAN_READ_STATM) && read_statm(out->statm))
		out->got |= PLAN_READ_STATM;
	if ((what & PLAN_READ_PAGE_FAULT) && read_page_faults(out->page_faults))
		out->got |= PLAN_READ_PAGE_FAULT;
	for (unsigned i = 0; i < ARRAY_SIZE(counters); i++) {
		if ((what & counters[i].bit) && read_group(i, out->pmu[i]))
			out->got |= counters[i].bit;
	}
}

void reads_emit(struct thread *t, uint64_t time_ns, const struct reading *now,
		const struct reading *before)
{
	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
		const uint64_t *values = (const uint64_t *)((const char *)now + kinds[i].at);
		const uint64_t *old = (const uint64_t *)((const char *)before + kinds[i].at);
		uint32_t nr = kinds[i].bytes / sizeof(uint64_t);
		uint64_t diff[3];

		if (!(now->got & kinds[i].bit) || (before && !(before->got & kinds[i].bit)))
			continue;
		for (uint32_t k = 0; before && k < nr; k++)
			diff[k] = values[k] - old[k];
		emit_event(t, time_ns, before ? kinds[i].diff : kinds[i].read,
			   before ? diff : values, kinds[i].bytes);
	}
}

void reads_after_fork(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(groups); i++)
		groups[i].is_open = groups[i].failed = false;
}
