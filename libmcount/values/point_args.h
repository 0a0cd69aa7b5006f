/* Reads the arguments of the program's events (static probes) from registers and memory. */
#ifndef UTRAIL_LIBMCOUNT_POINT_ARGS_H
#define UTRAIL_LIBMCOUNT_POINT_ARGS_H

#include "arch/arch.h"
#include "libmcount/values/point_operands.h"

/*
 * HOT. Writes the payload of an event (utils/format/event_data.h), with the values at @point.
 * Returns the number of its bytes. The guard must be set, and the vector registers must still have
 * the values of the program.
 */
uint64_t point_args_read(const struct point_operands *operands, const struct arch_point *point,
			 uint64_t payload[1 + PLAN_OPERANDS_MAX]);

#endif
