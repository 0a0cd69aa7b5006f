/* Records with a payload: the padded bytes, in a ring and in the buffer of an aside. */
#include "libmcount/values/emit.h"

#include "libmcount/hot/aside.h"
#include "libmcount/hot/guard.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

static struct pair pair;
static struct thread *t;

static int setup(void **state)
{
	pair_init(&pair);
	pair_open(&pair);
	t = self = pair_thread();
	assert_non_null(t);
	return 0;
}

static int teardown(void **state)
{
	pair_stop(&pair);
	pair_close(&pair);
	atomic_store(&probe_threads, NULL);
	return 0;
}

TEST_WITH(bytes_are_padded_with_zeros, setup, teardown)
{
	for (uint32_t len = 0; len <= 40; len++) {
		char from[40];
		char to[64];
		uint32_t padded = (len + 7) / 8 * 8;

		for (uint32_t i = 0; i < len; i++)
			from[i] = 'a' + i;
		memset(to, 'x', sizeof(to));
		assert_ptr_equal(emit_put_bytes(to, from, len), to + padded);
		assert_memory_equal(to, from, len);
		for (uint32_t i = len; i < sizeof(to); i++)
			assert_int_equal(to[i], i < padded ? 0 : 'x');
	}
}

TEST_WITH(a_record_says_whether_there_is_more, setup, teardown)
{
	const uint64_t data = record_data(RECORD_ENTRY, 3, 0x400000);
	const uint64_t *words;

	assert_true(emit_record(t, 11, data, "abcdefghi", 9));
	assert_true(emit_record(t, 12, data, NULL, 0));
	pair_look(&pair, true);

	struct strbuf file cleanup_strbuf = pair_data(&pair, t->ring->tid);

	words = (const uint64_t *)file.data;
	assert_int_equal(file.len, 6 * 8);
	assert_int_equal(words[0], 11);
	assert_int_equal(words[1], data | RECORD_MORE);
	assert_memory_equal(&words[2], "abcdefghi\0\0\0\0\0\0\0", 16);
	assert_int_equal(words[4], 12);
	assert_int_equal(words[5], data);
}

TEST_WITH(an_event_has_its_length_in_front, setup, teardown)
{
	char text[EMIT_EVENT_MAX];

	memset(text, 'e', sizeof(text));
	emit_event(t, 5, 100013, "abc", 3);
	emit_event(t, 6, 7, text, sizeof(text));
	emit_event(t, 7, 8, NULL, 0);
	pair_look(&pair, true);

	struct strbuf file cleanup_strbuf = pair_data(&pair, t->ring->tid);
	const struct record *r = (const struct record *)file.data;

	assert_int_equal(r->time_ns, 5);
	assert_int_equal(r->data, record_data(RECORD_EVENT, 0, 100013) | RECORD_MORE);
	assert_memory_equal(r + 1, "\3\0abc\0\0\0", 8);
	assert_memory_equal(file.data + 24 + 16, "\x40\0eee", 5);
	assert_memory_equal(file.data + 24 + 16 + 64, "ee\0\0\0\0\0\0", 8);
	assert_int_equal(file.len, 24 + 16 + 72 + 24);
}

TEST_WITH(what_has_no_room_is_counted, setup, teardown)
{
	probe.plan.flags |= PLAN_DROP;
	while (emit_record(t, 1, record_data(RECORD_ENTRY, 0, 1), NULL, 0))
		;
	assert_int_equal(t->ring->lost, 0);
	assert_false(emit_record(t, 1, record_data(RECORD_ENTRY, 0, 1), "a", 1));
	assert_int_equal(t->ring->lost, 0);
	emit_event(t, 1, 7, "a", 1);
	assert_int_equal(t->ring->lost, 1);
}

/* In an aside the length of a payload is before it, so that the next record can be found. */
TEST_WITH(an_aside_knows_how_long_a_payload_is, setup, teardown)
{
	const uint64_t data = record_data(RECORD_EXIT, 1, 0x400010);
	struct thread *aside;
	char *at;

	t->busy = 1;
	aside = aside_enter(t);
	assert_non_null(aside);
	at = aside->at;
	assert_true(emit_record(aside, 21, data, NULL, 0));
	assert_int_equal(emit_aside_bytes(at), 16);
	assert_true(emit_record(aside, 22, data, "0123456789", 10));
	assert_int_equal(emit_aside_bytes(at + 16), 16 + 8 + 16);
	assert_ptr_equal(aside->at, at + 16 + 40);
	assert_true(emit_from_aside(t, at, 31, data + 1));
	assert_true(emit_from_aside(t, at + 16, 32, data));
	aside->at = at;
	t->has_aside_records = 0;
	aside->busy = t->busy = 0;
	pair_look(&pair, true);

	struct strbuf file cleanup_strbuf = pair_data(&pair, t->ring->tid);
	const uint64_t *words = (const uint64_t *)file.data;

	assert_int_equal(file.len, 16 + 32);
	assert_int_equal(words[0], 31);
	assert_int_equal(words[1], data + 1);
	assert_int_equal(words[2], 32);
	assert_int_equal(words[3], data | RECORD_MORE);
	assert_memory_equal(&words[4], "0123456789\0\0\0\0\0\0", 16);
}
