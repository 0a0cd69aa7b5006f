/* Source of events: kernel-cpu<N>.dat, the tracepoints and kernel function calls of one CPU. */
#ifndef UTRAIL_PIPELINE_SRC_KERNEL_H
#define UTRAIL_PIPELINE_SRC_KERNEL_H

#include "utils/format/kernel/kernel_dat.h"
#include "utils/pipeline/sources/source.h"

/*
 * The kind's open() reads kernel_header into @context->data, and makes a source for each file
 * kernel-cpu<N>.dat. If kernel_header is missing, open() makes no source. If the files have no
 * calls and @context->wants_points is false, open() makes no source. A source skips the rest of a
 * damaged page.
 */
extern const struct source_kind src_kernel_kind;

/*
 * Find the task of a record: the task that has made the record. If the recording does not have this
 * task, find the task that is woken or gets the CPU. Returns NULL if the recording has none of
 * these tasks, or if a tracer made the record.
 */
const struct task *src_kernel_task(const struct trace_data *data, const struct kernel_record *rec);

#endif
