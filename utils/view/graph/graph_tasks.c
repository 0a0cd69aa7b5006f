/* View: parents and children of tasks, as a tree (see graph.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "utils/format/event_ids.h"
#include "utils/format/proc_dat.h"
#include "utils/view/graph/graph_columns.h"

int graph_tasks_init(struct graph_tasks *tasks, const struct pipeline *pipe, struct uft_err *err)
{
	size_t nr = pipe->data->nr_tasks;

	*tasks = (struct graph_tasks){ .pipe = pipe };
	tasks->times = calloc(nr + 1, sizeof(*tasks->times));
	return tasks->times ? 0 : err_set_errno(err, -ENOMEM, "cannot show %zu tasks", nr);
}

void graph_tasks_deinit(struct graph_tasks *tasks)
{
	free(tasks->times);
	*tasks = (struct graph_tasks){ 0 };
}

static void note_end(const struct graph_tasks *tasks, const struct event *event,
		     struct task_times *times)
{
	times->has_ended = event->data &&
			   proc_exit_decode(event->data, event->data_len,
					    tasks->pipe->data->is_big_endian, &times->status);
}

int graph_tasks_events(void *self, const struct event_span *span, struct uft_err *err)
{
	struct graph_tasks *tasks = self;
	struct task_times *times = &tasks->times[span->task->index];

	if (!times->has_events)
		times->first_ns = span->events[0].time_ns;
	times->has_events = true;
	times->last_ns = span->events[span->nr - 1].time_ns;
	for (size_t i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];

		if (event->type == EVENT_SCHED_IN &&
		    !(event->flags & (EVENT_UNPAIRED | EVENT_PREEMPTED)))
			times->waited_ns += event->total_ns;
		if (event->type == EVENT_POINT && event->id == EVENT_ID_PROC_EXIT)
			note_end(tasks, event, times);
	}
	return 0;
}

/* A task with the tasks that it has begun. */
struct task_node {
	const struct task *task;
	struct task_node *parent;
	struct task_node *first;
	struct task_node *next;
};

static bool is_process(const struct task *task)
{
	return task->pid == task->tid;
}

static int order_by_start(const void *a, const void *b)
{
	return task_order(((const struct task_node *)a)->task, ((const struct task_node *)b)->task);
}

/*
 * Find the parent of @task among the @nr tasks that began before @task. Later tasks are not
 * searched, so that corrupt data cannot make a cycle.
 */
static struct task_node *find_parent(struct task_node *nodes, size_t nr, const struct task *task)
{
	int32_t tid = is_process(task) ? task->ppid : task->pid;

	for (size_t i = nr; i-- > 0;) {
		if (nodes[i].task->tid == tid)
			return &nodes[i];
	}
	return NULL;
}

static void link_child(struct task_node *parent, struct task_node *node)
{
	struct task_node **link = &parent->first;

	while (*link)
		link = &(*link)->next;
	*link = node;
	node->parent = parent;
}

/*
 * Take the tasks with events in the order of their start times. Link each of these tasks to the
 * task's parent. Tasks without a parent are linked to @top.
 */
static void collect_task_nodes(const struct graph_tasks *tasks, struct task_node *nodes,
			       struct task_node *top)
{
	const struct trace_data *data = tasks->pipe->data;
	size_t nr = 0;

	for (size_t i = 0; i < data->nr_tasks; i++) {
		if (tasks->times[i].has_events)
			nodes[nr++].task = &data->tasks[i];
	}
	qsort(nodes, nr, sizeof(*nodes), order_by_start);
	for (size_t i = 0; i < nr; i++) {
		struct task_node *parent = find_parent(nodes, i, nodes[i].task);

		link_child(parent ? parent : top, &nodes[i]);
	}
}

static const char *connection(const struct task_node *node, const struct task_node *top)
{
	if (node->parent == top)
		return "";
	return is_process(node->task) ? " +----" : " +-";
}

/* Returns the text by which the children of @node are indented further than @node. */
static const char *indent_below(const struct task_node *node, const struct task_node *top)
{
	if (node->parent == top)
		return "";
	if (is_process(node->task))
		return node->next ? " |    " : "      ";
	return node->next ? " | " : "   ";
}

static void put_gap(const struct graph *graph, const struct strbuf *indent, const char *text,
		    struct sink *sink)
{
	graph_put_cells(graph, NULL, sink);
	sink_put_made(sink, indent);
	sink_str(sink, text);
	sink_lit(sink, "\n");
}

/* Write the signal or the status of a task that ended with an error. */
static void put_end(const struct task_times *times, struct sink *sink)
{
	if (!times->has_ended || !times->status)
		return;
	if (WIFSIGNALED(times->status))
		sink_format(sink, " (signal %d)", WTERMSIG(times->status));
	else
		sink_format(sink, " (status %d)", WEXITSTATUS(times->status));
}

static void put_task(const struct graph *graph, const struct graph_tasks *tasks,
		     const struct task_node *node, const struct task_node *top,
		     const struct strbuf *indent, struct sink *sink)
{
	const struct graph_row row = {
		.task = node->task,
		.times = &tasks->times[node->task->index],
	};

	if (node->parent != top && is_process(node->task))
		put_gap(graph, indent, " |    ", sink);
	graph_put_cells(graph, &row, sink);
	sink_put_made(sink, indent);
	sink_str(sink, connection(node, top));
	sink_str(sink, task_name_at(node->task, UINT64_MAX));
	put_end(row.times, sink);
	sink_lit(sink, "\n");
}

static int put_tasks(const struct graph *graph, const struct graph_tasks *tasks,
		     const struct task_node *top, struct sink *sink)
{
	struct strbuf indent cleanup_strbuf = { 0 };
	const struct task_node *node = top->first;

	while (node) {
		put_task(graph, tasks, node, top, &indent, sink);
		if (node->first) {
			strbuf_addstr(&indent, indent_below(node, top));
			node = node->first;
			continue;
		}
		while (node != top && !node->next) {
			node = node->parent;
			if (node != top)
				strbuf_cut(&indent, indent.len - strlen(indent_below(node, top)));
		}
		if (node == top)
			break;
		/* Write a gap between a process and its next sibling if the sibling is a thread. */
		if (node->parent != top && is_process(node->task) && !is_process(node->next->task))
			put_gap(graph, &indent, " | ", sink);
		node = node->next;
	}
	return strbuf_oom(&indent) ? -ENOMEM : sink->failed;
}

int graph_tasks_show(const struct graph *graph, const struct graph_tasks *tasks, struct sink *sink,
		     struct uft_err *err)
{
	size_t nr = tasks->pipe->data->nr_tasks;
	struct task_node *nodes cleanup_free = calloc(nr + 1, sizeof(*nodes));
	struct task_node *top = nodes;
	if (!nodes)
		return err_set_errno(err, -ENOMEM, "cannot show %zu tasks", nr);
	collect_task_nodes(tasks, nodes + 1, top);
	sink_page_begin(sink, graph->config.color);
	sink_lit(sink, "========== TASK GRAPH ==========\n");
	graph_put_header(graph, sink);

	int ret = put_tasks(graph, tasks, top, sink);

	sink_lit(sink, "\n");
	sink_page_end(sink, graph->config.color);
	return ret < 0 ? err_set_errno(err, ret, "cannot show %zu tasks", nr) : 0;
}
