/*
 * Unit tests of cmds/record/sources/sample.c: callers, callees and the number of calls, from
 * samples.
 */
#include "tests/unit/lib/unit.h"

#include "cmds/record/sources/sample.h"
#include "utils/base/compiler.h"
#include "utils/format/record.h"

/* The pointer is only compared, never followed. */
static const struct process *const proc = (const struct process *)0x1000;

static const struct sampled_call *find(const struct sample *sample, uint64_t addr, uint64_t caller)
{
	for (size_t i = 0; i < SAMPLE_SLOTS; i++) {
		if (sample->calls[i].addr == addr && sample->calls[i].caller == caller)
			return &sample->calls[i];
	}
	return NULL;
}

/* Function 1 is called once, and calls function 2 twice, for 30 ns each. */
static size_t put_round(struct record *r, uint64_t at_ns)
{
	r[0] = (struct record){ at_ns, record_data(RECORD_ENTRY, 0, 1) };
	r[1] = (struct record){ at_ns + 10, record_data(RECORD_ENTRY, 1, 2) };
	r[2] = (struct record){ at_ns + 40, record_data(RECORD_EXIT, 1, 2) };
	r[3] = (struct record){ at_ns + 50, record_data(RECORD_ENTRY, 1, 2) };
	r[4] = (struct record){ at_ns + 80, record_data(RECORD_EXIT, 1, 2) };
	r[5] = (struct record){ at_ns + 100, record_data(RECORD_EXIT, 0, 1) };
	return 6;
}

TEST(calls_and_callers)
{
	struct sample *sample = sample_new();
	struct sample *out = sample_new();
	struct record records[6];
	size_t nr = put_round(records, 1000);

	sample_take(sample, proc, records, nr * sizeof(*records));
	sample_move(sample, out);
	assert_int_equal(out->entries, 3);
	assert_int_equal(out->bytes, sizeof(records));
	assert_int_equal(out->looked_at, sizeof(records));
	assert_int_equal(find(out, 1, 0)->calls, 1);
	assert_int_equal(find(out, 1, 0)->sum_ns, 100);
	assert_int_equal(find(out, 2, 1)->calls, 2);
	assert_int_equal(find(out, 2, 1)->ended, 2);
	assert_int_equal(find(out, 2, 1)->sum_ns, 60);
	/* A sample that was moved is empty. */
	sample_move(sample, out);
	assert_int_equal(out->bytes + out->entries + out->nr, 0);
	sample_free(sample);
	sample_free(out);
}

TEST(a_part_of_much)
{
	enum {
		ROUNDS = 10000
	};
	struct sample *sample = sample_new();
	struct record *records = calloc(ROUNDS * 6, sizeof(*records));
	size_t nr = 0;

	for (unsigned i = 0; i < ROUNDS; i++)
		nr += put_round(&records[nr], 1000 * (i + 1));
	sample_take(sample, proc, records, nr * sizeof(*records));
	assert_true(sample->looked_at < sample->bytes / 15);

	double calls = (double)sample->entries * (double)sample->bytes / (double)sample->looked_at;

	assert_true(calls > 2.95 * ROUNDS && calls < 3.05 * ROUNDS);
	free(records);
	sample_free(sample);
}

/*
 * The records have more functions than there is room for, deep calls, exits without entries, and
 * bytes that are no records.
 */
TEST(whatever_comes)
{
	struct sample *sample = sample_new();
	uint64_t words[256];

	for (uint64_t i = 0; i < 2ULL * SAMPLE_SLOTS; i++) {
		struct record r[] = {
			{ i, record_data(RECORD_EXIT, i % 1024, i) },
			{ i, record_data(RECORD_ENTRY, i % 1024, i) },
			{ i, record_data(RECORD_ENTRY, 3, i) },
			{ i - 1, record_data(RECORD_EXIT, 3, i) },
		};

		sample_take(sample, proc, r, sizeof(r));
	}
	assert_int_equal(sample->entries, 4ULL * SAMPLE_SLOTS);
	assert_true(sample->nr < SAMPLE_SLOTS);
	for (unsigned i = 0; i < 256; i++)
		words[i] = i * 0x9e3779b97f4a7c15ULL;
	for (size_t len = 0; len <= sizeof(words); len += 8)
		sample_take(sample, proc, words, len);
	sample_free(sample);
}

