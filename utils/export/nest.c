/* Pairs the beginning of each call with its end, even when records are missing (see nest.h). */
#include "utils/export/nest.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/containers/vec.h"

void nest_configure(struct pipeline_config *config)
{
	config->stages.wants = STAGE_WANTS_DEPTHS;
}

void nest_configure_by_task(struct pipeline_config *config)
{
	config->order = PIPELINE_BY_TASK;
	nest_configure(config);
}

int nest_init(struct nest *nest, const struct trace_data *data, struct uft_err *err)
{
	*nest = (struct nest){ .nr = data->nr_tasks };
	nest->tasks = calloc(data->nr_tasks + 1, sizeof(*nest->tasks));
	return nest->tasks ? 0
			   : err_set_errno(err, -ENOMEM, "cannot follow %zu tasks", data->nr_tasks);
}

void nest_deinit(struct nest *nest)
{
	for (size_t i = 0; nest->tasks && i < nest->nr; i++)
		free(nest->tasks[i].stack);
	free(nest->tasks);
	*nest = (struct nest){ 0 };
}

static bool push_func(struct nest *nest, struct nest_task *task, const struct func *func)
{
	const struct func **stack = vec_room(task->stack, task->depth, &task->cap,
					     sizeof(struct func *));

	if (!stack) {
		nest->is_oom = true;
		return false;
	}
	task->stack = stack;
	task->stack[task->depth++] = func;
	return true;
}

static bool begin_edge(struct nest *nest, struct nest_task *task, const struct func *func,
		       struct nest_edge *edge)
{
	task->is_done = true;
	*edge = (struct nest_edge){ .func = func, .is_begin = true };
	if (push_func(nest, task, func))
		return true;
	task->is_done = false;
	return false;
}

/*
 * Remove the innermost calls, one after the other. If the entry of a removed call was recorded, put
 * the end of this call into @edge and return true at once. Returns false when only @depth calls are
 * left.
 */
static bool end_down_to(struct nest_task *task, size_t depth, struct nest_edge *edge)
{
	while (task->depth > depth) {
		const struct func *func = task->stack[--task->depth];

		task->is_out = false;
		if (func) {
			*edge = (struct nest_edge){ .func = func };
			return true;
		}
	}
	return false;
}

bool nest_end(struct nest_task *task, struct nest_edge *edge)
{
	return end_down_to(task, 0, edge);
}

static bool begin_nested(struct nest *nest, struct nest_task *task, const struct event *event,
			 struct nest_edge *edge)
{
	size_t keep = MIN((size_t)event->indent, task->depth - task->is_out);

	if (end_down_to(task, keep, edge))
		return true;
	while (task->depth < event->indent) {
		if (!push_func(nest, task, NULL))
			return false;
	}
	return begin_edge(nest, task, event->func, edge);
}

/*
 * End the call to which the EXIT @event belongs. If calls inside this call are still open, their
 * ends are missing. End these inner calls first.
 */
static bool end_nested(struct nest_task *task, const struct event *event, struct nest_edge *edge)
{
	size_t depth = task->depth - task->is_out;

	if (depth <= event->indent)
		return end_down_to(task, depth, edge);
	return end_down_to(task, event->indent, edge);
}

static bool wait(struct nest *nest, struct nest_task *task, const struct event *event,
		 struct nest_edge *edge)
{
	if (end_down_to(task, task->depth - task->is_out, edge))
		return true;
	if (event->type == EVENT_SCHED_IN ||
	    ((event->flags & EVENT_OUTSIDE) && !nest->counts_outside))
		return false;
	task->is_out = begin_edge(nest, task, event->func, edge);
	return task->is_out;
}

bool nest_repair(struct nest *nest, struct nest_task *task, const struct event *event,
		 struct nest_edge *edge)
{
	switch (event->type) {
	case EVENT_ENTRY:
		return begin_nested(nest, task, event, edge);
	case EVENT_EXIT:
		return end_nested(task, event, edge);
	case EVENT_SCHED_OUT:
	case EVENT_SCHED_IN:
		return wait(nest, task, event, edge);
	default:
		return false;
	}
}
