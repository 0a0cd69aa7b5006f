/* Source of events: proc.dat, which contains acts of processes, such as fork(2) (record --proc). */
#ifndef UTRAIL_PIPELINE_SRC_PROC_H
#define UTRAIL_PIPELINE_SRC_PROC_H

#include "utils/pipeline/sources/source.h"

/*
 * Opens one source, if proc.dat exists. The source ends where the file is damaged. Tasks that
 * task.txt lacks are added to source_context.newcomers. The name of a task becomes the base name
 * of the executed program, or the name that the task has set. Payloads are cut to UINT16_MAX bytes.
 */
extern const struct source_kind src_proc_kind;

#endif
