/*
 * Unit tests of cmds/record/sources/sample.c: callers, callees and the number of calls, from
 * samples.
 */
#include "tests/unit/lib/unit.h"

#include "cmds/record/sources/sample.h"
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
