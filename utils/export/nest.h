/*
 * Pairs the beginning of each call with the end of the call, for formats in which calls must be
 * nested and complete. If the record of an end is missing, an end is added. If the record of a
 * beginning is missing, the end is left out.
 */
#ifndef UTRAIL_EXPORT_NEST_H
#define UTRAIL_EXPORT_NEST_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"
#include "utils/pipeline/event.h"
#include "utils/pipeline/pipeline.h"

/*
 * The open calls of one task. The innermost one may be a wait: a time off the CPU.
 *
 * @stack: the functions of the calls; NULL: the entry of the call was not recorded
 * @is_out: the innermost call is a wait
 * @is_done: all edges of the current event were returned
 */
struct nest_task {
	const struct func **stack;
	size_t depth;
	size_t cap;
	bool is_out;
	bool is_done;
};

/* Starts with nest_init() and ends with nest_deinit(). @tasks: the index is task->index */
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

/*
 * Set the members of @config on which nest_next() depends. nest_configure_by_task() also requests
 * all events of a task before the events of the next task.
 */
void nest_configure(struct pipeline_config *config);
void nest_configure_by_task(struct pipeline_config *config);

int nest_init(struct nest *nest, const struct trace_data *data, struct uft_err *err);
void nest_deinit(struct nest *nest);

/*
 * After the last event of a task, call this function until the result is false. Each time, the
 * function ends the innermost open call or wait of the task, and stores the end in @edge. Returns
 * false when no call or wait of the task is open.
 */
bool nest_end(struct nest_task *task, struct nest_edge *edge);

/* The slow path of nest_next(). */
bool nest_repair(struct nest *nest, struct nest_task *task, const struct event *event,
		 struct nest_edge *edge);

/*
 * HOT: find a call or wait that @event begins or ends. The caller repeats nest_next() until the
 * result is false:
 *
 *	while (nest_next(nest, task, event, &edge))
 *		...
 *
 * An end always belongs to the innermost open call or wait. Sets nest->is_oom when memory is short.
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

/*
 * True when @edge is the beginning or the end of the call of @event. Call this function after
 * nest_next() has returned @edge for @event. nest_next() may first return the added ends of other
 * calls. Such a call may have the same function as the call of @event, but the values of @event do
 * not belong to such a call.
 */
static inline bool nest_is_own(const struct nest_task *task, const struct event *event,
			       const struct nest_edge *edge)
{
	if (edge->func != event->func)
		return false;
	if (edge->is_begin)
		return event->type == EVENT_ENTRY;
	return event->type == EVENT_EXIT && task->depth == event->indent;
}

#endif
