/* Source of events: kernel-cpu*.dat, tracepoints that tasks came through, of each CPU. */
#ifndef UTRAIL_TRACE_SRC_KERNEL_H
#define UTRAIL_TRACE_SRC_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/trace/data.h"
#include "utils/trace/src_perf.h"

/* The bytes of one record, in one of the chunks. */
struct kernel_ref {
	const uint8_t *data;
	uint16_t len;
};

/* A file, or so much of it as was new at a time. */
struct kernel_chunk {
	uint8_t *data;
	size_t len;
	bool is_mapped;
};

/* @offset: what was read; @fd: -1 when nothing more is */
struct kernel_source {
	int fd;
	uint32_t cpu;
	uint64_t offset;
};

/* A record of tasks that are not in task.txt. @other_tid: 0, or whose it is when it is not @tid's */
struct kernel_stray {
	int32_t tid;
	int32_t other_tid;
	struct perf_event event;
};

/*
 * What the queues of struct src_perf do not hold: these have the times, and the place in @refs.
 *
 * @refs: in the order of the files
 * @chunks: what they point into
 * @sources, @strays: of a recording that grows only
 * @lost: so many records the kernel had no room for; @has_more_lost: and others that were not counted
 * @has_files: this recording has any
 *
 * Starts as { 0 }, ends with src_kernel_deinit().
 */
struct src_kernel {
	struct kernel_ref *refs;
	size_t nr_refs;
	struct kernel_chunk *chunks;
	size_t nr_chunks;
	struct kernel_source *sources;
	size_t nr_sources;
	struct kernel_stray *strays;
	size_t nr_strays;
	uint64_t lost;
	bool has_more_lost;
	bool has_files;
};

/*
 * Read kernel_header into @data, and all kernel files of it into the queues of @perf, which are sorted anew; nothing at all when there
 * are none. Calls of the kernel's functions (funcgraph) and records of tasks that are not in task.txt are left out. Of a damaged page
 * the rest is left out, and the other pages are read: @broken tells about the first. Negative with @err when it cannot go on.
 */
int src_kernel_load(struct src_kernel *src, struct src_perf *perf, struct trace_data *data,
		    struct uft_err *broken, struct uft_err *err);

/*
 * Of a recording that grows, where src_kernel_load() has only opened the files: read what is new into the queues, between
 * src_perf_more() and src_perf_settle().
 */
int src_kernel_more(struct src_kernel *src, struct src_perf *perf, struct trace_data *data,
		    struct uft_err *broken, struct uft_err *err);
void src_kernel_deinit(struct src_kernel *src);

/*
 * Whose record it is: of the task that made it or else, when that is not in the recording, of the one that it is about (who is woken,
 * who comes on the CPU). NULL: of nobody here, or of a tracer.
 */
const struct task *src_kernel_task(const struct trace_data *data, const struct kernel_record *rec);

#endif
