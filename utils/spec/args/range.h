/* The --time-range language: the part of a recording that is shown. */
#ifndef UTRAIL_SPEC_RANGE_H
#define UTRAIL_SPEC_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"

/*
 * One side of a range.
 *
 * @time_ns: an inclusive limit, as a time of the recording's clock; with @is_elapsed, the time
 *         since the first record
 * @is_set: false: this side has no limit
 * @is_from_end: @time_ns counts back from the last record
 */
struct range_edge {
	uint64_t time_ns;
	bool is_set;
	bool is_elapsed;
	bool is_from_end;
};

struct time_range {
	struct range_edge start;
	struct range_edge stop;
};

/*
 * Parse "A~B", where each side may be empty (doc/facts/language.md, "Times and sizes"). Returns 0,
 * or -EINVAL with the error message in @err. After an error, @range is unchanged.
 *
 * A value with a unit ("1.5ms") is the time since the first record. A value without a unit
 * ("146.307278384") is a timestamp in seconds.
 */
int time_range_parse(const char *text, struct time_range *range, struct uft_err *err);

/*
 * Parse the argument of --last. The range of "10ms" starts 10 ms before the last record. The range
 * has no end. Errors are those of parse_time().
 */
int time_range_parse_last(const char *text, struct time_range *range, struct uft_err *err);

static inline bool time_range_is_set(const struct time_range *range)
{
	return range->start.is_set || range->stop.is_set;
}

#endif
