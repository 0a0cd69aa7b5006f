/* Source of events: perf-cpu*.dat, the scheduler's and the tasks' events of each CPU. */
#ifndef UTRAIL_TRACE_SRC_PERF_H
#define UTRAIL_TRACE_SRC_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/trace/data.h"

/*
 * One event of a task, in a form as small as it gets: they are kept in memory, a third less than
 * the files take, because files are by CPU and everything else is by task.
 *
 * @id: enum event_id
 */
struct perf_event {
	uint64_t time_ns;
	uint32_t id;
	uint32_t cpu;
};

/* Events of one task, by time. */
struct perf_queue {
	struct perf_event *events;
	size_t nr;
	size_t cap;
};

/* @queues: by task->index. Starts as { 0 }, ends with src_perf_deinit(). */
struct src_perf {
	struct perf_queue *queues;
	size_t nr_queues;
};

/*
 * Read all perf files of @data. Names of tasks (COMM) go to data_name_task(). Events of tasks
 * that are not in task.txt are left out; files that are cut end where they are cut.
 */
int src_perf_load(struct src_perf *src, struct trace_data *data, struct uft_err *err);
void src_perf_deinit(struct src_perf *src);

/* One more than the highest CPU that has a file; 0 without files. */
uint32_t src_perf_nr_cpus(const struct trace_data *data);

#endif
