/*
 * Instruction sets as tables, for readers and recorders: chosen by a program's machine, the same on
 * every host.
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
 * Registers that one kind of arguments is passed in, in that order. @first: the number of
 * isa_reg_name(), the others follow.
 */
struct isa_arg_regs {
	uint8_t first;
	uint8_t nr;
};

/*
 * The procedure linkage table, as linkers write it.
 *
 * @skip: the bytes of its first, special entry; @skip_mold: the same of mold(1); 0: as all others
 * @jump_slot, @glob_dat: relocations of slots that calls go through; the latter 0 where calls
 * without a PLT are not looked for
 */
struct isa_plt {
	uint8_t skip;
	uint8_t skip_mold;
	uint8_t entry;
	uint32_t jump_slot;
	uint32_t glob_dat;
};

/*
 * @machine: e_machine of its programs
 * @word_bytes: of a general register, and of what one argument takes on the stack
 * @ints, @floats: registers of arguments; DWARF's numbers of them are in @dwarf_ints, and from
 *                 @dwarf_floats on
 * @long_double_words: how many words one takes on the stack; 0: it is passed in another way, which
 *                 we do not know
 * @knows_floats: those of up to eight bytes are in @floats, then on the stack
 * @floats_then_ints: the rest of @ints comes between these two
 * @insns: how its machine code is read and moved (arch/insn.h); NULL: utrail does not know
 * @hook_code: what compilers leave for hooks (arch/hook_code.h); NULL: utrail does not know
 * @parse_operand: what operand_parse() asks, with @out empty (arch/operand.h); NULL: utrail does
 *                 not know
 * @knows_structs: structs are passed by classes of their words (psABI x86_64, 3.2.3); elsewhere we
 *                 do not know where they are
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
 * The row of programs with that e_machine and that size of words (0: of any); NULL: there is none,
 * so nothing is known.
 */
const struct isa *isa_of(unsigned machine, unsigned word_bytes);

/* All rows, the last one NULL. */
extern const struct isa *const all_isas[];

/*
 * The number of the register of arguments that DWARF calls @dwarf; -1 when arguments are never in
 * it.
 */
int isa_arg_reg_of_dwarf(const struct isa *isa, int dwarf);

/*
 * Registers that arguments are passed in, of all instruction sets, by number. isa_reg_find(): -1
 * when there is none of that name, in either case of letters.
 */
int isa_reg_find(const char *name, size_t len);
const char *isa_reg_name(unsigned reg);

#endif
