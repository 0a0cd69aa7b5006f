/* Source of events: kernel-cpu<N>.dat, tracepoints hit by tasks, for each CPU. */
#ifndef UTRAIL_PIPELINE_SRC_KERNEL_H
#define UTRAIL_PIPELINE_SRC_KERNEL_H

#include "utils/format/kernel/kernel_dat.h"
#include "utils/pipeline/sources/source.h"

/*
 * A source for each file, if kernel_header exists, which is read into @context->data. The rest of a
 * damaged page is skipped.
 */
extern const struct source_kind src_kernel_kind;

/*
 * Find the task of a record: its maker, else the task that is woken or comes on the CPU. NULL: the
 * recording has neither, or a tracer made the record.
 */
const struct task *src_kernel_task(const struct trace_data *data, const struct kernel_record *rec);

#endif
