/*
 * View: call trees as text. A tree shows whole programs, or one function (doc/facts/text.md,
 * "Graph").
 */
#ifndef UTRAIL_VIEW_GRAPH_H
#define UTRAIL_VIEW_GRAPH_H

#include "utils/base/color.h"
#include "utils/base/err.h"
#include "utils/view/column.h"
#include "utils/base/sink.h"
#include "utils/view/graph/tree.h"

/*
 * @func: show only the calls of this function, and the paths to these calls; NULL: show whole
 *        programs
 * @depth: the maximum number of levels; 0: no limit
 * @source: the modules from which source lines are read; NULL: show no source lines
 */
struct graph_config {
	enum color_mode color;
	const char *fields; /* the argument of -f, or NULL */
	const char *func;
	unsigned depth;
	bool is_by_task;
	struct module_set *source;
};

/* graph_init() fills the struct. The struct owns no memory. */
struct graph {
	struct graph_config config;
	struct column_choice columns;
};

/*
 * Returns 0. If config->fields has an unknown field, returns -ERR_USAGE, and @err lists the
 * known fields.
 */
int graph_init(struct graph *graph, const struct graph_config *config, struct uft_err *err);

/* Ask @tree for the numbers that the chosen columns need. Call this before @tree gets events. */
void graph_prepare(const struct graph *graph, struct tree *tree);

/*
 * Show a finished tree. Returns the number of shown programs, -ENOENT when the requested function
 * has no calls, -ENOMEM, or the failure of @sink.
 */
int graph_show(const struct graph *graph, const struct tree *tree, struct sink *sink,
	       struct uft_err *err);

/*
 * @waited_ns: the time off the CPU
 * @has_ended: the task's end was recorded (with --proc)
 * @status: if @has_ended is true: the exit status of the task, as wait(2) reports it
 */
struct task_times {
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t waited_ns;
	bool has_events;
	bool has_ended;
	int status;
};

/*
 * The view for graph_config.is_by_task shows each task below its parent task. @times has an element
 * for each task, at index task->index.
 */
struct graph_tasks {
	const struct pipeline *pipe;
	struct task_times *times;
};

int graph_tasks_init(struct graph_tasks *tasks, const struct pipeline *pipe, struct uft_err *err);
void graph_tasks_deinit(struct graph_tasks *tasks);
/* Implements events() of struct view (pipeline.h). @self is the struct graph_tasks. */
int graph_tasks_events(void *self, const struct event_span *span, struct uft_err *err);
/* Returns 0, -ENOMEM, or the failure of @sink. */
int graph_tasks_show(const struct graph *graph, const struct graph_tasks *tasks, struct sink *sink,
		     struct uft_err *err);

#endif
