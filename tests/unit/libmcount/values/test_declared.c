/*
 * Events that the program declares: their records in one ring with the values in another, the
 * choice of events, and events without room.
 */
#include "libmcount/values/declared.h"

#include <errno.h>

#include "libmcount/hot/guard.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/format/probe/attach.h"

#define EVENT (EVENT_ID_USER + 5)

struct scene {
	struct pair pair;
	struct thread *t;
	const struct utrail_trace_recorder *r;
	int32_t tid;
};

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	pair_init(&s->pair);
	pair_open(&s->pair);
	s->t = self = pair_thread();
	assert_non_null(s->t);
	s->tid = s->t->ring->tid;
	s->r = declared_recorder();
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	pair_stop(&s->pair);
	pair_close(&s->pair);
	/* The next test must begin without threads. A thread of this test has no second ring. */
	atomic_store(&probe_threads, NULL);
	free(s);
	return 0;
}

/*
 * Returns the entry of @len bytes at @at in the file of payloads.
 */
static const char *entry_at(const struct strbuf *file, size_t *at, uint32_t id, uint32_t flags,
			    uint64_t len)
{
	const struct event_data *entry = (const struct event_data *)(file->data + *at);

	assert_in_range(*at + sizeof(*entry) + len, 1, file->len);
	assert_int_equal(entry->id, id);
	assert_int_equal(entry->flags, flags);
	assert_int_equal(entry->len, len);
	*at += sizeof(*entry) + ALIGN_UP(len, 8U);
	return (const char *)(entry + 1);
}

static struct strbuf payloads(const struct scene *s)
{
	char name[64];

	snprintf(name, sizeof(name), "%d.evt", s->tid);
	return pair_file(&s->pair, name);
}

static struct strbuf records(struct scene *s)
{
	pair_look(&s->pair, true);
	return pair_data(&s->pair, s->tid);
}

TEST_WITH(an_event_is_a_record_and_its_payload_beside, setup, teardown)
{
	struct scene *s = *state;
	size_t at = 0;

	assert_true(s->r->emit(EVENT, "hello", 5));
	assert_true(s->r->emit(EVENT + 1, "", 0));
	assert_true(s->r->emit(EVENT_ID_USER, "12345678", 8));
	assert_int_equal(s->t->busy, 0);

	struct strbuf file cleanup_strbuf = records(s);
	struct strbuf beside cleanup_strbuf = payloads(s);
	const struct record *r = (const struct record *)file.data;
	static const uint32_t ids[] = { EVENT, EVENT + 1, EVENT_ID_USER };

	assert_int_equal(file.len, 3 * sizeof(*r));
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(r[i].data, record_data(RECORD_EVENT, 0, ids[i]));
	assert_int_equal(((const struct event_data *)beside.data)->time_ns, r[0].time_ns);
	assert_memory_equal(entry_at(&beside, &at, EVENT, 0, 5), "hello\0\0\0", 8);
	entry_at(&beside, &at, EVENT + 1, 0, 0);
	assert_memory_equal(entry_at(&beside, &at, EVENT_ID_USER, 0, 8), "12345678", 8);
	assert_int_equal(at, beside.len);
	/* All events of a thread share one second ring. */
	assert_int_equal(s->t->ring->payloads, 2);
	assert_int_equal(s->pair.proc->arena->threads_without_payloads, 0);
}

TEST_WITH(only_numbers_of_programs_are_recorded, setup, teardown)
{
	struct scene *s = *state;
	struct utrail_trace_place place;

	assert_false(s->r->emit(EVENT_ID_USER - 1, "x", 1));
	assert_false(s->r->emit(EVENT_ID_COUNTER, "x", 1));
	assert_int_equal(s->r->begin(EVENT_ID_USER - 1, &place), -1);
	assert_int_equal(s->r->begin(EVENT_ID_COUNTER, &place), -1);
	assert_int_equal(s->t->busy, 0);
	assert_true(s->r->emit(EVENT_ID_COUNTER - 1, "x", 1));

	struct strbuf file cleanup_strbuf = records(s);

	assert_int_equal(file.len, sizeof(struct record));
	assert_int_equal(s->t->ring->lost, 0);
}

