/* Arguments of static probes: their types, and their places while the program is at the probe. */
#ifndef UTRAIL_OBJECT_SDT_ARGS_H
#define UTRAIL_OBJECT_SDT_ARGS_H

#include "arch/operand.h"
#include "utils/base/containers/strbuf.h"
#include "utils/object/elf_file.h"

/* The most arguments that are read. Probes of <sys/sdt.h> have at most 12. */
#define SDT_ARGS_MAX 16

/*
 * One argument: "-4@%eax", "8f@-16(%rbp)".
 *
 * @bytes: 1, 2, 4 or 8; 0: the size is another one or unknown
 * @is_float: a floating point number of 4 or 8 bytes
 * @operand: the place; OPERAND_UNKNOWN when it is uncertain, or @bytes is 0
 * @is_address: the value is an own address of the file: that of @operand.symbol plus a number
 */
struct sdt_arg {
	uint8_t bytes;
	bool is_signed;
	bool is_float;
	bool is_address;
	struct operand operand;
};

/*
 * Parse the arguments in the untrusted @text, for a program of @isa. @text must outlive @args. An
 * argument begins with a size and '@', and ends before the next one: so an argument of an unknown
 * form does not change the numbers of others. Returns the number of arguments in @text, of which
 * the first SDT_ARGS_MAX are stored.
 */
size_t sdt_args_parse(const struct isa *isa, const char *text, struct sdt_arg args[SDT_ARGS_MAX]);

/*
 * Resolve the symbols of the first @nr arguments. If the file lacks a symbol or has several of its
 * name, the argument becomes OPERAND_UNKNOWN. If the file lacks symbols of static variables, all
 * arguments with a symbol become it: a static variable may have the same name.
 */
void sdt_args_find_symbols(const struct elf_file *file, struct sdt_arg *args, size_t nr);

/* Write the type of an argument: "-4", "8", "8f" or "?". */
void sdt_arg_put_type(const struct sdt_arg *arg, struct strbuf *out);

#endif
