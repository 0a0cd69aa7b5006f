/* Reads the arguments of the program's events (static probes) from registers and memory. */
#ifndef UTRAIL_LIBMCOUNT_POINT_ARGS_H
#define UTRAIL_LIBMCOUNT_POINT_ARGS_H

#include "arch/arch.h"
#include "libmcount/values/point_operands.h"

/*
 * HOT. Writes to @payload the payload of an event (utils/format/event_data.h): the values of
 * @operands at @point. Returns the number of bytes that were written. The thread's guard (guard.h)
 * must be set, and the vector registers must still have the values of the program.
 */
uint64_t point_args_read(const struct point_operands *operands, const struct arch_point *point,
			 uint64_t payload[1 + PLAN_OPERANDS_MAX]);

#endif
