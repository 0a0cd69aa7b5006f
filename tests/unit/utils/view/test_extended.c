/* Extended numbers as text, as printf(3) writes them on machines that have the type. */
#include "tests/unit/lib/unit.h"

#include <float.h>

#include "utils/view/extended.h"

static void assert_text(uint64_t fraction, uint16_t head, const char *expected)
{
	struct strbuf text cleanup_strbuf = { 0 };

	put_extended(fraction, head, &text);
	assert_string_equal(strbuf_str(&text), expected);
}

TEST(known)
{
	assert_text(0, 0, "0.000000");
	assert_text(0, 0x8000, "-0.000000");
	assert_text(1ULL << 63, 0x3fff, "1.000000");
	assert_text(0xc000000000000000, 0xc000, "-3.000000");
	assert_text(0xc90fdaa22168c235, 0x4000, "3.141593");
	assert_text(UINT64_MAX, 0x3ffe, "1.000000");
	assert_text(UINT64_MAX, 0x403e, "18446744073709551615.000000");
	assert_text(1ULL << 63, 0x403f, "18446744073709551616.000000");
	/* These numbers are exactly between two texts: 2^-7 is 0.0078125, 3 * 2^-7 is 0.0234375. */
	assert_text(1ULL << 63, 0x3fff - 7, "0.007812");
	assert_text(0xc000000000000000, 0x4000 - 7, "0.023438");
	assert_text((1ULL << 63) + 1, 0x3fff - 7, "0.007813");
	assert_text(1, 0, "0.000000");
	assert_text(1ULL << 63, 0x7fff, "inf");
	assert_text(1ULL << 63, 0xffff, "-inf");
	assert_text(0xc000000000000000, 0x7fff, "nan");
}

/* Numbers of all sizes, from a generator with a fixed seed. */
TEST(as_printf)
{
	uint64_t seed = 88172645463325252ULL;

	if (LDBL_MANT_DIG != 64)
		skip_because("long double is not the x87's here: nothing to compare with");
	for (unsigned i = 0; i < 20000; i++) {
		struct strbuf expected cleanup_strbuf = { 0 };
		long double value = 0;
		uint64_t fraction;
		uint16_t head;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		fraction = seed | 1ULL << 63;
		head = (i % 100 == 0 ? seed % 0x7ffe + 1 : 0x3fff - 70 + seed % 150) |
		       (seed >> 20 & 0x8000);
		memcpy(&value, &fraction, sizeof(fraction));
		memcpy((char *)&value + sizeof(fraction), &head, sizeof(head));
		strbuf_addf(&expected, "%#Lf", value);
		assert_text(fraction, head, strbuf_str(&expected));
	}
}
