/*
 * Arguments of static probes: their types in a note, and their places while the program is at the
 * probe.
 */
#ifndef UTRAIL_OBJECT_SDT_ARGS_H
#define UTRAIL_OBJECT_SDT_ARGS_H

#include "arch/operand.h"
#include "utils/base/containers/strbuf.h"
#include "utils/object/elf_file.h"

/* The most arguments that are read; <sys/sdt.h> has at most 12. */
#define SDT_ARGS_MAX 16

/*
 * One argument: "-4@%eax", "8f@-16(%rbp)".
 *
 * @bytes: 1, 2, 4 or 8; 0: it has another size, or the note names none
 * @is_float: a floating point number of 4 or 8 bytes
 * @operand: its place; OPERAND_UNKNOWN when that is uncertain, or @bytes is 0
 * @is_address: its value is an address in the file: that of the resolved @operand.symbol, plus a
 *              number
 */
struct sdt_arg {
	uint8_t bytes;
	bool is_signed;
	bool is_float;
	bool is_address;
	struct operand operand;
};

/*
 * Parse the arguments in the untrusted @text, for a program of @isa. An argument begins with a size
 * and '@', and extends to the next argument. So an argument in an unknown form does not change the
 * numbers of the others. Returns the number of all arguments. Those that do not fit into @args are
 * left out. @text must stay valid while @args are used.
 */
size_t sdt_args_parse(const struct isa *isa, const char *text, struct sdt_arg args[SDT_ARGS_MAX]);

/*
 * Resolve the symbols of the first @nr arguments. An argument whose symbol is missing or ambiguous
 * in the file becomes OPERAND_UNKNOWN. If the file lacks symbols of static variables, all arguments
 * with a symbol become OPERAND_UNKNOWN, since a static variable may have the same name.
 */
void sdt_args_find_symbols(const struct elf_file *file, struct sdt_arg *args, size_t nr);

/* Write the type: "-4", "8", "8f" or "?". */
void sdt_arg_put_type(const struct sdt_arg *arg, struct strbuf *out);

#endif
