/* Values of counters named by `read=`. */
#include "tests/unit/lib/read/kinds.h"

#include "utils/format/bytes.h"
#include "utils/format/counter_record.h"
#include "utils/spec/counters.h"

/* Makes the records of @value as the probe does. Returns their length in bytes. */
static size_t make(uint64_t value, bool big, uint8_t *to)
{
	unsigned nr = counter_pieces(value);

	for (unsigned i = 0; i < nr; i++) {
		uint64_t data = counter_piece(EVENT_ID_COUNTER, value, i, nr);

		assert_int_equal(counter_piece_id(data), EVENT_ID_COUNTER);
		put_u64(to + 16 * i, 0, big);
		put_u64(to + 16 * i + 8, data, big);
	}
	return nr * 16;
}

TEST(values_of_all_sizes)
{
	for (unsigned bits = 0; bits < 64; bits++) {
		for (int more = -1; more < 2; more++) {
			uint64_t value = (1ULL << bits) + more;
			uint8_t bytes[16 * COUNTER_PIECES_MAX];
			uint64_t got = 1;

			for (int big = 0; big < 2; big++) {
				size_t len = make(value, big, bytes);

				assert_true(event_counter_value(bytes, len, big, &got));
				assert_true(got == value);
				/* Bytes after the last piece belong to another record. */
				if (len < sizeof(bytes)) {
					memset(bytes + len, 0xff, sizeof(bytes) - len);
					assert_true(event_counter_value(bytes, sizeof(bytes), big,
									&got));
					assert_true(got == value);
				}
				assert_false(event_counter_value(bytes, len - 1, big, &got));
			}
		}
	}
}

TEST(texts)
{
	uint8_t bytes[16 * COUNTER_PIECES_MAX];
	size_t len = make(1234567890123, false, bytes);

	kind_check_data(EVENT_ID_COUNTER, bytes, len, false, "value=1234567890123",
			"value:u=0x11f71fb04cb");
	kind_check_data(EVENT_ID_COUNTER + 1, bytes, len, false, "value=+1234567890123",
			"value:d=0x11f71fb04cb");
	kind_check_data(EVENT_ID_COUNTER, bytes, 0, false, "", "");
	kind_check_data(EVENT_ID_COUNTER, NULL, len, false, "", "");
}

TEST(counters_have_names_and_places)
{
	struct event_kind kind = { .id = EVENT_ID_COUNTER + 1, .name = "diff:instructions" };
	size_t index = 99;

	assert_string_equal(event_kind_counter(&kind, &index), "instructions");
	assert_int_equal(index, 0);
	kind.id += 2 * (COUNTERS_MAX - 1);
	kind.name = "different";
	assert_string_equal(event_kind_counter(&kind, &index), "different");
	assert_int_equal(index, COUNTERS_MAX - 1);
	kind.id += 2;
	assert_null(event_kind_counter(&kind, &index));
	kind.id = EVENT_ID_COUNTER;
	assert_null(event_kind_counter(&kind, &index));
	kind.id = EVENT_ID_DIFF_STATM;
	assert_null(event_kind_counter(&kind, &index));
	assert_int_equal(index, COUNTERS_MAX - 1);
}
