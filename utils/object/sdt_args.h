/*
 * Arguments of static probes: the words of a note about their types, and their places while the
 * program is at the probe.
 */
#ifndef UTRAIL_OBJECT_SDT_ARGS_H
#define UTRAIL_OBJECT_SDT_ARGS_H

#include "arch/operand.h"
#include "utils/base/containers/strbuf.h"
#include "utils/object/elf_file.h"

/* <sys/sdt.h> knows no probe with more than 12. */
#define SDT_ARGS_MAX 16

/*
 * One argument: "-4@%eax", "8f@-16(%rbp)".
 *
 * @bytes: 1, 2, 4 or 8; 0: it is of another size, or the note does not say
 * @is_float: of 4 or 8 bytes
 * @operand: its place; OPERAND_UNKNOWN when that is not certain, and always without @bytes
 * @is_address: its value is an address of the file: that of @operand.symbol, which is then no
 *              matter any more, and the number that was added to it
 */
struct sdt_arg {
	uint8_t bytes;
	bool is_signed;
	bool is_float;
	bool is_address;
	struct operand operand;
};

/*
 * The arguments in @text, which may be anything, for a program of @isa. An argument begins with a
 * size and '@', and goes as far as the next one, so that one in an unknown form does not change the
 * others' numbers. Returns how many there are; those that do not fit into @args are left out. @text
 * stays while @args are used.
 */
size_t sdt_args_parse(const struct isa *isa, const char *text, struct sdt_arg args[SDT_ARGS_MAX]);

/*
 * Find the symbols of the first @nr. A symbol that the file does not have, or may have twice,
 * becomes OPERAND_UNKNOWN. So do all when static variables have no symbols there, for one of them
 * may have the name of another one.
 */
void sdt_args_find_symbols(const struct elf_file *file, struct sdt_arg *args, size_t nr);

/* "-4", "8", "8f" or "?". */
void sdt_arg_put_type(const struct sdt_arg *arg, struct strbuf *out);

#endif
