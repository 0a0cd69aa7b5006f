/* Running a pipeline on a recording that is still being made (see pipeline.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/vec.h"
#include "utils/trace/pipeline.h"

/* Lanes stand in the order of task ids. Where the one of @tid is, or belongs. */
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
	struct src_user_plan plan = src_user_plan(pipe->nr_lanes + 1);
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

		if (!task->data_bytes || !pipeline_selects(&pipe->config, task) ||
		    (at < pipe->nr_lanes && pipe->lanes[at].task == task))
			continue;

		int ret = add_lane(pipe, at, task, err);

		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Lanes and queues may have moved, files have grown, and addresses may mean something else. */
static void refresh(struct lane *lane)
{
	struct pipeline *pipe = lane->pipe;

	lane->perf = pipe->perf.nr_queues ? &pipe->perf.queues[lane->task->index] : NULL;
	lane->perf_end = lane->perf ? lane->perf->nr : 0;
	lane->calls.changes_ns = 0;
	lane->indent.calls = &lane->calls;
	stg_indent_more(&lane->indent, lane->user.last_ns);
	src_user_more(&lane->user);
}

static int grow(struct pipeline *pipe, uint64_t until_ns, struct uft_err *err)
{
	int ret = src_perf_more(&pipe->perf, pipe->data, &pipe->broken, err);

	if (ret == 0)
		ret = src_kernel_more(&pipe->kernel, &pipe->perf, pipe->data, &pipe->broken, err);
	if (ret == 0)
		src_perf_settle(&pipe->perf, pipe->data, pipe->limit_ns);
	if (ret == 0)
		ret = add_lanes(pipe, err);
	if (ret < 0)
		return ret;
	/* The first record of all is settled when it is in the part that is complete. */
	if (pipe->first_ns > pipe->limit_ns)
		ret = pipeline_find_start(pipe, err);
	pipe->limit_ns = until_ns;
	for (size_t i = 0; i < pipe->nr_lanes; i++)
		refresh(&pipe->lanes[i]);
	return ret;
}

int pipeline_follow(struct pipeline *pipe, uint64_t until_ns, const struct view *view,
		    struct uft_err *err)
{
	int ret = grow(pipe, until_ns, err);

	return ret < 0 ? ret : merge_run(pipe, view, err);
}
