/* Compressed blocks: they unpack to the stated size, or give an error. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <stdbool.h>

#include "utils/base/compiler.h"
#include "utils/tracecmd/unpack.h"

/* "hello" in both formats, stored without compression. */
static const uint8_t zstd[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x05, 0x29,
				0x00, 0x00, 'h',  'e',	'l',  'l',  'o' };
static const uint8_t zlib[] = { 0x78, 0x01, 0x01, 0x05, 0x00, 0xfa, 0xff, 'h',
				'e',  'l',  'l',  'o',	0x06, 0x2c, 0x02, 0x15 };

static const struct packed {
	unpack_fn *unpack;
	const uint8_t *bytes;
	size_t len;
} all[] = {
	{ unpack_zstd, zstd, sizeof(zstd) },
	{ unpack_zlib, zlib, sizeof(zlib) },
};

static bool is_there(const struct packed *packed)
{
	char out[5];

	return packed->unpack(packed->bytes, packed->len, out, sizeof(out)) != -ENOSYS;
}

TEST(whole)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		char out[6] = "";

		if (!is_there(&all[i]))
			continue;
		assert_int_equal(all[i].unpack(all[i].bytes, all[i].len, out, 5), 0);
		assert_string_equal(out, "hello");
	}
}

TEST(another_size)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		char out[8] = { [4] = '!', [7] = '?' };

		if (!is_there(&all[i]))
			continue;
		assert_int_equal(all[i].unpack(all[i].bytes, all[i].len, out, 4), -EBADMSG);
		assert_int_equal(out[4], '!');
		assert_int_equal(all[i].unpack(all[i].bytes, all[i].len, out, 7), -EBADMSG);
		assert_int_equal(out[7], '?');
		assert_int_equal(all[i].unpack(all[i].bytes, all[i].len, out, 0), -EBADMSG);
	}
}

TEST(cut_and_damaged)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		char out[5];

		for (size_t len = 0; is_there(&all[i]) && len < all[i].len; len++) {
			uint8_t *copy = exact_copy(all[i].bytes, len);

			assert_int_equal(all[i].unpack(copy, len, out, sizeof(out)), -EBADMSG);
			free(copy);
		}
		if (is_there(&all[i]))
			assert_int_equal(all[i].unpack("rubbish", 7, out, sizeof(out)), -EBADMSG);
	}
}
