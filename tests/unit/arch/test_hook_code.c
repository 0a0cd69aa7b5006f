/* Bytes that compilers leave for hooks: nops, sleds and calls (arch/hook_code.h). */
#include "tests/unit/lib/unit.h"

#include "arch/hook_code.h"
#include "utils/base/compiler.h"

static const struct hook_code *set = &x86_64_hook_code;

TEST(nops)
{
	static const struct {
		const char *bytes;
		unsigned left;
		unsigned expect;
	} cases[] = {
		{ "\x90\x90", 2, 1 },
		{ "\x66\x90", 2, 2 },
		{ "\x0f\x1f\x00", 3, 3 },
		{ "\x0f\x1f\x40\x08", 4, 4 },
		{ "\x0f\x1f\x44\x00\x00", 5, 5 },
		{ "\x0f\x1f\x44\x00\x08", 5, 5 },
		{ "\x67\x0f\x1f\x04\x00", 5, 5 },
		{ "\x66\x0f\x1f\x44\x00\x02", 6, 6 },
		{ "\x0f\x1f\x80\x00\x02\x00\x00", 7, 7 },
		{ "\x0f\x1f\x84\x00\x00\x02\x00\x00", 8, 8 },
		{ "\x2e\x66\x0f\x1f\x84\x00\x00\x02\x00\x00", 10, 10 },
		{ "\x66\x66\x66\x2e\x0f\x1f\x84\x00\x00\x02\x00\x00", 12, 12 },
		/*
		 * Other bytes: cut nops, another operation, a register as operand, an operand
		 * without a base.
		 */
		{ "\x0f\x1f\x44\x00\x00", 4, 0 },
		{ "\x0f\x1f", 2, 0 },
		{ "\x66", 1, 0 },
		{ "\x90", 0, 0 },
		{ "\x0f\x1f\x48\x00", 4, 0 },
		{ "\x0f\x1f\xc0", 3, 0 },
		{ "\x0f\x1f\x05\x00\x00\x00\x00", 7, 0 },
		{ "\x0f\x1f\x04\x25\x00\x00\x00\x00", 8, 0 },
		{ "\x0f\x1f\x04\x25", 3, 0 },
		{ "\x55\x90", 2, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (set->nop((const uint8_t *)cases[i].bytes, cases[i].left) != cases[i].expect)
			fail_msg("case %zu", i);
	}
}

TEST(calls)
{
	const uint8_t direct[] = { 0xe8, 0xfb, 0xff, 0xff, 0xff };
	const uint8_t slot[] = { 0xff, 0x15, 0x10, 0, 0, 0 };
	struct hook_call call;

	assert_true(set->call(direct, sizeof(direct), 0x1000, &call));
	assert_int_equal(call.target, 0x1000);
	assert_int_equal(call.bytes, 5);
	assert_false(call.is_slot);
	assert_true(set->call(slot, sizeof(slot), 0x1000, &call));
	assert_int_equal(call.target, 0x1016);
	assert_int_equal(call.bytes, 6);
	assert_true(call.is_slot);
	assert_false(set->call(direct, 4, 0, &call));
	assert_false(set->call(slot, 5, 0, &call));
	assert_false(set->call(direct + 1, 4, 0, &call));
}

TEST(sleds)
{
	const uint8_t entry[11] = { 0xeb, 9, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0 };
	const uint8_t end[11] = { 0xc3, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0 };

	assert_int_equal(set->entry_sled(entry, 11), 11);
	assert_int_equal(set->entry_sled(entry, 10), 0);
	assert_int_equal(set->entry_sled(end, 11), 0);
	assert_int_equal(set->tail_sled(entry, 11), 11);
	assert_int_equal(set->exit_sled(end, 11), 5);
	assert_int_equal(set->exit_sled(entry, 11), 0);
	assert_int_equal(set->landing_pad((const uint8_t *)"\xf3\x0f\x1e\xfa", 4), 4);
	assert_int_equal(set->landing_pad((const uint8_t *)"\xf3\x0f\x1e\xfb", 4), 0);
}
