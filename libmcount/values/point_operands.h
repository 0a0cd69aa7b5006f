/*
 * A list of the registers and memory that hold the arguments of an event. Stubs point to such
 * lists.
 */
#ifndef UTRAIL_LIBMCOUNT_POINT_OPERANDS_H
#define UTRAIL_LIBMCOUNT_POINT_OPERANDS_H

#include "utils/format/probe/plan.h"

struct point_operands {
	uint64_t nr; /* from 1 to PLAN_OPERANDS_MAX */
	struct plan_operand list[];
};

static inline uint64_t point_operands_bytes(uint64_t nr)
{
	return nr ? sizeof(struct point_operands) + nr * sizeof(struct plan_operand) : 0;
}

#endif