/* A payload is cut to the length that fits into a segment. */
TEST_WITH(what_is_too_long_is_cut, setup, teardown)
{
	const uint64_t longest = RING_PAGE - 4 * sizeof(struct record) - sizeof(struct event_data);
	static char text[2 * RING_PAGE];
	struct scene *s = *state;
	size_t at = 0;

	memset(text, 'a', sizeof(text));
	assert_true(s->r->emit(EVENT, text, longest));
	assert_true(s->r->emit(EVENT, text, longest + 1));
	assert_true(s->r->emit(EVENT, text, sizeof(text)));

	struct strbuf file cleanup_strbuf = records(s);
	struct strbuf beside cleanup_strbuf = payloads(s);

	assert_int_equal(file.len, 3 * sizeof(struct record));
	entry_at(&beside, &at, EVENT, 0, longest);
	entry_at(&beside, &at, EVENT, EVENT_DATA_CUT, longest);
	entry_at(&beside, &at, EVENT, EVENT_DATA_CUT, longest);
	assert_int_equal(at, beside.len);
	assert_int_equal(s->pair.proc->arena->events_cut, 2);
}

TEST_WITH(a_payload_can_be_written_in_place, setup, teardown)
{
	const uint64_t longest = RING_PAGE - 4 * sizeof(struct record) - sizeof(struct event_data);
	struct scene *s = *state;
	struct utrail_trace_place place = { 0 };
	size_t at = 0;

	assert_int_equal(s->r->begin(EVENT, &place), 1);
	assert_int_equal(s->t->busy, 1);
	assert_ptr_equal(place.owner, s->t);
	assert_int_equal(place.room, longest);
	memset(place.at, 'b', 16);
	assert_true(s->r->end(EVENT, &place, 9));
	assert_int_equal(s->t->busy, 0);
	/* The payload is longer than the room, so there is no event. */
	assert_int_equal(s->r->begin(EVENT + 1, &place), 1);
	assert_false(s->r->end(EVENT + 1, &place, place.room + 1));
	assert_int_equal(s->t->busy, 0);
	assert_int_equal(s->r->begin(EVENT + 2, &place), 1);
	assert_in_range(place.room, 256, longest);
	memset(place.at, 'c', place.room);
	assert_true(s->r->end(EVENT + 2, &place, place.room));

	struct strbuf file cleanup_strbuf = records(s);
	struct strbuf beside cleanup_strbuf = payloads(s);
	const struct record *r = (const struct record *)file.data;

	assert_int_equal(file.len, 2 * sizeof(struct record));
	assert_int_equal(r[0].data, record_data(RECORD_EVENT, 0, EVENT));
	assert_int_equal(r[1].data, record_data(RECORD_EVENT, 0, EVENT + 2));
	assert_int_equal(r[1].time_ns, place.time_ns);
	assert_memory_equal(entry_at(&beside, &at, EVENT, 0, 9), "bbbbbbbbb\0\0\0\0\0\0\0", 16);
	entry_at(&beside, &at, EVENT + 2, 0, place.room);
	assert_int_equal(at, beside.len);
}

/* Near the end of a segment an event has less room, but never less than a minimum. */
TEST_WITH(a_place_has_room, setup, teardown)
{
	struct scene *s = *state;
	struct utrail_trace_place place;
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < 200; i++) {
		assert_int_equal(s->r->begin(EVENT, &place), 1);
		least = MIN(least, place.room);
		memset(place.at, 'x', 200);
		assert_true(s->r->end(EVENT, &place, 200));
		pair_look(&s->pair, true);
	}
	assert_in_range(least, 200, 256 + 216);
	assert_int_equal(s->t->ring->lost, 0);
}

/* The ring is full, and the thread does not wait. */
TEST_WITH(events_without_room_are_counted, setup, teardown)
{
	struct scene *s = *state;
	struct utrail_trace_place place;
	uint64_t nr = 0;

	probe.plan.flags |= PLAN_DROP;
	while (s->r->emit(EVENT, "0123456789", 10) && nr < 100000)
		nr++;
	assert_in_range(nr, 100, 99999);
	assert_int_equal(s->t->ring->lost, 1);
	assert_false(s->r->emit(EVENT, "0123456789", 10));
	assert_int_equal(s->t->ring->lost, 2);
	assert_int_equal(s->r->begin(EVENT, &place), -1);
	assert_int_equal(s->t->busy, 0);
	pair_look(&s->pair, true);
	assert_true(s->r->emit(EVENT, "0123456789", 10));
	assert_int_equal(s->t->ring->lost, 2);
}

/* All rings are taken: a thread without a second ring is counted once. Its calls are recorded. */
TEST_WITH(a_thread_may_have_no_second_ring, setup, teardown)
{
	struct scene *s = *state;
	struct thread *other;

	do {
		other = pair_thread();
	} while (other && other->ring);
	self = s->t;
	assert_false(s->r->emit(EVENT, "x", 1));
	assert_false(s->r->emit(EVENT, "x", 1));
	assert_int_equal(s->pair.proc->arena->threads_without_payloads, 1);
	assert_int_equal(s->t->ring->lost, 2);
	assert_int_equal(s->t->ring->payloads, 0);
	assert_true(emit_record(s->t, 1, record_data(RECORD_ENTRY, 0, 16), NULL, 0));
}

