/* Source of events: proc.dat, acts of processes (record --proc). */
#ifndef UTRAIL_PIPELINE_SRC_PROC_H
#define UTRAIL_PIPELINE_SRC_PROC_H

#include "utils/pipeline/sources/source.h"

/*
 * One source, if proc.dat exists. Tasks missing in task.txt are newcomers, and programs name their
 * tasks. An event's payload is limited; a caller that needs all of it reads the file. A truncated
 * or damaged file ends where it is truncated or damaged.
 */
extern const struct source_kind src_proc_kind;

#endif
