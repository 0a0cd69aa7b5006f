/* Source of events: perf-cpu<N>.dat, which has events of the scheduler and of tasks on one CPU. */
#ifndef UTRAIL_PIPELINE_SRC_PERF_H
#define UTRAIL_PIPELINE_SRC_PERF_H

#include "utils/pipeline/sources/source.h"

/*
 * Opens a source for each file perf-cpu<N>.dat. A source ends at the first damaged place of its
 * file. Each source passes names of tasks to data_name_task().
 */
extern const struct source_kind src_perf_kind;

#endif
