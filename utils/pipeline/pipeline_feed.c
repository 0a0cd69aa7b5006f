/* Moves events from the sources of all tasks to the lanes (see pipeline.h, merger.h). */
#include <errno.h>
#include <stdlib.h>

#include "utils/pipeline/pipeline.h"
#include "utils/pipeline/sources/src_kernel.h"
#include "utils/pipeline/sources/src_perf.h"
#include "utils/pipeline/sources/src_proc.h"

/*
 * The kinds of sources for every pipeline. If events have the same time, the event whose kind is
 * listed first comes first.
 */
static const struct source_kind *const all_kinds[] = { &src_perf_kind, &src_proc_kind,
						       &src_kernel_kind };

static int choose_kinds(struct pipeline *pipe)
{
	const struct source_kind *const *more = pipe->config.kinds;
	size_t nr_more = 0;
	size_t nr = 0;

	while (more && more[nr_more])
		nr_more++;
	pipe->kinds = calloc(ARRAY_SIZE(all_kinds) + nr_more + 1, sizeof(*pipe->kinds));
	if (!pipe->kinds)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(all_kinds) + nr_more; i++) {
		const struct source_kind *kind = i < ARRAY_SIZE(all_kinds)
							 ? all_kinds[i]
							 : more[i - ARRAY_SIZE(all_kinds)];

		if (!kind->wants || kind->wants(&pipe->config.stages))
			pipe->kinds[nr++] = kind;
	}
	return 0;
}

static struct source_context context_of(struct pipeline *pipe, bool takes_notes)
{
	return (struct source_context){
		.data = pipe->data,
		/* Files may be read several times, but their damage is reported once. */
		.broken = takes_notes ? &pipe->broken : NULL,
		.losses = &pipe->kernel,
		.takes_notes = takes_notes,
		.wants_points = pipe->config.stages.show_events &&
				pipe->config.stages.wants != STAGE_WANTS_ENDS,
	};
}

static int open_feed(struct pipeline *pipe, struct merger *feed, bool takes_notes,
		     struct uft_err *err)
{
	const struct source_context context = context_of(pipe, takes_notes);

	return merger_open(feed, &context, pipe->kinds, err);
}

/*
 * Survey the events of all tasks. If @newcomers is not NULL, @newcomers gets the tasks that are not
 * in task.txt.
 */
static int survey_tasks(struct pipeline *pipe, struct task_list *newcomers, struct uft_err *err)
{
	struct merger feed cleanup(merger_close) = { 0 };
	struct source_context context = context_of(pipe, true);
	size_t nr = pipe->data->nr_tasks;
	int ret;

	context.newcomers = newcomers;
	pipe->kernel = (struct kernel_losses){ 0 };
	free(pipe->surveys);
	pipe->surveys = calloc(nr + 1, sizeof(*pipe->surveys));
	if (!pipe->surveys)
		return err_set_errno(err, -ENOMEM, "cannot read %zu tasks", nr);
	ret = merger_open(&feed, &context, pipe->kinds, err);
	pipe->nr_sources = feed.sources.nr;
	return ret < 0 ? ret : merger_survey(&feed, pipe->surveys, err);
}

/* Give each child the name that the parent has when the child starts. */
static int name_children(struct trace_data *data, struct task_list *list)
{
	task_list_sort_by_time(list);
	for (size_t i = 0; i < list->nr; i++) {
		struct task *child = data_task(data, list->all[i].tid);
		const struct task *parent = data_task(data, list->all[i].ppid);
		int ret = 0;

		if (parent && child->start_ns)
			ret = data_name_task(data, child->tid, child->start_ns,
					     task_name_at(parent, child->start_ns));
		if (ret < 0)
			return ret;
		task_sort_names(child);
	}
	return 0;
}

int pipeline_survey(struct pipeline *pipe, struct uft_err *err)
{
	struct task_list newcomers cleanup_task_list = { 0 };
	int ret = choose_kinds(pipe);

	if (ret == 0)
		ret = survey_tasks(pipe, pipe->config.stages.show_outside ? &newcomers : NULL, err);
	if (ret == 0 && newcomers.nr) {
		/*
		 * Tasks without a probe are not in task.txt, but can have events outside of
		 * functions. Add these tasks to the data, and survey again.
		 */
		ret = data_add_tasks(pipe->data, &newcomers);
		if (ret == 0)
			ret = survey_tasks(pipe, NULL, err);
		if (ret == 0)
			ret = name_children(pipe->data, &newcomers);
	}
	return ret < 0 ? err_set_errno(err, ret, "cannot read '%s'", pipe->data->dir) : 0;
}

