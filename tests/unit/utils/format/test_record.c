/* The bits of a trace record: round trips, and bits from real files. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/format/counter_record.h"
#include "utils/format/record.h"

TEST(round_trip)
{
	static const enum record_type types[] = { RECORD_ENTRY, RECORD_EXIT, RECORD_LOST,
						  RECORD_EVENT };
	static const unsigned depths[] = { 0, 1, 42, RECORD_DEPTH_MAX };
	static const uint64_t addrs[] = { 0, 1, 0x55c042d6f244, RECORD_ADDR_MASK };

	for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
		for (size_t d = 0; d < ARRAY_SIZE(depths); d++) {
			for (size_t a = 0; a < ARRAY_SIZE(addrs); a++) {
				uint64_t data = record_data(types[t], depths[d], addrs[a]);

				assert_int_equal(record_type(data), types[t]);
				assert_int_equal(record_depth(data), depths[d]);
				assert_int_equal(record_addr(data), addrs[a]);
				assert_true(record_magic_is_good(data));
				assert_false(record_has_more(data));
				assert_true(record_has_more(data | RECORD_MORE));
				assert_true(record_magic_is_good(data | RECORD_MORE));
			}
		}
	}
}

/*
 * A counter's value takes as few records as possible. Each has its id where older readers expect
 * it.
 */
TEST(counters)
{
	static const struct {
		uint64_t value;
		unsigned nr;
	} cases[] = {
		{ 0, 1 },
		{ 1, 1 },
		{ 0xffffff, 1 },
		{ 0x1000000, 2 },
		{ 0x123456789abc, 2 },
		{ 0x1000000000000, 3 },
		{ UINT64_MAX, 3 },
	};
	const uint32_t id = 1999001;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned nr = counter_pieces(cases[i].value);
		uint64_t value = 0;

		assert_int_equal(nr, cases[i].nr);
		for (unsigned k = 0; k < nr; k++) {
			uint64_t data = counter_piece(id, cases[i].value, k, nr);

			assert_int_equal(record_type(data), RECORD_EVENT);
			assert_true(record_magic_is_good(data));
			assert_false(record_has_more(data));
			assert_int_equal((uint32_t)record_addr(data), id);
			assert_int_equal(counter_piece_id(data), id);
			assert_int_equal(counter_piece_has_more(data), k + 1 < nr);
			value |= counter_piece_value(data, k);
		}
		assert_int_equal(value, cases[i].value);
	}
}

/* The ENTRY of main as a real file has it: doc/formats/records.md, "Records". */
TEST(sample)
{
	uint64_t data = 0x55c042d6f2440028;

	assert_int_equal(record_data(RECORD_ENTRY, 0, 0x55c042d6f244), data);
	assert_int_equal(record_type(data), RECORD_ENTRY);
	assert_int_equal(record_addr(data), 0x55c042d6f244);
	assert_int_equal(record_depth(data), 0);
}

TEST(clamped_and_damaged)
{
	assert_int_equal(record_depth(record_data(RECORD_EXIT, 5000, 7)), RECORD_DEPTH_MAX);
	assert_int_equal(record_addr(record_data(RECORD_EXIT, 5000, 7)), 7);
	assert_false(record_magic_is_good(0));
	assert_false(record_magic_is_good(UINT64_MAX));
}
