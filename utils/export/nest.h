/* Begins and ends in pairs: the source of formats that do not allow missing or crossed ones. */
#ifndef UTRAIL_EXPORT_NEST_H
#define UTRAIL_EXPORT_NEST_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"
#include "utils/pipeline/event.h"
#include "utils/pipeline/pipeline.h"

/*
 * The open calls of one task, and at most one wait of the scheduler as the innermost.
 *
 * @stack: functions; NULL: without a recorded entry
 * @is_out: the innermost is a wait
 * @is_done: the current event has been processed
 */
struct nest_task {
	const struct func **stack;
	size_t depth;
	size_t cap;
	bool is_out;
	bool is_done;
};

/* By task->index. Starts with nest_init(), ends with nest_deinit(). */
struct nest {
	struct nest_task *tasks;
	size_t nr;
	bool counts_outside;
	bool is_oom;
};

/* The beginning or end of a call or a wait. */
struct nest_edge {
	const struct func *func;
	bool is_begin;
};

/* Set the pipeline for the needs of a nest. by_task: one task after the other */
void nest_configure(struct pipeline_config *config);
void nest_configure_by_task(struct pipeline_config *config);

int nest_init(struct nest *nest, const struct trace_data *data, struct uft_err *err);
void nest_deinit(struct nest *nest);

/*
 * Call this at the end of a task: it ends the innermost call or wait that is still open. Returns
 * false when there is none.
 */
bool nest_end(struct nest_task *task, struct nest_edge *edge);

/* The slow path of nest_next(). */
bool nest_repair(struct nest *nest, struct nest_task *task, const struct event *event,
		 struct nest_edge *edge);

/*
 * HOT: find a call that @event begins or ends. Call this again until it returns false:
 *
 * 	while (nest_next(nest, task, event, &edge))
 * 		...
 *
 * All edges of an event have its time. An end always belongs to the innermost open call or wait.
 * Calls that never return stay open. A lack of memory sets nest->is_oom.
 */
static inline bool nest_next(struct nest *nest, struct nest_task *task, const struct event *event,
			     struct nest_edge *edge)
{
	if (task->is_done) {
		task->is_done = false;
		return false;
	}
	if (likely(event->type == EVENT_ENTRY && task->depth == event->indent && !task->is_out &&
		   task->depth < task->cap)) {
		task->stack[task->depth++] = event->func;
		edge->func = event->func;
		edge->is_begin = true;
		task->is_done = true;
		return true;
	}
	if (likely(event->type == EVENT_EXIT && task->depth == event->indent + 1U &&
		   !task->is_out && task->stack[task->depth - 1])) {
		edge->func = task->stack[--task->depth];
		edge->is_begin = false;
		task->is_done = true;
		return true;
	}
	return nest_repair(nest, task, event, edge);
}

#endif
