/*
 * Finds the arguments of static probes. The notes of an ELF file describe each argument as text.
 * Each text is converted to a struct plan_operand.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_POINT_ARGS_H
#define UTRAIL_CMDS_RECORD_PLAN_POINT_ARGS_H

#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/plan.h"
#include "utils/object/elf_file.h"

/*
 * An argument of a static probe.
 *
 * @is_address: operand.value is an address in the file, and must be relocated
 */
struct found_operand {
	struct plan_operand operand;
	bool is_address;
};

/*
 * Find the operands of a static probe in @file. @args is the text of the probe's arguments, and
 * must have at least one argument. Append the operands to @found, a list of struct found_operand.
 * Append the types of the operands to @types, separated by blanks. At most PLAN_OPERANDS_MAX
 * operands are appended. Returns the number of arguments in @args.
 */
size_t point_args_find(const struct elf_file *file, const char *args, struct strbuf *found,
		       struct strbuf *types);

/*
 * Append the operands of a static probe to @out, the list PLAN_OPERANDS. In @found, the operands of
 * the static probe start at index @first. @bias is added to each operand that is an address.
 * Returns the index of the first appended operand in @out. In both lists, the first operand has
 * index 1.
 */
uint32_t point_args_bind(const struct strbuf *found, uint32_t first, uint64_t bias,
			 struct strbuf *out);

#endif