static struct record entry(uint64_t time_ns, unsigned depth, uint64_t addr)
{
	return (struct record){ time_ns, record_data(RECORD_ENTRY, depth, addr) };
}

static struct record end_of(uint64_t time_ns, unsigned depth, uint64_t addr)
{
	return (struct record){ time_ns, record_data(RECORD_EXIT, depth, addr) };
}

static void check_call(const struct sample *sample, uint64_t addr, uint64_t caller, uint64_t calls,
		       uint64_t ended, uint64_t sum_ns)
{
	const struct sampled_call *call = find(sample, addr, caller);

	assert_non_null(call);
	assert_ptr_equal(call->proc, proc);
	assert_int_equal(call->calls, calls);
	assert_int_equal(call->ended, ended);
	assert_int_equal(call->sum_ns, sum_ns);
}

/* An end belongs to the last entry of its level, if that has the same function. */
TEST(ends_belong_to_entries)
{
	const struct record records[] = {
		/* The beginning of this call is not in the sample, nor is that of its caller. */
		end_of(90, 4, 7),  entry(100, 3, 5),
		entry(110, 4, 6),  end_of(110, 4, 6), /* no time has passed */
		end_of(120, 4, 6),		      /* a second end */
		entry(130, 4, 6),  end_of(129, 4, 6), /* before its entry */
		entry(140, 4, 6),  end_of(150, 4, 8), /* another function */
		end_of(160, 4, 6), end_of(170, 3, 5),
		entry(180, 4, 6), /* no call of level 3 is open, so the caller is not known */
	};
	struct sample *sample = sample_new();

	sample_take(sample, proc, records, sizeof(records));
	assert_int_equal(sample->entries, 5);
	assert_int_equal(sample->nr, 3);
	check_call(sample, 5, 0, 1, 1, 70);
	check_call(sample, 6, 5, 3, 1, 0);
	check_call(sample, 6, 0, 1, 0, 0);
	assert_null(find(sample, 7, 0));
	sample_free(sample);
}

/* At an ENTRY, the sample forgets the call that it knew on the next deeper level. */
TEST(a_new_call_has_no_callees_yet)
{
	const struct record records[] = {
		entry(10, 0, 1),  entry(20, 1, 2), entry(30, 0, 3),
		end_of(40, 1, 2), entry(50, 2, 4), end_of(60, 0, 3),
	};
	struct sample *sample = sample_new();

	sample_take(sample, proc, records, sizeof(records));
	check_call(sample, 1, 0, 1, 0, 0);
	check_call(sample, 2, 1, 1, 0, 0);
	check_call(sample, 3, 0, 1, 1, 30);
	check_call(sample, 4, 0, 1, 0, 0);
	sample_free(sample);
}

/* A sample has SAMPLE_LEVELS levels. Deeper entries are counted, and their calls are left out. */
TEST(levels_have_a_limit)
{
	const struct record records[] = {
		entry(10, SAMPLE_LEVELS - 2, 1),  entry(20, SAMPLE_LEVELS - 1, 2),
		entry(30, SAMPLE_LEVELS, 3),	  end_of(40, SAMPLE_LEVELS, 3),
		end_of(50, SAMPLE_LEVELS - 1, 2), entry(60, 1023, 4),
	};
	struct sample *sample = sample_new();

	sample_take(sample, proc, records, sizeof(records));
	assert_int_equal(sample->entries, 4);
	assert_int_equal(sample->nr, 2);
	check_call(sample, 1, 0, 1, 0, 0);
	check_call(sample, 2, 1, 1, 1, 30);
	sample_free(sample);
}

