/*
 * Values that triggers read, as they are recorded: readings and differences. A difference that
 * means nothing is left out.
 */
#include "libmcount/values/reads.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/system/own_syscall.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/format/counter_record.h"
#include "utils/format/event_ids.h"

struct scene {
	struct pair pair;
	struct thread *t;
	struct strbuf file;
	size_t at;
};

static void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	pair_init(&s->pair);
	pair_open(&s->pair);
	s->t = self = pair_thread();
	assert_non_null(s->t);
}

static void look(struct scene *s)
{
	pair_look(&s->pair, true);
	s->file = pair_data(&s->pair, s->t->ring->tid);
}

/*
 * Expect that the next event is of the counter @id, with @value.
 */
static void expect(struct scene *s, uint32_t id, uint64_t value)
{
	uint64_t sum = 0;
	struct record r;
	unsigned i = 0;

	do {
		assert_in_range(s->at + sizeof(r), 0, s->file.len);
		memcpy(&r, s->file.data + s->at, sizeof(r));
		s->at += sizeof(r);
		assert_int_equal(record_type(r.data), RECORD_EVENT);
		assert_int_equal(counter_piece_id(r.data), id);
		assert_int_equal(r.time_ns, 1000);
		sum += counter_piece_value(r.data, i++);
	} while (counter_piece_has_more(r.data));
	assert_int_equal(sum, value);
}

static void end(struct scene *s)
{
	assert_int_equal(s->at, s->file.len);
	strbuf_deinit(&s->file);
	pair_stop(&s->pair);
	pair_close(&s->pair);
}

/* Values may have any size. Counters that could not be read are left out. */
TEST(readings)
{
	const struct reading now = { .named = { .got = 1 | 4 | 8,
						.values = { 3, 99, UINT32_MAX, UINT64_MAX } } };
	struct scene s;

	begin(&s);
	reads_emit(s.t, 1000, &now, NULL);
	look(&s);
	expect(&s, EVENT_ID_COUNTER, 3);
	expect(&s, EVENT_ID_COUNTER + 4, UINT32_MAX);
	expect(&s, EVENT_ID_COUNTER + 6, UINT64_MAX);
	end(&s);
}

/*
 * A difference is recorded for a counter that is in both readings, if the processor has counted all
 * the time between them.
 */
TEST(differences)
{
	const struct reading before = { .named = { .got = 1 | 2 | 4 | 8,
						   .values = { 3, 10, 20, 30 },
						   .idle_ns = { 0, 7, 7, 0 } } };
	const struct reading now = { .named = { .got = 1 | 2 | 4 | 16,
						.values = { 8, 11, 22, 0, 5 },
						.idle_ns = { 0, 7, 8, 0, 0 } } };
	struct scene s;

	begin(&s);
	reads_emit(s.t, 1000, &now, &before);
	look(&s);
	expect(&s, EVENT_ID_COUNTER + 1, 5);
	expect(&s, EVENT_ID_COUNTER + 3, 1);
	end(&s);
}

/* The values are those of the kernel's files. */
TEST(values_of_this_process)
{
	const uint64_t page_kb = sysconf(_SC_PAGESIZE) / 1024;
	struct reading before, now;
	struct rusage usage;
	struct scene s;
	bool is_same = false;

	begin(&s);
	/*
	 * The kernel may take pages from the process at any time. So the test reads the file and
	 * calls reads_take() until both have the same values.
	 */
	for (int i = 0; i < 1000 && !is_same; i++) {
		unsigned long pages[3];
		FILE *statm = fopen("/proc/self/statm", "r");

		assert_non_null(statm);
		assert_int_equal(fscanf(statm, "%lu %lu %lu", &pages[0], &pages[1], &pages[2]), 3);
		memset(&now, 0xff, sizeof(now));
		reads_take(PLAN_READ_STATM, &now);
		fclose(statm);
		assert_int_equal(now.got, PLAN_READ_STATM);
		assert_int_equal(now.named.got, 0);
		is_same = now.statm[0] == pages[0] * page_kb &&
			  now.statm[1] == pages[1] * page_kb && now.statm[2] == pages[2] * page_kb;
	}
	assert_true(is_same);

	reads_take(PLAN_READ_PAGE_FAULT, &before);
	assert_int_equal(before.got, PLAN_READ_PAGE_FAULT);
	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	assert_in_range(usage.ru_majflt - before.page_faults[0], 0, 1000);
	assert_in_range(usage.ru_minflt - before.page_faults[1], 0, 1000);
	assert_true(before.page_faults[1] > 0);
	reads_take(0, &now);
	assert_int_equal(now.got, 0);
	look(&s);
	end(&s);
}

