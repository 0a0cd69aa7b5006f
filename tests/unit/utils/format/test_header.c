/* The info header: round trip in both byte orders, truncation, flipped bytes. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/format/header.h"

static const struct data_header sample = {
	.version = 4,
	.header_size = HEADER_SIZE,
	.endian = HEADER_LITTLE_ENDIAN,
	.elf_class = HEADER_CLASS_64,
	.feat_mask = 0x1363,
	.info_mask = 0xfbff,
	.max_stack = 1024,
};

TEST(round_trip)
{
	for (int endian = HEADER_LITTLE_ENDIAN; endian <= HEADER_BIG_ENDIAN; endian++) {
		struct data_header in = sample;
		struct data_header out;
		uint8_t bytes[HEADER_SIZE];

		in.endian = endian;
		header_encode(&in, bytes);
		assert_int_equal(header_decode(bytes, sizeof(bytes), &out, NULL), 0);
		assert_int_equal(out.version, in.version);
		assert_int_equal(out.endian, in.endian);
		assert_int_equal(out.elf_class, in.elf_class);
		assert_int_equal(out.feat_mask, in.feat_mask);
		assert_int_equal(out.info_mask, in.info_mask);
		assert_int_equal(out.max_stack, in.max_stack);
	}
}

TEST(cut_short)
{
	uint8_t bytes[HEADER_SIZE];

	header_encode(&sample, bytes);
	for (size_t len = 0; len < sizeof(bytes); len++) {
		struct data_header out;
		struct uft_err err = { 0 };
		uint8_t *copy = exact_copy(bytes, len);

		assert_int_equal(header_decode(copy, len, &out, &err), -EINVAL);
		assert_string_not_equal(err.text, "");
		free(copy);
	}
}

TEST(wrong_bytes)
{
	/* the offset of a byte, and a value that is wrong there */
	static const uint8_t wrong[][2] = { { 0, 'f' }, { 7, 1 },  { 8, 2 },  { 8, 5 }, { 12, 39 },
					    { 14, 0 },	{ 14, 3 }, { 15, 0 }, { 15, 3 } };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct data_header out;
		struct uft_err err = { 0 };
		uint8_t bytes[HEADER_SIZE];

		header_encode(&sample, bytes);
		bytes[wrong[i][0]] = wrong[i][1];
		assert_int_equal(header_decode(bytes, sizeof(bytes), &out, &err), -EINVAL);
		assert_string_not_equal(err.text, "");
	}
}
