/*
 * The tables of instruction sets: the required members of each row, and the names and numbers of
 * registers.
 */
#include "tests/unit/lib/unit.h"

#include <elf.h>

#include "arch/isa.h"
#include "utils/base/compiler.h"

TEST(rows)
{
	static const unsigned machines[] = { EM_X86_64, EM_386, EM_ARM, EM_AARCH64, EM_RISCV };

	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		const struct isa *isa = isa_of(machines[i], 0);

		assert_non_null(isa);
		assert_int_equal(isa->machine, machines[i]);
		assert_ptr_equal(isa_of(machines[i], isa->word_bytes), isa);
		assert_null(isa_of(machines[i], 12 - isa->word_bytes));
		assert_true(isa->plt.entry && isa->plt.skip && isa->plt.jump_slot);
	}
	assert_null(all_isas[ARRAY_SIZE(machines)]);
	assert_null(isa_of(EM_SPARC, 0));
	assert_null(isa_of(EM_NONE, 0));
}

/* Check the first and the last name of a range of registers. */
static void assert_regs(struct isa_arg_regs regs, const char *first, const char *last)
{
	assert_string_equal(isa_reg_name(regs.first), first);
	assert_string_equal(isa_reg_name(regs.first + regs.nr - 1), last);
}

TEST(registers)
{
	assert_regs(isa_of(EM_X86_64, 0)->ints, "rdi", "r9");
	assert_regs(isa_of(EM_X86_64, 0)->floats, "xmm0", "xmm7");
	assert_regs(isa_of(EM_ARM, 0)->ints, "r0", "r3");
	assert_regs(isa_of(EM_AARCH64, 0)->ints, "x0", "x7");
	assert_regs(isa_of(EM_AARCH64, 0)->floats, "d0", "d7");
	assert_regs(isa_of(EM_RISCV, 0)->ints, "a0", "a7");
	assert_regs(isa_of(EM_RISCV, 0)->floats, "fa0", "fa7");
	for (unsigned reg = 0; *isa_reg_name(reg) != '?'; reg++)
		assert_int_equal(isa_reg_find(isa_reg_name(reg), strlen(isa_reg_name(reg))), reg);
	assert_int_equal(isa_reg_find("XMM3", 4), isa_of(EM_X86_64, 8)->floats.first + 3);
	assert_int_equal(isa_reg_find("xmm", 3), -1);
	assert_int_equal(isa_reg_find("", 0), -1);
}

static void assert_dwarf(unsigned machine, int number, const char *name)
{
	int reg = isa_arg_reg_of_dwarf(isa_of(machine, 0), number);

	assert_string_equal(reg < 0 ? "" : isa_reg_name(reg), name);
}

TEST(dwarf)
{
	assert_dwarf(EM_X86_64, 5, "rdi");
	assert_dwarf(EM_X86_64, 4, "rsi");
	assert_dwarf(EM_X86_64, 1, "rdx");
	assert_dwarf(EM_X86_64, 2, "rcx");
	assert_dwarf(EM_X86_64, 8, "r8");
	assert_dwarf(EM_X86_64, 9, "r9");
	assert_dwarf(EM_X86_64, 17, "xmm0");
	assert_dwarf(EM_X86_64, 24, "xmm7");
	assert_dwarf(EM_X86_64, 25, "");
	assert_dwarf(EM_X86_64, 0, "");
	assert_dwarf(EM_X86_64, -1, "");
	assert_dwarf(EM_AARCH64, 7, "x7");
	assert_dwarf(EM_AARCH64, 8, "");
	assert_dwarf(EM_AARCH64, 64, "d0");
	assert_dwarf(EM_RISCV, 10, "a0");
	assert_dwarf(EM_RISCV, 49, "fa7");
	assert_dwarf(EM_ARM, 3, "r3");
	assert_dwarf(EM_386, 0, "");
}
