/* A signal kills the program: its open calls are recorded, unless a hook was running. */
#include "libmcount/hot/callers.h"
#include "libmcount/system/crash.h"

#include <signal.h>

#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

#define PLACES 16

static struct arch_regs no_regs;

struct scene {
	struct pair pair;
	struct thread *t;
	uint64_t stack[PLACES];
};

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	pair_init(&s->pair);
	/* A threshold makes the probe hold entries back. */
	s->pair.settings.threshold_ns = 1000000000;
	pair_open(&s->pair);
	s->t = self = pair_thread();
	assert_non_null(s->t);
	for (unsigned place = 12; place >= 8; place -= 4) {
		s->stack[place] = 0x500000 + place;
		assert_int_equal(probe_entry(&s->stack[place], 0x400000 + place, &no_regs), 1);
	}
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	pair_stop(&s->pair);
	pair_close(&s->pair);
	free(s);
	return 0;
}

static size_t nr_records(struct scene *s, const uint64_t *expected)
{
	pair_look(&s->pair, true);

	struct strbuf file cleanup_strbuf = pair_data(&s->pair, s->t->ring->tid);
	const struct record *r = (const struct record *)strbuf_str(&file);
	size_t nr = file.len / sizeof(*r);

	for (size_t i = 0; i < nr; i++)
		assert_int_equal(r[i].data, expected[i]);
	return nr;
}

static const siginfo_t info = { .si_signo = SIGSEGV };

TEST_WITH(what_is_open, setup, teardown)
{
	struct scene *s = *state;
	const uint64_t expected[] = { record_data(RECORD_ENTRY, 0, 0x400000 + 12),
				      record_data(RECORD_ENTRY, 1, 0x400000 + 8) };

	crash_note(SIGSEGV, &info);
	assert_int_equal(s->t->busy, 0);
	assert_int_equal(nr_records(s, expected), 2);
	/* A second signal adds nothing. */
	crash_note(SIGSEGV, &info);
	assert_int_equal(nr_records(s, expected), 2);
}

TEST_WITH(not_in_a_hook, setup, teardown)
{
	struct scene *s = *state;

	s->t->busy = 1;
	crash_note(SIGSEGV, &info);
	assert_int_equal(s->t->busy, 1);
	s->t->busy = 0;
	assert_int_equal(nr_records(s, NULL), 0);
}

TEST_WITH(not_by_others, setup, teardown)
{
	struct scene *s = *state;

	probe.ready = false;
	crash_note(SIGSEGV, &info);
	probe.ready = true;
	assert_int_equal(nr_records(s, NULL), 0);
	self = NULL;
	crash_note(SIGSEGV, &info);
	self = &probe_idle_thread;
	crash_note(SIGSEGV, &info);
	self = s->t;
	assert_int_equal(nr_records(s, NULL), 0);
}

int main(void)
{
	callers.bytes = UINT64_MAX; /* the test's return addresses are made up */
	return unit_run();
}
