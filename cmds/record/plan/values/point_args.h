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
 * Append the operands of a probe of @file to @found, a list of struct found_operand. @args: the
 * probe's arguments, at least one. Their types are appended to @types, with blanks between them.
 * Returns the number of arguments; those after the first PLAN_OPERANDS_MAX are left out.
 */
size_t point_args_find(const struct elf_file *file, const char *args, struct strbuf *found,
		       struct strbuf *types);

/*
 * Append operands for a process in which the file's addresses are @bias higher: the list that
 * begins at place @first of @found (counted from 1) goes to the PLAN_OPERANDS in @out. Returns its
 * place there, counted from 1.
 */
uint32_t point_args_bind(const struct strbuf *found, uint32_t first, uint64_t bias,
			 struct strbuf *out);

#endif
