/* Runs a pipeline on a growing recording (see pipeline.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/pipeline/pipeline.h"

/*
 * Find the index of @tid's lane, or the index at which it must be inserted. Lanes are sorted by
 * task id.
 */
static size_t lane_place(const struct pipeline *pipe, int32_t tid)
{
	size_t low = 0;
	size_t high = pipe->nr_lanes;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (pipe->lanes[mid].task->tid < tid)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int add_lane(struct pipeline *pipe, size_t at, struct task *task, struct uft_err *err)
{
	struct src_user_plan plan = pipeline_plan(pipe, pipe->nr_lanes + 1);
	struct lane *lanes = vec_grow(pipe->lanes, pipe->nr_lanes, sizeof(*lanes));

	if (!lanes)
		return err_set_errno(err, -ENOMEM, "cannot follow %zu tasks", pipe->nr_lanes + 1);
	pipe->lanes = lanes;
	memmove(&lanes[at + 1], &lanes[at], (pipe->nr_lanes - at) * sizeof(*lanes));
	pipe->nr_lanes++;
	return lane_open(&lanes[at], pipe, task, &plan, err);
}

static int add_lanes(struct pipeline *pipe, struct uft_err *err)
{
	struct trace_data *data = pipe->data;

	for (size_t i = 0; i < data->nr_tasks; i++) {
		struct task *task = &data->tasks[i];
		size_t at = lane_place(pipe, task->tid);

		if (!pipeline_has_lane(pipe, task) ||
		    (at < pipe->nr_lanes && pipe->lanes[at].task == task))
			continue;

		int ret = add_lane(pipe, at, task, err);

		if (ret < 0)
			return ret;
	}
	return 0;
}

/*
 * Adapt the lane to changes since the previous call of refresh(). Lanes and queues may have moved
 * in memory, files may have grown, and an address may now belong to another function.
 */
static int refresh(struct lane *lane, struct uft_err *err)
{
	struct pipeline *pipe = lane->pipe;
	int ret;

	lane_attach(lane, &pipe->feed);
	lane->calls.changes_ns = 0;
	lane->indent.calls = &lane->calls;
	lane->indent.filter = &lane->filter;
	stg_indent_more(&lane->indent, lane->user.last_ns);
	ret = source_more(&lane->user.source, err);
	/* Records after data_bytes must wait, because their sessions may still be unknown. */
	lane->user.end_offset = lane->task->data_bytes;
	if (!lane->task->data_bytes)
		lane->user.at_end = true;
	return ret;
}

/* Look for more events, and drop the events of tasks that are not selected. */
static int grow_feed(struct pipeline *pipe, struct uft_err *err)
{
	int ret = merger_more(&pipe->feed, err);

	for (size_t i = 0; ret == 0 && i < pipe->feed.nr_queues; i++) {
		struct queue *queue = &pipe->feed.queues[i];

		if (pipeline_selects(&pipe->config, &pipe->data->tasks[i]))
			continue;
		queue->is_wanted = false;
		queue_drop(queue, queue->nr);
	}
	return ret;
}

/*
 * Load the events of the feed up to @until_ns. Returns 1 when more events follow, 0 when there are
 * none, or a negative errno with @err.
 */
static int next_window(struct pipeline *pipe, uint64_t until_ns, struct uft_err *err)
{
	int more = pipeline_next_window(pipe, err);
	int ret = more < 0 ? more : add_lanes(pipe, err);

	if (ret < 0)
		return ret;
	/*
	 * pipe->first_ns is final when all events up to pipe->first_ns are known. As long as there
	 * are only LOST records, which have no time, pipe->first_ns is 0.
	 */
	bool is_settled = pipe->first_ns && pipe->first_ns <= pipe->known_ns;

	pipe->limit_ns = until_ns;
	pipe->known_ns = MIN(until_ns, pipe->feed.complete_ns);
	if (!is_settled)
		ret = pipeline_find_start(pipe, err);
	for (size_t i = 0; ret == 0 && i < pipe->nr_lanes; i++)
		ret = refresh(&pipe->lanes[i], err);
	return ret < 0 ? ret : more;
}

int pipeline_follow(struct pipeline *pipe, uint64_t until_ns, const struct view *view,
		    struct uft_err *err)
{
	int ret = grow_feed(pipe, err);
	int more = 1;

	while (ret == 0 && more > 0) {
		more = next_window(pipe, until_ns, err);
		ret = more < 0 ? more : merge_run(pipe, view, err);
	}
	return ret;
}