int pipeline_open_feed(struct pipeline *pipe, struct uft_err *err)
{
	int ret = choose_kinds(pipe);

	if (ret < 0)
		return err_set_errno(err, ret, "cannot read '%s'", pipe->data->dir);
	ret = open_feed(pipe, &pipe->feed, true, err);
	pipe->feed.keeps_all = true;
	for (size_t i = 0; i < pipe->feed.nr_queues; i++)
		pipe->feed.queues[i].is_wanted = true;
	pipe->nr_sources = pipe->feed.sources.nr;
	return ret;
}

bool pipeline_has_lane(const struct pipeline *pipe, const struct task *task)
{
	const struct stage_config *stages = &pipe->config.stages;
	bool shows_events = stages->show_outside && stages->show_events;

	if (!pipeline_selects(&pipe->config, task))
		return false;
	if (task->data_bytes)
		return true;
	/* If no call of a task was recorded, all events of the task are outside of functions. */
	if (pipe->surveys) {
		const struct survey *survey = &pipe->surveys[task->index];

		return (shows_events && survey->nr > survey->nr_calls) ||
		       (stages->show_kernel_outside && survey->nr_calls);
	}
	return (shows_events || stages->show_kernel_outside) &&
	       task->index < pipe->feed.nr_queues && pipe->feed.queues[task->index].nr;
}

struct src_user_plan pipeline_plan(const struct pipeline *pipe, size_t nr_tasks)
{
	struct src_user_plan plan = src_user_plan(nr_tasks);

	plan.keeps_open &= src_user_plan(nr_tasks + pipe->nr_sources).keeps_open;
	return plan;
}

uint64_t pipeline_limit_ns(const struct pipeline *pipe)
{
	return merger_is_open(&pipe->feed) ? MIN(pipe->limit_ns, pipe->feed.complete_ns)
					   : pipe->limit_ns;
}

uint64_t lane_limit_ns(const struct lane *lane)
{
	uint64_t limit_ns = lane->pipe->limit_ns;

	return lane->feed ? MIN(limit_ns, lane->feed->complete_ns) : limit_ns;
}

static bool may_have_kernel_calls(const struct lane *lane)
{
	const struct pipeline *pipe = lane->pipe;

	if (pipe->surveys)
		return pipe->surveys[lane->task->index].nr_calls;
	return kernel_formats_have_calls(&pipe->data->kernel);
}

void lane_attach(struct lane *lane, struct merger *feed)
{
	size_t index = lane->task->index;
	struct queue *queue = feed && index < feed->nr_queues ? &feed->queues[index] : NULL;
	size_t at = queue && lane->feed == feed ? lane->queued.at : 0;

	lane->feed = feed;
	queue_source_init(&lane->queued, queue, lane->task);
	lane->queued.at = at;
	lane->has_kernel_calls = may_have_kernel_calls(lane);
	lane->calls.has_kernel = lane->has_kernel_calls;
	kernel_calls_init(&lane->kernel, &lane->queued, &lane->user, lane->task);
	lane->others[0] = lane->has_kernel_calls ? &lane->kernel.source : &lane->queued.source;
	lane->nr_others = queue != NULL;
}

/* --- one task after the other --- */

static uint64_t lane_cost(const struct pipeline *pipe, const struct lane *lane)
{
	return pipe->surveys ? pipe->surveys[lane->task->index].bytes : 0;
}

ssize_t pipeline_load_group(struct pipeline *pipe, size_t first, struct uft_err *err)
{
	uint64_t bytes = 0;
	size_t end = first;

	for (; end < pipe->nr_lanes; end++) {
		struct lane *lane = &pipe->lanes[end];
		uint64_t cost = lane_cost(pipe, lane);

		lane->streams = !lane->in_windows && cost > pipe->held_bytes;
		if (lane->streams || lane->in_windows)
			continue;
		if (bytes + cost > pipe->held_bytes)
			break;
		bytes += cost;
	}
	if (bytes == 0)
		return end;

	int ret = open_feed(pipe, &pipe->feed, false, err);

	for (size_t i = first; ret == 0 && i < end; i++)
		pipe->feed.queues[pipe->lanes[i].task->index].is_wanted =
			!pipe->lanes[i].streams && !pipe->lanes[i].in_windows;
	if (ret == 0)
		ret = merger_fill(&pipe->feed, SIZE_MAX, err);
	for (size_t i = first; ret == 0 && i < end; i++) {
		if (!pipe->lanes[i].streams)
			lane_attach(&pipe->lanes[i], &pipe->feed);
	}
	return ret < 0 ? ret : (ssize_t)end;
}

void pipeline_drop_group(struct pipeline *pipe, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		lane_attach(&pipe->lanes[i], NULL);
	merger_close(&pipe->feed);
}

