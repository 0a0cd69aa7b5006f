/* Arguments of static probes. An argument has a type, and a place from which its value is read. */
#ifndef UTRAIL_OBJECT_SDT_ARGS_H
#define UTRAIL_OBJECT_SDT_ARGS_H

#include "arch/operand.h"
#include "utils/base/containers/strbuf.h"
#include "utils/object/elf_file.h"

/* The maximum number of arguments that are read. Probes of <sys/sdt.h> have at most 12. */
#define SDT_ARGS_MAX 16

/*
 * One argument: "-4@%eax", "8f@-16(%rbp)".
 *
 * @bytes: 1, 2, 4 or 8; 0: another size, or unknown
 * @is_float: a floating point number of 4 or 8 bytes
 * @operand: the place of the argument; OPERAND_UNKNOWN when the place is uncertain, or @bytes is 0
 * @is_address: operand.value is an address in the file: the address of the symbol operand.symbol,
 *         plus a number
 */
struct sdt_arg {
	uint8_t bytes;
	bool is_signed;
	bool is_float;
	bool is_address;
	struct operand operand;
};

/*
 * Parse the arguments in the untrusted @text, for a program of @isa. @text must outlive @args.
 * Returns the number of arguments in @text; at most SDT_ARGS_MAX are stored.
 *
 * Each argument begins with a size and '@', and the function recognizes this beginning. So an
 * argument whose rest has an unknown form is counted too, and the following arguments keep their
 * numbers.
 */
size_t sdt_args_parse(const struct isa *isa, const char *text, struct sdt_arg args[SDT_ARGS_MAX]);

/*
 * Resolve the symbols of the first @nr arguments. An argument becomes OPERAND_UNKNOWN when its
 * symbol is missing, when symbols with this name have several addresses, or when a symbol with this
 * name is of a special kind, such as thread-local, absolute or IFUNC.
 *
 * Some files have no symbols of static variables. In such a file, all arguments with a symbol
 * become OPERAND_UNKNOWN, because an unlisted static variable may have the name of the symbol.
 */
void sdt_args_find_symbols(const struct elf_file *file, struct sdt_arg *args, size_t nr);

/* Write the type of an argument: "-4", "8", "8f" or "?". */
void sdt_arg_put_type(const struct sdt_arg *arg, struct strbuf *out);

#endif
