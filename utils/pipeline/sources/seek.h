/* Finds a time in the records of one task without reading everything before it. */
#ifndef UTRAIL_PIPELINE_SEEK_H
#define UTRAIL_PIPELINE_SEEK_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/pipeline/sources/src_user.h"

/*
 * There is no index. Records and the headers of compact blocks have times, so the place is found by
 * bisection. The file is untrusted, so some 64 places are sampled. If a time goes backwards there,
 * or there is no record, the whole file is read. Recordings with times since 1970 (record
 * --clock=realtime) are always read completely, since that clock may be set back.
 */

/*
 * Position @src, which is fresh and has its end_offset, at the start of a record. All records
 * before that place are earlier than @time_ns, and some after it may be. False, with @src
 * unchanged: the file is short, or its times are out of order.
 */
bool seek_time(struct src_user *src, uint64_t time_ns);

/* Find the time of the last record of @task; 0: no record can be read. @data does not grow. */
uint64_t seek_last_ns(struct trace_data *data, const struct task *task);

#endif