int lane_stream(struct lane *lane, struct uft_err *err)
{
	struct merger *feed = lane->own_feed;
	int ret = 0;

	if (!feed) {
		feed = calloc(1, sizeof(*feed));
		if (!feed)
			return err_set_errno(err, -ENOMEM, "cannot read task %d", lane->task->tid);
		ret = open_feed(lane->pipe, feed, false, err);
		lane->own_feed = feed;
		if (ret == 0)
			feed->queues[lane->task->index].is_wanted = true;
	} else if (feed->complete_ns == UINT64_MAX) {
		return 0;
	} else {
		queue_drop(lane->queued.queue, lane->queued.at);
		lane->queued.at = 0;
	}
	if (ret == 0)
		ret = merger_fill(feed, lane->pipe->window_bytes, err);
	lane_attach(lane, feed);
	return ret < 0 ? ret : 1;
}

void lane_end_stream(struct lane *lane)
{
	if (!lane->own_feed)
		return;
	lane_attach(lane, NULL);
	merger_close(lane->own_feed);
	free(lane->own_feed);
	lane->own_feed = NULL;
}

/* --- merged by time --- */

/*
 * Events that the lane has taken are still in the queue, because the queue owns their payloads. If
 * an event in lane->events waits for the merge, keep the taken events. If no event waits, drop the
 * taken events. If the lane is finished and lane->events is NULL, drop all events of the queue.
 */
static void drop_taken(struct merger *feed, struct lane *lane)
{
	size_t index = lane->task->index;
	struct queue *queue = index < feed->nr_queues ? &feed->queues[index] : NULL;

	if (!queue)
		return;
	if (lane->state == LANE_FINISHED && !lane->events) {
		queue->is_wanted = false;
		queue_drop(queue, queue->nr);
		lane->queued.at = 0;
	} else if (lane->at == lane->nr) {
		queue_drop(queue, lane->queued.at);
		lane->queued.at = 0;
	} else {
		queue->nr_taken = lane->queued.at;
	}
}

int pipeline_next_window(struct pipeline *pipe, struct uft_err *err)
{
	struct merger *feed = &pipe->feed;
	int ret = merger_is_open(feed) ? 0 : open_feed(pipe, feed, false, err);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < pipe->nr_lanes; i++) {
		drop_taken(feed, &pipe->lanes[i]);
		if (pipe->lanes[i].state != LANE_FINISHED)
			feed->queues[pipe->lanes[i].task->index].is_wanted = true;
	}
	ret = merger_fill(feed, pipe->window_bytes, err);
	for (size_t i = 0; ret >= 0 && i < pipe->nr_lanes; i++)
		lane_attach(&pipe->lanes[i], feed);
	return ret;
}

/* --- windows of time: in each window, one task after the other --- */

/*
 * Choose the lanes to run in windows of time. If all events fit into memory, or if there are no
 * calls of kernel functions, choose no lane and return false.
 */
static bool choose_windows(struct pipeline *pipe)
{
	uint64_t bytes = 0;
	uint64_t nr_calls = 0;

	for (size_t i = 0; i < pipe->nr_lanes; i++) {
		bytes += lane_cost(pipe, &pipe->lanes[i]);
		if (pipe->surveys)
			nr_calls += pipe->surveys[pipe->lanes[i].task->index].nr_calls;
	}
	if (!nr_calls || bytes <= pipe->held_bytes)
		return false;
	for (size_t i = 0; i < pipe->nr_lanes; i++)
		pipe->lanes[i].in_windows = lane_cost(pipe, &pipe->lanes[i]);
	return true;
}

/* Pass on the lane's events up to the end of the window. */
static int run_window(struct lane *lane, const struct view *view, struct uft_err *err)
{
	uint64_t first_ns = MIN(lane->task->first_ns, lane_next_other_ns(lane));
	int ret;

	if (!lane->batch && first_ns != UINT64_MAX && first_ns > lane_limit_ns(lane))
		return 0;
	ret = lane_run(lane, view, err);
	/* Many lanes use the same memory, one after the other. */
	if (lane->pipe->event_blocks.base)
		lane_release_events(lane);
	return ret;
}

int pipeline_run_windows(struct pipeline *pipe, const struct view *view, struct uft_err *err)
{
	bool is_stopped = false;
	int more = 1;
	int ret = 0;

	if (!view->in_parts || !choose_windows(pipe))
		return 0;
	pipe->runs_windows = true;
	/* The window after a stop request is the last one: it ends all lanes. */
	while (ret == 0 && more > 0 && !is_stopped) {
		is_stopped = atomic_load_explicit(&pipe->is_stopped, memory_order_relaxed);
		more = pipeline_next_window(pipe, err);
		ret = MIN(more, 0);
		for (size_t i = 0; ret == 0 && i < pipe->nr_lanes; i++) {
			if (pipe->lanes[i].in_windows)
				ret = run_window(&pipe->lanes[i], view, err);
		}
	}
	pipeline_drop_group(pipe, 0, pipe->nr_lanes);
	return ret;
}
