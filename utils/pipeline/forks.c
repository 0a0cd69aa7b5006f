/* For filters: finds the calls that were open in a parent at each fork (see forks.h). */
#include "utils/pipeline/forks.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/pipeline/recording/data_tasks.h"

#define READ_AT_ONCE 64

/*
 * A task that has forked children.
 *
 * @call: the state of the filter at the task's last fork(2), if @has_call. This state is kept until
 *        the child begins. The child may begin after fork(2) has returned in the parent
 * @children: the forked children of all tasks, sorted by time
 * @at: the index of the next child to look at. If a child of this task has a lower index,
 *      pipe->at_fork already has the state for this child
 */
struct parent {
	struct pipeline *pipe;
	struct lane lane;
	struct stg_filter call;
	bool has_call;
	const struct task **children;
	size_t nr;
	size_t at;
};

/*
 * Give a child the state that the parent's filter had when the parent called fork(2). If that state
 * is unknown, the child gets the present state of the parent's filter.
 */
static int hand_over(struct parent *parent, const struct task *child)
{
	struct stg_filter *known = &parent->pipe->at_fork[child->index];
	int ret = stg_filter_copy(known, parent->has_call ? &parent->call : &parent->lane.filter);

	parent->has_call = false;
	return ret;
}

static int hand_over_until(struct parent *parent, uint64_t time_ns)
{
	int ret = 0;

	for (; ret == 0 && parent->at < parent->nr; parent->at++) {
		const struct task *child = parent->children[parent->at];

		if (child->start_ns >= time_ns)
			break;
		if (task_origin(parent->pipe->data, child) == parent->lane.task)
			ret = hand_over(parent, child);
	}
	return ret;
}

static int step_parent(struct parent *parent, struct event *event, struct uft_err *err)
{
	struct lane *lane = &parent->lane;
	bool is_entry = event->type == EVENT_ENTRY;
	int ret = hand_over_until(parent, event->time_ns);

	if (ret < 0)
		return err_set_errno(err, ret, "cannot filter calls");
	ret = stg_calls(&lane->calls, event, 1, err);
	if (ret < 0)
		return ret;

	bool is_fork = is_entry && event->func->is_fork;
	ssize_t kept = stg_filter(&lane->filter, event, 1);

	if (kept < 0 || (is_fork && stg_filter_copy(&parent->call, &lane->filter) < 0))
		return err_set_errno(err, -ENOMEM, "cannot filter calls");
	parent->has_call |= is_fork;
	return 0;
}

static int read_parent(struct pipeline *pipe, struct task *task, const struct task **children,
		       size_t nr, struct uft_err *err)
{
	const struct src_user_plan plan = src_user_plan(1);
	struct parent parent = { .pipe = pipe, .children = children, .nr = nr };
	struct event events[READ_AT_ONCE];
	int ret = lane_open(&parent.lane, pipe, task, &plan, err);
	ssize_t got = 1;

	while (ret == 0 && got > 0 && parent.at < nr) {
		/* Damage to the parent's file is reported later, when the view reads this file. */
		got = src_user_read(&parent.lane.user, events, READ_AT_ONCE, UINT64_MAX, NULL);
		for (ssize_t i = 0; ret == 0 && i < got && parent.at < nr; i++)
			ret = step_parent(&parent, &events[i], err);
		if (got == 0 && !parent.lane.user.at_end)
			got = 1;
	}
	if (ret == 0 && hand_over_until(&parent, UINT64_MAX) < 0)
		ret = err_set_errno(err, -ENOMEM, "cannot filter calls");
	stg_filter_deinit(&parent.call);
	lane_close(&parent.lane);
	return ret;
}

static int compare_start(const void *a, const void *b)
{
	return task_order(*(const struct task *const *)a, *(const struct task *const *)b);
}

static int read_parents(struct pipeline *pipe, const struct task **children, size_t nr,
			struct uft_err *err)
{
	struct trace_data *data = pipe->data;
	bool *is_read = calloc(data->nr_tasks, sizeof(*is_read));
	int ret = is_read ? 0 : err_set_errno(err, -ENOMEM, "cannot filter calls");

	/*
	 * @children is sorted by the time at which the children began. So if a parent is itself a
	 * forked child, the parent stands before its own children in @children. When read_parent()
	 * reads such a parent, pipe->at_fork already has the filter state with which the parent
	 * begins. read_parent() needs this state.
	 */
	for (size_t i = 0; ret == 0 && i < nr; i++) {
		const struct task *origin = task_origin(data, children[i]);
		struct task *parent = origin ? &data->tasks[origin->index] : NULL;

		if (!parent || !parent->data_bytes || is_read[parent->index])
			continue;
		is_read[parent->index] = true;
		ret = read_parent(pipe, parent, children + i, nr - i, err);
	}
	free(is_read);
	return ret;
}

int forks_find(struct pipeline *pipe, struct uft_err *err)
{
	struct trace_data *data = pipe->data;
	size_t nr = 0;

	for (size_t i = 0; i < data->nr_tasks; i++)
		nr += data->tasks[i].is_fork && data->tasks[i].data_bytes;
	if (!pipe->is_filtered || nr == 0 || pipe->start_ns)
		return 0;
	pipe->at_fork = calloc(data->nr_tasks, sizeof(*pipe->at_fork));
	pipe->nr_at_fork = pipe->at_fork ? data->nr_tasks : 0;

	const struct task **children = calloc(nr, sizeof(struct task *));
	int ret = 0;

	nr = 0;
	for (size_t i = 0; children && i < data->nr_tasks; i++) {
		if (data->tasks[i].is_fork && data->tasks[i].data_bytes)
			children[nr++] = &data->tasks[i];
	}
	if (!pipe->at_fork || !children) {
		ret = err_set_errno(err, -ENOMEM, "cannot filter calls");
	} else {
		qsort(children, nr, sizeof(struct task *), compare_start);
		ret = read_parents(pipe, children, nr, err);
	}
	free(children);
	return ret;
}

void forks_forget(struct pipeline *pipe)
{
	for (size_t i = 0; i < pipe->nr_at_fork; i++)
		stg_filter_deinit(&pipe->at_fork[i]);
	free(pipe->at_fork);
	pipe->at_fork = NULL;
	pipe->nr_at_fork = 0;
}
