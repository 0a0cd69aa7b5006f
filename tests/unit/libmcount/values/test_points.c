/*
 * Events of the program. They are recorded inside of the calls that are open at the time. Unwanted
 * events change nothing.
 */
#include "libmcount/hot/callers.h"
#include "libmcount/values/points.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

#define PLACES 16

static struct arch_regs no_regs;

/* @stack has the slots of calls. It lies above the frames of all called functions. */
struct scene {
	struct pair pair;
	struct thread *t;
	uint64_t stack[PLACES];
};

static void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	pair_init(&s->pair);
	pair_open(&s->pair);
	s->t = self = pair_thread();
	assert_non_null(s->t);
}

static void enter(struct scene *s, unsigned place)
{
	s->stack[place] = 0x500000 + place;
	assert_int_equal(probe_entry(&s->stack[place], 0x400000 + place, &no_regs), 1);
}

static void point(struct scene *s, unsigned place, uint32_t event)
{
	probe_point(event, (uint64_t)&s->stack[place]);
	assert_int_equal(s->t->busy, 0);
}

static void end(struct scene *s, const uint64_t *expected, size_t nr)
{
	pair_look(&s->pair, true);

	struct strbuf file cleanup_strbuf = pair_data(&s->pair, s->t->ring->tid);
	const struct record *r = (const struct record *)strbuf_str(&file);

	assert_int_equal(file.len / sizeof(*r), nr);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(r[i].data, expected[i]);
	pair_stop(&s->pair);
	pair_close(&s->pair);
}

/* Calls that the program has jumped out of are over before the event. */
TEST(inside_of_calls)
{
	const uint64_t expected[] = {
		record_data(RECORD_ENTRY, 0, 0x400000 + 12),
		record_data(RECORD_ENTRY, 1, 0x400000 + 8),
		record_data(RECORD_EVENT, 0, 1000001),
		record_data(RECORD_EXIT, 1, 0x400000 + 8),
		record_data(RECORD_EVENT, 0, 1000002),
	};
	struct scene s;

	begin(&s);
	enter(&s, 12);
	enter(&s, 8);
	point(&s, 6, 1000001);
	point(&s, 10, 1000002);
	end(&s, expected, ARRAY_SIZE(expected));
}

/* Two events come while nothing is recorded, and a third one when all is recorded again. */
TEST(unwanted)
{
	const uint64_t expected[] = { record_data(RECORD_EVENT, 0, 1000003) };
	struct scene s;

	begin(&s);
	probe.tracing = probe.plain = false;
	point(&s, 6, 1000001);
	/* The plan has rules, but this thread has no memory for them. */
	probe.tracing = true;
	point(&s, 6, 1000002);
	probe.plain = true;
	point(&s, 6, 1000003);
	end(&s, expected, ARRAY_SIZE(expected));
}

int main(void)
{
	callers.bytes = UINT64_MAX; /* the test's return addresses are made up */
	return unit_run();
}
