/* Recognises the code that compilers generate for hooks on x86_64 (see arch/hook_code.h). */
#include "arch/hook_code.h"

#include <string.h>

#include "utils/base/compiler.h"

static bool begins_with(const uint8_t *at, uint64_t left, const char *bytes, unsigned len)
{
	return left >= len && memcmp(at, bytes, len) == 0;
}

/*
 * Returns the length of the nop at @at, or 0 if no nop with an operand is there. clang
 * (-fpatchable-function-entry) and gcc (-mnop-mcount) write such nops. The length includes up to
 * eight prefixes (66 and cs).
 */
static unsigned long_nop(const uint8_t *at, uint64_t left)
{
	unsigned prefixes = 0;

	while (prefixes < left && prefixes < 8 && (at[prefixes] == 0x66 || at[prefixes] == 0x2e))
		prefixes++;
	at += prefixes;
	left -= prefixes;
	if (left < 3 || at[0] != 0x0f || at[1] != 0x1f)
		return 0;

	unsigned mod = at[2] >> 6;
	unsigned len = 3;

	/*
	 * In the nops that compilers write, the reg field of the ModRM byte is 0, and the operand
	 * is in memory, at an address with a base register.
	 */
	if ((at[2] & 0x38) || mod == 3)
		return 0;

	bool has_sib = (at[2] & 7) == 4;

	len += has_sib;
	if (len > left || (mod == 0 && (at[2 + has_sib] & 7) == 5))
		return 0;
	len += mod == 1 ? 1 : mod == 2 ? 4 : 0;
	return len <= left ? prefixes + len : 0;
}

static unsigned nop(const uint8_t *at, uint64_t left)
{
	/* A nop of some versions of gcc, with the prefix for 32-bit addresses. */
	if (begins_with(at, left, "\x67\x0f\x1f\x04\x00", 5))
		return 5;
	if (begins_with(at, left, "\x90", 1))
		return 1;
	if (begins_with(at, left, "\x66\x90", 2))
		return 2;
	return long_nop(at, left);
}

static unsigned landing_pad(const uint8_t *at, uint64_t left)
{
	return begins_with(at, left, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0;
}

/* Decodes a call with a displacement, or a call through a slot of the GOT. */
static bool decode_call(const uint8_t *at, uint64_t left, uint64_t addr, struct hook_call *call)
{
	unsigned opcode = begins_with(at, left, "\xff\x15", 2) ? 2 : 1;
	int32_t distance;

	if (left < opcode + sizeof(distance) || (opcode == 1 && *at != 0xe8))
		return false;
	memcpy(&distance, at + opcode, sizeof(distance));
	call->bytes = opcode + sizeof(distance);
	call->target = addr + call->bytes + distance;
	call->is_slot = opcode == 2;
	return true;
}

/*
 * A jump over nine bytes: see "Here we do the dance of replacing the following sled" in
 * compiler-rt's lib/xray/xray_x86_64.cpp.
 */
static unsigned jump_sled(const uint8_t *at, uint64_t left)
{
	return left >= 11 && at[0] == 0xeb && at[1] == 9 ? 11 : 0;
}

/*
 * The sled is a return instruction and ten more bytes, which are never executed. Only the first
 * five bytes, the size of a jump, are replaced.
 */
static unsigned exit_sled(const uint8_t *at, uint64_t left)
{
	return left >= 11 && at[0] == 0xc3 ? 5 : 0;
}

const struct hook_code x86_64_hook_code = {
	.nop = nop,
	.landing_pad = landing_pad,
	.call = decode_call,
	.entry_sled = jump_sled,
	.exit_sled = exit_sled,
	.tail_sled = jump_sled,
};
