/* Source of events: kernel-cpu<N>.dat, tracepoints hit by tasks, for each CPU. */
#ifndef UTRAIL_PIPELINE_SRC_KERNEL_H
#define UTRAIL_PIPELINE_SRC_KERNEL_H

#include "utils/format/kernel/kernel_dat.h"
#include "utils/pipeline/sources/source.h"

/*
 * A source for each file, if kernel_header exists. This file is read into @context->data. Calls of
 * the kernel's functions (funcgraph) are left out. The rest of a damaged page is left out, and the
 * other pages are read.
 */
extern const struct source_kind src_kernel_kind;

/*
 * Find the task of a record: the one that made it or, if that is not in the recording, the one that
 * it concerns (that is woken, or comes on the CPU). NULL: neither is in the recording, or a tracer
 * made the record.
 */
const struct task *src_kernel_task(const struct trace_data *data, const struct kernel_record *rec);

#endif