/* A buffer is read up to a sixteenth, but at least 2048 bytes. Words without a magic are skipped. */
TEST(a_part_of_each_buffer_is_read)
{
	static const struct {
		size_t len, looked_at;
	} cases[] = {
		{ 0, 0 },
		{ 16, 16 },
		{ 24, 16 },
		{ 2048, 2048 },
		{ 2064, 2048 },
		{ 16 * 2048, 2048 },
		{ 16 * 2064, 2064 },
		{ 16 * 2063, 2048 },
		{ 16 * 4096, 4096 },
	};
	static struct record records[4096];
	struct sample *sample = sample_new();
	uint64_t bytes = 0, looked_at = 0;

	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		records[i] = entry(i, 0, 1);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		sample_take(sample, proc, records, cases[i].len);
		bytes += cases[i].len;
		looked_at += cases[i].looked_at;
		assert_int_equal(sample->bytes, bytes);
		assert_int_equal(sample->looked_at, looked_at);
		assert_int_equal(sample->entries, looked_at / sizeof(*records));
	}
	sample_free(sample);

	/* A payload of three words comes before a record. */
	uint64_t words[8] = { 10, record_data(RECORD_ENTRY, 0, 1), 0, 0, 0,
			      20, record_data(RECORD_EXIT, 0, 1) };

	sample = sample_new();
	sample_take(sample, proc, words, 7 * sizeof(*words));
	assert_int_equal(sample->looked_at, 7 * sizeof(*words));
	check_call(sample, 1, 0, 1, 1, 10);
	sample_free(sample);
}

/* Three quarters of the slots are used. Calls that have a slot are counted further. */
TEST(slots_have_a_limit)
{
	struct sample *sample = sample_new();

	for (uint64_t i = 1; i <= SAMPLE_SLOTS; i++) {
		const struct record r = entry(i, 0, i);

		sample_take(sample, proc, &r, sizeof(r));
	}
	assert_int_equal(sample->nr, SAMPLE_SLOTS * 3 / 4);
	assert_int_equal(sample->entries, SAMPLE_SLOTS);
	check_call(sample, SAMPLE_SLOTS * 3 / 4, 0, 1, 0, 0);
	assert_null(find(sample, SAMPLE_SLOTS * 3 / 4 + 1, 0));

	const struct record again[] = { entry(1, 0, SAMPLE_SLOTS * 3 / 4),
					entry(2, 0, SAMPLE_SLOTS * 3 / 4 + 1) };

	sample_take(sample, proc, again, sizeof(again));
	check_call(sample, SAMPLE_SLOTS * 3 / 4, 0, 2, 0, 0);
	assert_int_equal(sample->nr, SAMPLE_SLOTS * 3 / 4);

	struct sample *out = sample_new();

	sample_move(sample, out);
	assert_int_equal(out->nr, SAMPLE_SLOTS * 3 / 4);
	assert_null(find(sample, 1, 0));
	check_call(out, 1, 0, 1, 0, 0);
	sample_free(sample);
	sample_free(out);
	sample_free(NULL);
}

/* Calls of two processes are kept apart, and so are calls from two functions. */
TEST(processes_and_callers_are_kept_apart)
{
	const struct process *other = (const struct process *)0x2000;
	const struct record records[] = { entry(1, 0, 1), entry(2, 1, 3), entry(3, 0, 2),
					  entry(4, 1, 3) };
	struct sample *sample = sample_new();

	sample_take(sample, proc, records, sizeof(records));
	assert_int_equal(sample->nr, 4);
	sample_take(sample, other, records, sizeof(records));
	assert_int_equal(sample->nr, 8);
	for (size_t i = 0; i < SAMPLE_SLOTS; i++) {
		if (sample->calls[i].proc)
			assert_int_equal(sample->calls[i].calls, 1);
	}
	sample_free(sample);
}
