/* Source of events: perf-cpu*.dat, the scheduler's and the tasks' events of each CPU. */
#ifndef UTRAIL_TRACE_SRC_PERF_H
#define UTRAIL_TRACE_SRC_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/format/perf_dat.h"
#include "utils/trace/data.h"

/*
 * One event of a task, in a form as small as it gets: they are kept in memory, a third less than
 * the files take, because files are by CPU and everything else is by task.
 *
 * @id: enum event_id
 * @cpu: of a tracepoint (src_kernel.h) the place of its record instead
 */
struct perf_event {
	uint64_t time_ns;
	uint32_t id;
	union {
		uint32_t cpu;
		uint32_t ref;
	};
};

/* Events of one task, by time; of a recording that grows, the first @nr_sorted of them. */
struct perf_queue {
	struct perf_event *events;
	size_t nr;
	size_t nr_sorted;
	size_t cap;
};

/* @offset: what was read; @fd: -1 when nothing more is */
struct perf_file {
	int fd;
	uint32_t cpu;
	uint64_t offset;
};

/* An event of a task that is not in task.txt. */
struct perf_stray {
	struct perf_record rec;
	uint32_t cpu;
};

/*
 * @queues: by task->index
 * @files, @strays: of a recording that grows only
 *
 * Starts as { 0 }, ends with src_perf_deinit().
 */
struct src_perf {
	struct perf_queue *queues;
	size_t nr_queues;
	struct perf_file *files;
	size_t nr_files;
	struct perf_stray *strays;
	size_t nr_strays;
};

/*
 * Read all perf files of @data. Names of tasks (COMM) go to data_name_task(). Events of tasks
 * that are not in task.txt are left out; files that are cut end where they are cut, and damaged
 * ones where the damage is: @broken tells about the first of these, the others are read on.
 */
int src_perf_load(struct src_perf *src, struct trace_data *data, struct uft_err *broken,
		  struct uft_err *err);

/* For src_kernel: add an event of @task, in any order; then sort all queues. 0 or -ENOMEM. */
int src_perf_add(struct src_perf *src, const struct task *task, struct perf_event event);
void src_perf_sort(struct src_perf *src);

/*
 * Of a recording that grows, where src_perf_load() has only opened the files: read what is new. Queues may move, and are not sorted
 * before src_perf_settle(). @shown_ns: so far events were taken from them.
 */
int src_perf_more(struct src_perf *src, struct trace_data *data, struct uft_err *broken,
		  struct uft_err *err);
void src_perf_settle(struct src_perf *src, struct trace_data *data, uint64_t shown_ns);
void src_perf_deinit(struct src_perf *src);

#endif
