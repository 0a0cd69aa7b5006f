/* Source of events: kernel-cpu<N>.dat, tracepoints that tasks came through, of each CPU. */
#ifndef UTRAIL_TRACE_SRC_KERNEL_H
#define UTRAIL_TRACE_SRC_KERNEL_H

#include "utils/format/kernel_dat.h"
#include "utils/trace/source.h"

/*
 * A source for each file, when kernel_header is there, which is read into @context->data. Calls of
 * the kernel's functions (funcgraph) are left out. Of a damaged page the rest is left out, and the
 * other pages are read.
 */
extern const struct source_kind src_kernel_kind;

/*
 * Whose record it is: of the task that made it or else, when that is not in the recording, of the
 * one that it is about (who is woken, who comes on the CPU). NULL: of nobody here, or of a tracer.
 */
const struct task *src_kernel_task(const struct trace_data *data, const struct kernel_record *rec);

#endif