/* Expects the event @id with @nr values. */
static void expect_values(struct scene *s, uint32_t id, const uint64_t *values, size_t nr)
{
	struct record r;
	uint16_t len;

	assert_in_range(s->at + sizeof(r) + 8 * (nr + 1), 0, s->file.len);
	memcpy(&r, s->file.data + s->at, sizeof(r));
	assert_int_equal(r.time_ns, 1000);
	assert_int_equal(r.data, record_data(RECORD_EVENT, 0, id) | RECORD_MORE);
	memcpy(&len, s->file.data + s->at + sizeof(r), sizeof(len));
	assert_int_equal(len, 8 * nr);
	assert_memory_equal(s->file.data + s->at + sizeof(r) + 2, values, 8 * nr);
	s->at += sizeof(r) + 8 * (nr + 1);
}

static const uint32_t all_bits = PLAN_READ_STATM | PLAN_READ_PAGE_FAULT | PLAN_READ_PMU_CYCLE |
				 PLAN_READ_PMU_CACHE | PLAN_READ_PMU_BRANCH;

#define VALUES(...)         \
	(const uint64_t[])  \
	{                   \
		__VA_ARGS__ \
	}

TEST(readings_of_the_process)
{
	const struct reading now = {
		.got = all_bits,
		.statm = { 1, 2, 3 },
		.page_faults = { 4, 5 },
		.pmu = { { 6, 7 }, { 8, 9 }, { 10, 11 } },
	};
	struct reading before = now;
	struct scene s;

	begin(&s);
	reads_emit(s.t, 1000, &now, NULL);
	before.statm[0] = 0;
	before.statm[2] = 4;
	before.page_faults[1] = 1;
	before.pmu[0][1] = 5;
	before.pmu[1][0] = 1;
	before.pmu[2][1] = 9;
	reads_emit(s.t, 1000, &now, &before);
	/* A difference needs both readings. */
	before.got = all_bits & ~(uint32_t)PLAN_READ_STATM;
	reads_emit(s.t, 1000, &now, &before);
	look(&s);
	expect_values(&s, EVENT_ID_READ_STATM, VALUES(1, 2, 3), 3);
	expect_values(&s, EVENT_ID_READ_PAGE_FAULT, VALUES(4, 5), 2);
	expect_values(&s, EVENT_ID_READ_PMU_CYCLE, VALUES(6, 7), 2);
	expect_values(&s, EVENT_ID_READ_PMU_CACHE, VALUES(8, 9), 2);
	expect_values(&s, EVENT_ID_READ_PMU_BRANCH, VALUES(10, 11), 2);
	for (int i = 0; i < 2; i++) {
		if (i == 0)
			expect_values(&s, EVENT_ID_DIFF_STATM, VALUES(1, 0, UINT64_MAX), 3);
		expect_values(&s, EVENT_ID_DIFF_PAGE_FAULT, VALUES(0, 4), 2);
		expect_values(&s, EVENT_ID_DIFF_PMU_CYCLE, VALUES(0, 2), 2);
		expect_values(&s, EVENT_ID_DIFF_PMU_CACHE, VALUES(7, 0), 2);
		expect_values(&s, EVENT_ID_DIFF_PMU_BRANCH, VALUES(0, 2), 2);
	}
	end(&s);
}

/* The recorder learns of values that a sealed process cannot read. */
TEST(values_that_cannot_be_read)
{
	const uint32_t both = PLAN_READ_STATM | PLAN_READ_PAGE_FAULT;
	struct reading now;
	struct scene s;

	begin(&s);
	reads_take(both, &now);
	assert_int_equal(now.got, both);
	assert_int_equal(atomic_load(&probe.arena->reads_failed), 0);
	atomic_store(&seal.forbidden[SYS_openat / 8], UINT8_MAX);
	atomic_store(&seal.forbidden[SYS_getrusage / 8], UINT8_MAX);
	atomic_store(&seal.is_on, true);
	reads_take(both, &now);
	atomic_store(&seal.is_on, false);
	assert_int_equal(now.got, 0);
	assert_int_equal(atomic_load(&probe.arena->reads_failed), both);
	look(&s);
	end(&s);
}

/* Each record of a value that has no room is counted. */
TEST(values_without_room)
{
	const struct reading now = { .named = { .got = 1 | 2, .values = { 3, UINT64_MAX } } };
	struct scene s;

	begin(&s);
	probe.plan.flags |= PLAN_DROP;
	while (emit_record(s.t, 1, record_data(RECORD_ENTRY, 0, 16), NULL, 0))
		;
	reads_emit(s.t, 1000, &now, NULL);
	assert_int_equal(s.t->ring->lost, 1 + COUNTER_PIECES_MAX);
	end(&s);
}
