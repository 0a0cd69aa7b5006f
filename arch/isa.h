/*
 * Instruction sets as tables, for readers and recorders. The tables are the same on every host. The
 * ELF header of a program determines the table for the program.
 */
#ifndef UTRAIL_ARCH_ISA_H
#define UTRAIL_ARCH_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hook_code;
struct insn_set;
struct operand;

/*
 * Registers for one kind of arguments, in order.
 *
 * @first: the number of the first register, as an argument of isa_reg_name(). The following
 *         registers have the numbers after @first
 */
struct isa_arg_regs {
	uint8_t first;
	uint8_t nr;
};

/*
 * The procedure linkage table (PLT), as written by linkers.
 *
 * @skip: the size of the special first entry; 0: the PLT has no special entry
 * @skip_mold: the value of @skip for programs that mold(1) has linked; 0: the same as @skip
 * @jump_slot: the type of the relocations of functions that are called through the PLT
 * @glob_dat: the type of the relocations of functions that are called through the GOT alone; 0:
 *            such calls are not supported
 */
struct isa_plt {
	uint8_t skip;
	uint8_t skip_mold;
	uint8_t entry;
	uint32_t jump_slot;
	uint32_t glob_dat;
};

/*
 * An instruction set.
 *
 * @machine: e_machine of programs with this instruction set
 * @word_bytes: the size of a general register, and of a word on the stack
 * @ints, @floats: registers of arguments
 * @dwarf_ints: the DWARF numbers of the registers @ints
 * @dwarf_floats: the DWARF number of the first register of @floats
 * @long_double_words: the number of words of a long double on the stack; 0: long doubles are passed
 *                     in another, unsupported way
 * @knows_floats: floating point arguments of up to eight bytes are in @floats, then on the stack
 * @floats_then_ints: when @floats are used up, floating point arguments are in the rest of @ints,
 *                    then on the stack. Used only if @knows_floats is true
 * @knows_structs: structs are passed by classes of their words (psABI x86_64, 3.2.3); false: the
 *                 places of structs are unknown
 * @insns: functions for machine code (arch/insn.h); NULL: not supported
 * @hook_code: functions for compilers' hooks (arch/hook_code.h); NULL: not supported
 * @parse_operand: does the work of operand_parse() (arch/operand.h). NULL: not supported. The
 *                 caller has set @out to an empty operand
 */
struct isa {
	const char *name;
	uint16_t machine;
	uint8_t word_bytes;
	struct isa_arg_regs ints;
	struct isa_arg_regs floats;
	uint8_t dwarf_ints[8];
	uint8_t dwarf_floats;
	uint8_t long_double_words;
	bool knows_floats;
	bool knows_structs;
	bool floats_then_ints;
	struct isa_plt plt;
	const struct insn_set *insns;
	const struct hook_code *hook_code;
	bool (*parse_operand)(const char *text, size_t len, struct operand *out);
};

/*
 * Returns the table for programs with e_machine @machine and words of @word_bytes (0: of any size).
 * Returns NULL when there is no such table.
 */
const struct isa *isa_of(unsigned machine, unsigned word_bytes);

/* The tables of all instruction sets. The last element is NULL. */
extern const struct isa *const all_isas[];

/*
 * Returns the number of the argument register with the DWARF number @dwarf, or -1 when there is
 * none.
 */
int isa_arg_reg_of_dwarf(const struct isa *isa, int dwarf);

/*
 * Argument registers of all instruction sets, by number. isa_reg_find() ignores case, and returns
 * -1 when no register has that name.
 */
int isa_reg_find(const char *name, size_t len);
const char *isa_reg_name(unsigned reg);

#endif
