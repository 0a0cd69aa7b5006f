/*
 * Operands in assembler syntax ("%rdi", "$3", "-20(%rbp)", "table(,%rax,8)"). Static probes
 * describe the places of their arguments by such operands.
 */
#ifndef UTRAIL_ARCH_OPERAND_H
#define UTRAIL_ARCH_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct isa;

enum operand_kind {
	OPERAND_UNKNOWN,
	OPERAND_CONSTANT, /* @value, plus the address of the symbol, if any */
	/* the low @bytes of general register @base, shifted right by @shift bits */
	OPERAND_REGISTER,
	OPERAND_VECTOR, /* the lowest bytes of vector register @base */
	OPERAND_MEMORY, /* memory at @value + the symbol's address + @base + (@index << @shift) */
};

#define OPERAND_NO_REGISTER 0xff

/*
 * @base, @index: the numbers of registers, or OPERAND_NO_REGISTER. The numbers of general registers
 *                are DWARF's. The first vector register has the number 0
 * @bytes: the size of the register that the text names
 * @symbol, @symbol_len: the symbol, as a part of the parsed text; NULL: there is none
 */
struct operand {
	uint8_t kind; /* enum operand_kind */
	uint8_t bytes;
	uint8_t base;
	uint8_t index;
	uint8_t shift;
	uint64_t value;
	const char *symbol;
	size_t symbol_len;
};

/*
 * Parses the untrusted @text[@len] as an operand of the instruction set @isa. Returns false, with
 * an empty operand in @out, in two cases:
 *
 * - The text is not an operand, or is ambiguous.
 * - @isa is NULL, or has no function parse_operand.
 */
bool operand_parse(const struct isa *isa, const char *text, size_t len, struct operand *out);

/* The function isa.parse_operand of x86_64. */
bool x86_64_parse_operand(const char *text, size_t len, struct operand *out);

#endif
