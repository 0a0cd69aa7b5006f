/* Source of events: perf-cpu<N>.dat, which has events of the scheduler and of tasks on one CPU. */
#ifndef UTRAIL_PIPELINE_SRC_PERF_H
#define UTRAIL_PIPELINE_SRC_PERF_H

#include "utils/pipeline/sources/source.h"

/*
 * Opens a source for each file. It ends at the first damage. Names of tasks go to data_name_task().
 */
extern const struct source_kind src_perf_kind;

#endif
