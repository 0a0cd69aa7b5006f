/* x86_64: writes code into programs (see arch/arch.h). */
#include <string.h>

#include "arch/arch.h"

extern const char arch_point[];
extern const char arch_point_args[];
extern const char arch_entry[];
extern const char arch_fentry[];
extern const char arch_xray_entry[];
extern const char arch_xray_exit[];
extern const char arch_xray_tail[];

const char *const arch_hooks[ARCH_HOOKS] = {
	[ARCH_HOOK_POINT] = arch_point,		  [ARCH_HOOK_POINT_ARGS] = arch_point_args,
	[ARCH_HOOK_ENTRY] = arch_entry,		  [ARCH_HOOK_CALL] = arch_fentry,
	[ARCH_HOOK_XRAY_ENTRY] = arch_xray_entry, [ARCH_HOOK_XRAY_EXIT] = arch_xray_exit,
	[ARCH_HOOK_XRAY_TAIL] = arch_xray_tail,
};

void arch_write_gate(uint8_t gate[ARCH_GATE_BYTES], const uint64_t *cell)
{
	/* notrack jmp *cell(%rip); int3 */
	uint8_t code[ARCH_GATE_BYTES] = { 0x3e, 0xff, 0x25, 0, 0, 0, 0, 0xcc };
	int32_t distance = (const uint8_t *)cell - (gate + 7);

	memcpy(code + 3, &distance, sizeof(distance));
	memcpy(gate, code, sizeof(code));
}

/*
 * Writes code that only returns. This code runs instead of a hook. Most hooks return to their
 * caller. A traced function reaches XRay's exit hook by a jump, so this hook returns to the caller
 * of the traced function.
 */
void arch_write_pass(uint8_t pass[ARCH_PASS_BYTES])
{
	/* endbr64; ret; int3 */
	static const uint8_t code[ARCH_PASS_BYTES] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0xc3, 0xcc, 0xcc, 0xcc,
	};

	memcpy(pass, code, sizeof(code));
}

static void write_distance(uint8_t *code, uint8_t opcode, uint64_t from, uint64_t to)
{
	int32_t distance = to - (from + ARCH_JUMP_BYTES);

	code[0] = opcode;
	memcpy(code + 1, &distance, sizeof(distance));
}

void arch_write_jump(uint8_t jump[ARCH_JUMP_BYTES], uint64_t from, uint64_t to)
{
	write_distance(jump, 0xe9, from, to);
}

void arch_write_call(uint8_t call[ARCH_JUMP_BYTES], uint64_t from, uint64_t to)
{
	write_distance(call, 0xe8, from, to);
}

void arch_write_nops(uint8_t *nops, uint32_t bytes)
{
	/* The nops of 1 to 8 bytes that Intel's manual recommends (volume 2, NOP). */
	static const uint8_t forms[][8] = {
		{ 0x90 },
		{ 0x66, 0x90 },
		{ 0x0f, 0x1f, 0x00 },
		{ 0x0f, 0x1f, 0x40, 0x00 },
		{ 0x0f, 0x1f, 0x44, 0x00, 0x00 },
		{ 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 },
		{ 0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00 },
		{ 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 },
	};
	uint32_t len;

	for (; bytes; bytes -= len, nops += len) {
		len = bytes < sizeof(forms[0]) ? bytes : sizeof(forms[0]);
		memcpy(nops, forms[len - 1], len);
	}
}

bool arch_write_short_jump(uint8_t jump[ARCH_SHORT_JUMP_BYTES], uint64_t from, uint64_t to)
{
	int64_t distance = to - (from + ARCH_SHORT_JUMP_BYTES);

	jump[0] = 0xeb;
	jump[1] = distance;
	return (int8_t)jump[1] == distance;
}

/*
 * Writes code that moves the stack pointer past the red zone and pushes the site and the event.
 * Returns the end of that code.
 */
static uint8_t *write_point_data(uint8_t *code, uint32_t event, uint64_t site)
{
	static const uint8_t data[] = {
		0x48, 0x8d, 0x64, 0x24, 0x80,	       /* lea -128(%rsp), %rsp */
		0x68, 0,    0,	  0,	0,	       /* push the low half of $site */
		0xc7, 0x44, 0x24, 0x04, 0,    0, 0, 0, /* movl $site >> 32, 4(%rsp) */
		0x68, 0,    0,	  0,	0,	       /* push $event */
	};
	uint32_t halves[] = { site, site >> 32 };

	memcpy(code, data, sizeof(data));
	memcpy(code + 6, &halves[0], sizeof(halves[0]));
	memcpy(code + 14, &halves[1], sizeof(halves[1]));
	memcpy(code + 19, &event, sizeof(event));
	return code + sizeof(data);
}

/* Writes a call through @cell, followed by code that removes @drop bytes from the stack. */
static void write_hook_call(uint8_t *code, const uint64_t *cell, uint32_t drop)
{
	static const uint8_t call[] = {
		0xff, 0x15, 0,	  0,	0, 0,	    /* call *cell(%rip) */
		0x48, 0x8d, 0xa4, 0x24, 0, 0, 0, 0, /* lea drop(%rsp), %rsp */
	};
	int32_t distance = (const uint8_t *)cell - (code + 6);

	memcpy(code, call, sizeof(call));
	memcpy(code + 2, &distance, sizeof(distance));
	memcpy(code + 10, &drop, sizeof(drop));
}

/* The stub pushes the data that arch_point reads. */
void arch_write_point_stub(uint8_t *code, uint32_t event, uint64_t site, const uint64_t *cell)
{
	write_hook_call(write_point_data(code, event, site), cell, 144);
}

/* The stub pushes the data that arch_point_args reads: the last members of a struct arch_point. */
void arch_write_point_args_stub(uint8_t *code, uint32_t event, uint64_t site, const uint64_t *cell,
				const void *operands)
{
	uint8_t *push = write_point_data(code, event, site);
	/* The distance of the operands from the address that the call returns to. */
	int32_t to_operands = (const uint8_t *)operands - (push + 5 + 6);

	push[0] = 0x68;
	memcpy(push + 1, &to_operands, sizeof(to_operands));
	write_hook_call(push + 5, cell, 152);
}

/*
 * The stub begins with data, and then calls arch_entry. From the return address of this call,
 * arch_entry computes the address of the data.
 */
void arch_write_entry_stub(uint8_t *code, uint64_t addr, uint64_t site, uint32_t slot,
			   const uint64_t *cell)
{
	static const uint8_t lea[] = { 0x48, 0x8d, 0x64, 0x24, 0x80 }; /* lea -128(%rsp), %rsp */

	memset(code, 0, ARCH_ENTRY_STUB_START);
	memcpy(code, &addr, sizeof(addr));
	memcpy(code + 8, &site, sizeof(site));
	memcpy(code + 16, &slot, sizeof(slot));
	memcpy(code + ARCH_ENTRY_STUB_START, lea, sizeof(lea));
	write_hook_call(code + ARCH_ENTRY_STUB_START + sizeof(lea), cell, 128);
}

bool arch_move_distance(uint8_t *at, int64_t moved)
{
	int32_t word;
	int64_t distance;

	memcpy(&word, at, sizeof(word));
	distance = word + moved;
	word = distance;
	memcpy(at, &word, sizeof(word));
	return word == distance;
}