TEST_WITH(an_event_of_a_handler_comes_behind, setup, teardown)
{
	struct scene *s = *state;
	size_t at = 0;

	assert_true(s->r->emit(EVENT, "first", 5));
	s->t->busy = 1;
	assert_true(s->r->emit(EVENT + 1, "of a handler", 12));
	assert_int_equal(s->t->aside->busy, 0);
	assert_true(declared_record(s->t, EVENT + 2, "second", 6));
	guard_leave(s->t);

	struct strbuf file cleanup_strbuf = records(s);
	struct strbuf beside cleanup_strbuf = payloads(s);
	const struct record *r = (const struct record *)file.data;

	assert_int_equal(file.len, 3 * sizeof(struct record));
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(r[i].data,
				 record_data(RECORD_EVENT, 0, EVENT + (i == 0 ? 0 : 3 - i)));
	assert_memory_equal(entry_at(&beside, &at, EVENT, 0, 5), "first\0\0\0", 8);
	assert_memory_equal(entry_at(&beside, &at, EVENT + 2, 0, 6), "second\0\0", 8);
	assert_memory_equal(entry_at(&beside, &at, EVENT + 1, 0, 12), "of a handler\0\0\0\0", 16);
	assert_int_equal(((const struct event_data *)(beside.data + at - 32))->time_ns,
			 r[2].time_ns);
	assert_int_equal(at, beside.len);
}

TEST_WITH(nothing_is_recorded_when_nobody_records, setup, teardown)
{
	struct scene *s = *state;
	struct utrail_trace_place place;

	probe.tracing = false;
	assert_false(s->r->emit(EVENT, "x", 1));
	assert_int_equal(s->r->begin(EVENT, &place), 0);
	probe.tracing = true;
	probe.plain = false; /* there are rules, and the thread has no memory for them */
	assert_false(s->r->emit(EVENT, "x", 1));
	assert_int_equal(s->r->begin(EVENT, &place), 0);
	assert_int_equal(s->t->busy, 0);
	probe.plain = true;
	assert_null(s->t->payloads);
}

/* --- choices of events --- */

