/* Source of events: perf-cpu<N>.dat, the scheduler's and the tasks' events of each CPU. */
#ifndef UTRAIL_PIPELINE_SRC_PERF_H
#define UTRAIL_PIPELINE_SRC_PERF_H

#include "utils/pipeline/sources/source.h"

/* A source for each file, which ends at the first damage. Names of tasks go to data_name_task(). */
extern const struct source_kind src_perf_kind;

#endif
