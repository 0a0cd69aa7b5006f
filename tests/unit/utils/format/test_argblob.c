/*
 * Payloads of arguments: the bytes that each format takes, in both byte orders. No byte beyond the
 * end is read.
 */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/format/argblob.h"

static const struct {
	struct arg_type type;
	uint32_t bytes; /* with padding, without the bytes of a string */
} sizes[] = {
	{ { ARG_AUTO, 8 }, 8 },	  { { ARG_SIGNED, 1 }, 4 },	{ { ARG_UNSIGNED, 2 }, 4 },
	{ { ARG_HEX, 4 }, 4 },	  { { ARG_CHAR, 1 }, 4 },	{ { ARG_FLOAT, 4 }, 4 },
	{ { ARG_FLOAT, 8 }, 8 },  { { ARG_FLOAT, 10 }, 12 },	{ { ARG_POINTER, 8 }, 8 },
	{ { ARG_STRUCT, 0 }, 0 }, { { ARG_STRUCT, 13 }, 16 },	{ { ARG_STRING, 8 }, 4 },
	{ { ARG_ENUM, 8 }, 8 },	  { { ARG_STD_STRING, 8 }, 4 },
};

TEST(fixed_sizes)
{
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		assert_int_equal(argblob_value_bytes(sizes[i].type), sizes[i].bytes);
}

/* The values 7, "text", 'c', and a struct of six bytes. */
static const uint8_t little[] = {
	7, 0, 0,   0, 0, 0, 0, 0, 4, 0, 't', 'e', 'x', 't',
	0, 0, 'c', 0, 0, 0, 1, 2, 3, 4, 5,   6,	  0,   0,
};
static const struct arg_type types[] = {
	{ ARG_AUTO, 8 },
	{ ARG_STRING, 8 },
	{ ARG_CHAR, 1 },
	{ ARG_STRUCT, 6 },
};

TEST(in_a_row)
{
	static const size_t lens[] = { 8, 4, 1, 6 };
	static const size_t starts[] = { 0, 10, 16, 20 };
	ssize_t at = 0;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct arg_value value;

		at = argblob_next(little, sizeof(little), at, types[i], false, &value);
		assert_true(at > 0);
		assert_int_equal(value.len, lens[i]);
		assert_ptr_equal(value.data, little + starts[i]);
	}
	assert_int_equal(at, sizeof(little));
}

TEST(big_endian)
{
	static const uint8_t big[] = { 0, 2, 'h', 'i' };
	struct arg_value value;

	assert_int_equal(argblob_next(big, sizeof(big), 0, types[1], true, &value), 4);
	assert_int_equal(value.len, 2);
	assert_int_equal(argblob_next(big, sizeof(big), 0, types[1], false, &value), -1);
}

TEST(truncated)
{
	for (size_t len = 0; len < sizeof(little); len++) {
		uint8_t *blob = exact_copy(little, len);
		ssize_t at = 0;

		for (size_t i = 0; i < ARRAY_SIZE(types) && at >= 0; i++) {
			struct arg_value value;

			at = argblob_next(blob, len, at, types[i], false, &value);
			if (at >= 0)
				assert_true(value.data + value.len <= blob + len);
			assert_true(at <= (ssize_t)len);
		}
		/* Only the padding of the last value may be missing. */
		assert_int_equal(at >= 0, len >= sizeof(little) - 2);
		free(blob);
	}
}

TEST(behind_the_end)
{
	struct arg_value value;

	/* Empty arguments take no bytes, even at the end. */
	assert_int_equal(
		argblob_next(little, 4, 4, (struct arg_type){ ARG_STRUCT, 0 }, false, &value), 4);
	assert_int_equal(
		argblob_next(little, 4, 5, (struct arg_type){ ARG_STRUCT, 0 }, false, &value), -1);
	assert_int_equal(argblob_next(little, 4, 5, types[0], false, &value), -1);
	/* First the length of a text is cut, then its bytes. */
	for (size_t len = 8; len < 14; len++)
		assert_int_equal(argblob_next(little, len, 8, types[1], false, &value), -1);
	assert_int_equal(argblob_next(little, 14, 8, types[1], false, &value), 14);
}

TEST(null_strings)
{
	static const uint8_t null[] = { 4, 0, 0xff, 0xff, 0xff, 0xff };
	static const uint8_t text[] = { 4, 0, 'N', 'U', 'L', 'L' };
	struct arg_value value;

	assert_int_equal(argblob_next(null, sizeof(null), 0, types[1], false, &value), 6);
	assert_true(arg_value_is_null(&value));
	assert_int_equal(argblob_next(text, sizeof(text), 0, types[1], false, &value), 6);
	assert_false(arg_value_is_null(&value));
}
