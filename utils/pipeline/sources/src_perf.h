/* Source of events: perf-cpu<N>.dat, the scheduler's and the tasks' events of each CPU. */
#ifndef UTRAIL_PIPELINE_SRC_PERF_H
#define UTRAIL_PIPELINE_SRC_PERF_H

#include "utils/pipeline/sources/source.h"

/*
 * A source for each file. Names of tasks (COMM) go to data_name_task(). A truncated or damaged file
 * ends where it is truncated or damaged.
 */
extern const struct source_kind src_perf_kind;

#endif
