/* Finds a time in the records of one task without reading everything before it. */
#ifndef UTRAIL_PIPELINE_SEEK_H
#define UTRAIL_PIPELINE_SEEK_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/pipeline/sources/src_user.h"

/*
 * A file has no index of times. The position of a time is found by bisection: records, and the
 * heads of compact blocks, contain times.
 *
 * To check the order of the times, a search reads the times at about 64 places in the file. The
 * whole file is read if
 * - no record is found at one of these places,
 * - the time at a place is earlier than the time at the place before, or
 * - times count from 1970 (record --clock=realtime), because users can set this clock back.
 */

/*
 * Move the position of @src to the start of a record. @src->end_offset must be set before the call.
 * The caller must not have read a record from @src before. All records before the new position are
 * earlier than @time_ns. A record after the new position may be earlier or later than @time_ns.
 *
 * Returns false, with @src unchanged, if the file must be read from its start. The reason may be
 * that the file is short or damaged, that its times are out of order or count from 1970, or that no
 * record is earlier than @time_ns.
 */
bool seek_time(struct src_user *src, uint64_t time_ns);

/*
 * Find the time of the last record of @task. The recording @data must not be growing. Returns 0
 * if no record can be read.
 */
uint64_t seek_last_ns(struct trace_data *data, const struct task *task);

#endif
