/* Finds arguments of static probes: makes operands of a plan from the words in a file's notes. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_POINT_ARGS_H
#define UTRAIL_CMDS_RECORD_PLAN_POINT_ARGS_H

#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/plan.h"
#include "utils/object/elf_file.h"

/* An argument, with the file's own addresses. @is_address: it must be relocated */
struct found_operand {
	struct plan_operand operand;
	bool is_address;
};

/*
 * Append the operands of a probe of @file to @found, a list of struct found_operand, and their
 * types to @types, with blanks between them. At most PLAN_OPERANDS_MAX are appended. Returns the
 * number of arguments in @args, which has at least one.
 */
size_t point_args_find(const struct elf_file *file, const char *args, struct strbuf *found,
		       struct strbuf *types);

/*
 * Append the list that begins at place @first of @found to the PLAN_OPERANDS in @out, with
 * addresses that are @bias higher. Returns its place in @out. Places count from 1.
 */
uint32_t point_args_bind(const struct strbuf *found, uint32_t first, uint64_t bias,
			 struct strbuf *out);

#endif
