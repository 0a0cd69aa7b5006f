/* Source of events: proc.dat, acts of processes (record --proc). */
#ifndef UTRAIL_PIPELINE_SRC_PROC_H
#define UTRAIL_PIPELINE_SRC_PROC_H

#include "utils/pipeline/sources/source.h"

/*
 * Opens one source, if proc.dat exists. It ends at the first damage. Tasks that are missing in
 * task.txt are newcomers, and tasks get the names of their programs. Payloads are cut to UINT16_MAX
 * bytes.
 */
extern const struct source_kind src_proc_kind;

#endif
