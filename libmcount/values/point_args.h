/* Reads the arguments of events of the program (static probes) from where the program has them. */
#ifndef UTRAIL_LIBMCOUNT_POINT_ARGS_H
#define UTRAIL_LIBMCOUNT_POINT_ARGS_H

#include "arch/arch.h"
#include "libmcount/values/point_operands.h"

/*
 * HOT. Writes the payload of an event (utils/format/event_data.h), with the values at @point.
 * Returns the number of its bytes. The guard must be set, and the vector registers must be those of
 * the program.
 */
uint64_t point_args_read(const struct point_operands *operands, const struct arch_point *point,
			 uint64_t payload[1 + PLAN_OPERANDS_MAX]);

#endif
