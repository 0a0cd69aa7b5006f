/*
 * Arguments of events of the program (static probes): their places, and reading them as the program
 * would.
 */
#ifndef UTRAIL_LIBMCOUNT_POINT_ARGS_H
#define UTRAIL_LIBMCOUNT_POINT_ARGS_H

#include "arch/arch.h"
#include "libmcount/values/point_operands.h"

/*
 * HOT. Writes the payload of an event (utils/format/event_data.h), with values as they are at
 * @point. Returns its bytes. Vector registers still hold the program's values. The caller has the
 * guard.
 */
uint64_t point_args_read(const struct point_operands *operands, const struct arch_point *point,
			 uint64_t payload[1 + PLAN_OPERANDS_MAX]);

#endif
