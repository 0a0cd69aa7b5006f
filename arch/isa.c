/*
 * The tables of instruction sets (see isa.h). Their content comes from the psABI documents and from
 * the output of linkers.
 */
#include "arch/isa.h"

#include <elf.h>
#include <string.h>
#include <strings.h>

#include "arch/hook_code.h"
#include "arch/insn.h"
#include "arch/operand.h"
#include "utils/base/compiler.h"

#ifndef R_RISCV_JUMP_SLOT
#define R_RISCV_JUMP_SLOT 5
#endif

/*
 * The numbers at which the groups of register names begin. aarch64 has no group of its own for
 * floats: it uses the names d0 to d7 of arm.
 */
enum {
	X86_64_INT = 0,
	X86_64_SSE = 6,
	I386_FAST = 14, /* only for functions with attributes (fastcall, regparm) */
	ARM_INT = 16,
	ARM_SINGLE = 20,
	ARM_DOUBLE = 36,
	AARCH64_INT = 44,
	RISCV_INT = 52,
	RISCV_FLOAT = 60,
	NR_REGS = 68,
};

#define LIST(...) __VA_ARGS__
#define EIGHT(group) \
	LIST(group "0", group "1", group "2", group "3", group "4", group "5", group "6", group "7")

static const char *const names[] = {
	[X86_64_INT] = LIST("rdi", "rsi", "rdx", "rcx", "r8", "r9"),
	[X86_64_SSE] = EIGHT("xmm"),
	[I386_FAST] = LIST("ecx", "edx"),
	[ARM_INT] = LIST("r0", "r1", "r2", "r3"),
	[ARM_SINGLE] = EIGHT("s"),
	LIST("s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15"),
	[ARM_DOUBLE] = EIGHT("d"),
	[AARCH64_INT] = EIGHT("x"),
	[RISCV_INT] = EIGHT("a"),
	[RISCV_FLOAT] = EIGHT("fa"),
};
_Static_assert(ARRAY_SIZE(names) == NR_REGS,
	       "each group is as long as the next one's beginning says");

/* System V psABI for AMD64: 3.2.3, figure 3.36. */
static const struct isa isa_x86_64 = {
	.name = "x86_64",
	.machine = EM_X86_64,
	.word_bytes = 8,
	.ints = { X86_64_INT, 6 },
	.floats = { X86_64_SSE, 8 },
	.dwarf_ints = { 5, 4, 1, 2, 8, 9 },
	.dwarf_floats = 17,
	.long_double_words = 2,
	.knows_floats = true,
	.knows_structs = true,
	.plt = { 16, 32, 16, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT },
	.insns = &x86_64_insns,
	.hook_code = &x86_64_hook_code,
	.parse_operand = x86_64_parse_operand,
};

/* System V psABI for Intel386. By default all arguments are passed on the stack. */
static const struct isa isa_i386 = {
	.name = "i386",
	.machine = EM_386,
	.word_bytes = 4,
	.long_double_words = 3,
	.knows_floats = true,
	.plt = { 16, 0, 16, R_386_JMP_SLOT, 0 },
};

/*
 * Procedure Call Standard for the Arm Architecture (AAPCS32). An argument of type float may be in a
 * register that was skipped for the alignment of an earlier double. Such registers are not
 * supported, so @knows_floats is false.
 */
static const struct isa isa_arm = {
	.name = "arm",
	.machine = EM_ARM,
	.word_bytes = 4,
	.ints = { ARM_INT, 4 },
	.dwarf_ints = { 0, 1, 2, 3 },
	.plt = { 20, 0, 12, R_ARM_JUMP_SLOT, 0 },
};

/* Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64). */
static const struct isa isa_aarch64 = {
	.name = "aarch64",
	.machine = EM_AARCH64,
	.word_bytes = 8,
	.ints = { AARCH64_INT, 8 },
	.floats = { ARM_DOUBLE, 8 },
	.dwarf_ints = { 0, 1, 2, 3, 4, 5, 6, 7 },
	.dwarf_floats = 64,
	.knows_floats = true,
	.plt = { 32, 0, 16, R_AARCH64_JUMP_SLOT, 0 },
};

/* RISC-V ELF psABI: lp64d. */
static const struct isa isa_riscv64 = {
	.name = "riscv64",
	.machine = EM_RISCV,
	.word_bytes = 8,
	.ints = { RISCV_INT, 8 },
	.floats = { RISCV_FLOAT, 8 },
	.dwarf_ints = { 10, 11, 12, 13, 14, 15, 16, 17 },
	.dwarf_floats = 42,
	.knows_floats = true,
	.floats_then_ints = true,
	.plt = { 32, 0, 16, R_RISCV_JUMP_SLOT, 0 },
};

const struct isa *const all_isas[] = { &isa_x86_64,  &isa_i386,	   &isa_arm,
				       &isa_aarch64, &isa_riscv64, NULL };

const struct isa *isa_of(unsigned machine, unsigned word_bytes)
{
	for (const struct isa *const *isa = all_isas; *isa; isa++) {
		if ((*isa)->machine == machine && (!word_bytes || (*isa)->word_bytes == word_bytes))
			return *isa;
	}
	return NULL;
}

bool operand_parse(const struct isa *isa, const char *text, size_t len, struct operand *out)
{
	const struct operand none = { .base = OPERAND_NO_REGISTER, .index = OPERAND_NO_REGISTER };

	*out = none;
	if (isa && isa->parse_operand && isa->parse_operand(text, len, out))
		return true;
	*out = none;
	return false;
}

int isa_arg_reg_of_dwarf(const struct isa *isa, int dwarf)
{
	for (unsigned i = 0; i < isa->ints.nr; i++) {
		if (isa->dwarf_ints[i] == dwarf)
			return isa->ints.first + i;
	}
	if (isa->dwarf_floats && dwarf >= isa->dwarf_floats &&
	    dwarf < isa->dwarf_floats + isa->floats.nr)
		return isa->floats.first + dwarf - isa->dwarf_floats;
	return -1;
}

int isa_reg_find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i]) == len && strncasecmp(names[i], name, len) == 0)
			return i;
	}
	return -1;
}

const char *isa_reg_name(unsigned reg)
{
	return reg < ARRAY_SIZE(names) ? names[reg] : "?";
}
