/*
 * Arguments of events of the program (static probes): where each is, and how it is read while the
 * program is there.
 */
#ifndef UTRAIL_LIBMCOUNT_POINT_ARGS_H
#define UTRAIL_LIBMCOUNT_POINT_ARGS_H

#include "arch/arch.h"
#include "libmcount/values/point_operands.h"

/*
 * HOT. The payload of an event (utils/format/event_data.h), of values as they are at @point;
 * returns its bytes. Vector registers still hold the program's. The caller has the guard.
 */
uint64_t point_args_read(const struct point_operands *operands, const struct arch_point *point,
			 uint64_t payload[1 + PLAN_OPERANDS_MAX]);

#endif