TEST_WITH(a_choice_is_what_was_said_last, setup, teardown)
{
	const struct scene *s = *state;
	static const struct attach_choice list[] = {
		{ EVENT_ID_USER, 1 },	     { EVENT_ID_USER + 1, -7 },
		{ EVENT_ID_USER + 2, 5 },    { EVENT_ID_USER + 4095, -1 },
		{ EVENT_ID_USER + 4096, 1 }, { EVENT_ID_COUNTER - 1, -1 },
	};
	static const int said[] = { 1, -1, 1, -1, 1, -1 };
	const struct attach_choice none = { EVENT_ID_USER, 0 };

	assert_int_equal(s->r->choose(EVENT_ID_USER + 3 * 4096, "a"), 0);
	assert_int_equal(declared_choose(list, ARRAY_SIZE(list)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		assert_int_equal(s->r->choose(list[i].event, "a"), said[i]);
	assert_int_equal(s->r->choose(EVENT_ID_USER + 3, "a"), 0);
	assert_int_equal(s->r->choose(EVENT_ID_USER + 4097, "a"), 0);
	assert_int_equal(s->r->choose(EVENT_ID_USER - 1, "a"), 0);
	assert_int_equal(s->r->choose(EVENT_ID_COUNTER, "a"), 0);
	assert_int_equal(declared_choose(&none, 1), 0);
	assert_int_equal(s->r->choose(EVENT_ID_USER, "a"), 0);
}

TEST_WITH(a_choice_of_no_event_is_refused, setup, teardown)
{
	static const struct attach_choice low = { EVENT_ID_USER - 1, 1 };
	static const struct attach_choice high = { EVENT_ID_COUNTER, 1 };

	assert_int_equal(declared_choose(&low, 1), -EINVAL);
	assert_int_equal(declared_choose(&high, 1), -EINVAL);
	assert_int_equal(declared_choose(&high, 0), 0);
}

static unsigned asked[17];
static bool answers[17];

#define WATCHER(n)                    \
	static bool watcher_##n(void) \
	{                             \
		asked[n]++;           \
		return answers[n];    \
	}
#define FOR_ALL(_) \
	_(0) _(1) _(2) _(3) _(4) _(5) _(6) _(7) _(8) _(9) _(10) _(11) _(12) _(13) _(14) _(15) _(16)
FOR_ALL(WATCHER)

#define NAME_OF(n) watcher_##n,

TEST_WITH(who_watches_is_told, setup, teardown)
{
	static bool (*const watchers[])(void) = { FOR_ALL(NAME_OF) };
	const struct scene *s = *state;

	for (unsigned i = 0; i < 17; i++)
		answers[i] = true;
	assert_int_equal(declared_chosen(), 0);
	/* There is room for 16 watchers. One that is added twice counts once. */
	for (unsigned i = 0; i < 17; i++) {
		assert_int_equal(s->r->watch(watchers[i], true), i < 16);
		assert_int_equal(s->r->watch(watchers[0], true), true);
	}
	assert_int_equal(declared_chosen(), 0);
	for (unsigned i = 0; i < 17; i++)
		assert_int_equal(asked[i], i < 16);
	/* A copy of the library that cannot look at the choice now is asked again. */
	answers[3] = false;
	assert_int_equal(declared_chosen(), -EAGAIN);
	answers[3] = true;
	assert_int_equal(declared_chosen(), 0);
	assert_true(s->r->watch(watchers[3], false));
	assert_true(s->r->watch(watchers[16], true));
	asked[3] = asked[16] = 0;
	assert_int_equal(declared_chosen(), 0);
	assert_int_equal(asked[3], 0);
	assert_int_equal(asked[16], 1);
	for (unsigned i = 0; i < 17; i++)
		assert_true(s->r->watch(watchers[i], false));
	asked[0] = 0;
	assert_int_equal(declared_chosen(), 0);
	assert_int_equal(asked[0], 0);
}

/*
 * A signal handler interrupts the hook of a thread's first event, and forks. In the child this hook
 * must not take a free ring, which is the parent's.
 */
TEST_WITH(a_fork_during_the_first_event_takes_no_ring, setup, teardown)
{
	struct scene *s = *state;
	const struct arena *parents = s->pair.proc->arena;
	uint32_t nr_free = 0;

	guard_take(s->t);
	assert_non_null(hot_reserve(s->t, sizeof(struct record)));
	thread_after_fork();
	assert_false(declared_record(s->t, EVENT, "x", 1));
	assert_int_equal(s->t->has_no_payloads, 0);
	guard_leave(s->t);
	for (uint32_t i = 0; i < parents->nr_rings; i++)
		nr_free += process_ring(s->pair.proc, i)->state == RING_FREE;
	assert_int_equal(nr_free, parents->nr_rings - 1);
	assert_int_equal(parents->threads_without_payloads, 0);
	probe.forked = FORK_NONE;
}

/* --- declared events --- */

/* No recorder answers at the pair's address. */
TEST_WITH(what_the_recorder_does_not_hear_of_is_counted, setup, teardown)
{
	const struct scene *s = *state;
	static char text[CONTROL_MSG_MAX];

	probe.ready = false;
	assert_int_equal(s->r->declare("a:b", "", NULL), 0);
	probe.ready = true;
	probe.tracing = false;
	assert_int_equal(s->r->declare("a:b", "", NULL), 0);
	probe.tracing = true;
	assert_int_equal(s->pair.proc->arena->events_undeclared, 0);
	assert_int_equal(s->r->declare("", "", NULL), 0);
	assert_int_equal(s->pair.proc->arena->events_undeclared, 0);
	assert_int_equal(s->pair.proc->arena->events_nameless, 1);
	memset(text, 'a', sizeof(text) - 1);
	assert_int_equal(s->r->declare("a:b", text, NULL), 0);
	assert_int_equal(s->r->declare("a:b", "", text), 0);
	assert_int_equal(s->r->declare("a:b", "", ""), 0);
	assert_int_equal(s->pair.proc->arena->events_undeclared, 3);
}

TEST_WITH(the_recorder_is_for_one_version_only, setup, teardown)
{
	const struct scene *s = *state;

	assert_ptr_equal(utrail_trace_recorder(UTRAIL_TRACE_ABI), s->r);
	assert_int_equal(s->r->abi, UTRAIL_TRACE_ABI);
	assert_int_equal(s->r->size, sizeof(*s->r));
	assert_null(utrail_trace_recorder(UTRAIL_TRACE_ABI + 1));
	probe.is_attached = true;
	assert_null(utrail_trace_recorder(UTRAIL_TRACE_ABI));
	probe.is_attached = false;
	probe.ready = false;
	assert_null(utrail_trace_recorder(UTRAIL_TRACE_ABI));
	probe.ready = true;
}
