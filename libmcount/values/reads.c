/* Reads memory use, page faults and counters for triggers (see reads.h). */
#include "libmcount/values/reads.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/values/emit.h"
#include "libmcount/system/own_syscall.h"
#include "utils/format/counter_record.h"
#include "utils/format/event_ids.h"

/*
 * The kinds of values in a reading.
 *
 * @bit: the bit in enum plan_read
 * @read: the id of the event with the values of one reading
 * @diff: the id of the event with the changes between two readings
 * @at: the offset of the values in struct reading
 */
static const struct {
	uint32_t bit;
	uint32_t read;
	uint32_t diff;
	uint32_t at;
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

_Static_assert(PLAN_READ_PMU_CYCLE << COUNTERS_PMU_BRANCH == PLAN_READ_PMU_BRANCH,
	       "bits and sets have the same order");

static bool read_pair(enum counter_set set, uint64_t values[2])
{
	struct counter_values both;

	if (counters_read(set, &both))
		atomic_fetch_or(&probe.arena->reads_failed, PLAN_READ_PMU_CYCLE << set);
	values[0] = both.values[0];
	values[1] = both.values[1];
	return both.got == 3;
}

/*
 * Reads the first three sizes in /proc/self/statm: the total size, the resident size, and the
 * shared part. Converts these sizes from pages to KB.
 */
static bool read_statm(uint64_t values[3])
{
	char text[128];
	uint64_t kb = sysconf(_SC_PAGESIZE) / 1024;
	long len = own_read_file("/proc/self/statm", text, sizeof(text));
	const char *at = text;

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

	if (own_syscall(SYS_getrusage, RUSAGE_SELF, &usage) < 0)
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

	uint32_t missed = what & (PLAN_READ_STATM | PLAN_READ_PAGE_FAULT) & ~out->got;

	if (missed)
		atomic_fetch_or(&probe.arena->reads_failed, missed);
	for (unsigned set = COUNTERS_PMU_CYCLE; set <= COUNTERS_PMU_BRANCH; set++) {
		if ((what & PLAN_READ_PMU_CYCLE << set) && read_pair(set, out->pmu[set]))
			out->got |= PLAN_READ_PMU_CYCLE << set;
	}
	out->named.got = 0;
	if (what & PLAN_READ_COUNTERS) {
		uint32_t wanted = (what & PLAN_READ_COUNTERS) / PLAN_READ_COUNTER;
		uint32_t failed = counters_read(COUNTERS_BY_NAME, &out->named);

		out->named.got &= wanted;
		if (failed)
			atomic_fetch_or(&probe.arena->reads_failed, failed * PLAN_READ_COUNTER);
	}
}

/* Writes a counter's value in pieces, with one piece in each record (counter_record.h). */
static void emit_counter(struct thread *t, uint64_t time_ns, uint32_t id, uint64_t value)
{
	unsigned nr = counter_pieces(value);
	char *at = hot_reserve(t, nr * sizeof(struct record));

	if (!at) {
		note_lost(t, nr);
		return;
	}
	for (unsigned i = 0; i < nr; i++)
		at = put_record(at, time_ns, counter_piece(id, value, i, nr));
	hot_commit(t, at);
}

/*
 * Writes the values in @now. If @before is not NULL, writes the changes since @before instead. The
 * change of a counter is written only if the processor had room for this counter during the whole
 * time between @before and @now.
 */
static void emit_counters(struct thread *t, uint64_t time_ns, const struct counter_values *now,
			  const struct counter_values *before)
{
	for (uint32_t i = 0; i < PLAN_COUNTERS_MAX; i++) {
		uint32_t id = EVENT_ID_COUNTER + 2 * i;

		if (!(now->got & 1U << i))
			continue;
		if (!before)
			emit_counter(t, time_ns, id, now->values[i]);
		else if ((before->got & 1U << i) && now->idle_ns[i] == before->idle_ns[i])
			emit_counter(t, time_ns, id + 1, now->values[i] - before->values[i]);
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
	if (now->named.got)
		emit_counters(t, time_ns, &now->named, before ? &before->named : NULL);
}
