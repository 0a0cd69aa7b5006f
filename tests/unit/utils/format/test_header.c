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

/* The message names the value, its place, and the values that are expected. */
TEST(messages)
{
	static const struct {
		uint8_t at;
		uint8_t value;
		const char *text;
	} cases[] = {
		{ 0, 'f', "not a recording: it does not start with 'Ftrace!'" },
		{ 7, '!', "not a recording: it does not start with 'Ftrace!'" },
		{ 8, 2, "format version 2 at offset 8: expected 3 or 4" },
		{ 8, 3, NULL },
		{ 8, 5, "format version 5 at offset 8: expected 3 or 4" },
		{ 11, 1, "format version 16777220 at offset 8: expected 3 or 4" },
		{ 12, 39, "header size 39 at offset 12: expected at least 40" },
		{ 12, 41, NULL },
		{ 13, 1, NULL },
		{ 14, 0, "byte order 0 at offset 14: expected 1 or 2" },
		{ 14, 3, "byte order 3 at offset 14: expected 1 or 2" },
		{ 15, 0, "word size 0 at offset 15: expected 1 or 2" },
		{ 15, 1, NULL },
		{ 15, 3, "word size 3 at offset 15: expected 1 or 2" },
		{ 39, 1, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct data_header out = { 0 };
		struct uft_err err = { 0 };
		uint8_t bytes[HEADER_SIZE];

		header_encode(&sample, bytes);
		bytes[cases[i].at] = cases[i].value;
		if (cases[i].text) {
			assert_int_equal(header_decode(bytes, sizeof(bytes), &out, &err), -EINVAL);
			assert_string_equal(err.text, cases[i].text);
			assert_int_equal(out.version, 0);
		} else {
			assert_int_equal(header_decode(bytes, sizeof(bytes), &out, &err), 0);
			assert_int_equal(out.header_size, bytes[12] | bytes[13] << 8);
			assert_int_equal(out.version, bytes[8]);
			assert_int_equal(out.elf_class, bytes[15]);
		}
	}
}

/* Each number has its place, in either byte order. */
TEST(places)
{
	static const uint8_t little[HEADER_SIZE] = { 'F',  't',	 'r',  'a',  'c',  'e',	 '!',
						     0,	   4,	 0,    0,    0,	   40,	 0,
						     1,	   2,	 8,    7,    6,	   5,	 4,
						     3,	   2,	 1,    0x18, 0x17, 0x16, 0x15,
						     0x14, 0x13, 0x12, 0x11, 0,	   4 };
	static const uint8_t big[HEADER_SIZE] = { 'F',	't',  'r',  'a',  'c',	'e',  '!',
						  0,	0,    0,    0,	  4,	0,    40,
						  2,	2,    1,    2,	  3,	4,    5,
						  6,	7,    8,    0x11, 0x12, 0x13, 0x14,
						  0x15, 0x16, 0x17, 0x18, 4,	0 };
	struct data_header header = sample;
	uint8_t bytes[HEADER_SIZE];

	header.feat_mask = 0x0102030405060708;
	header.info_mask = 0x1112131415161718;
	header_encode(&header, bytes);
	assert_memory_equal(bytes, little, HEADER_SIZE);
	header.endian = HEADER_BIG_ENDIAN;
	header_encode(&header, bytes);
	assert_memory_equal(bytes, big, HEADER_SIZE);
}
