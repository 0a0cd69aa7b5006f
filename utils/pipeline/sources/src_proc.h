/* Source of events: proc.dat, acts of processes (record --proc). */
#ifndef UTRAIL_PIPELINE_SRC_PROC_H
#define UTRAIL_PIPELINE_SRC_PROC_H

#include "utils/pipeline/sources/source.h"

/*
 * Opens one source, if proc.dat exists. The source ends where the file is damaged. Tasks that
 * task.txt lacks are added to source_context.newcomers. Tasks get the names of their programs, or
 * the names that they have set themselves. Payloads are cut to UINT16_MAX bytes.
 */
extern const struct source_kind src_proc_kind;

#endif
