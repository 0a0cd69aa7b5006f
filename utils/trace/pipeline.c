/* A recording as a stream of events: opening and running it (see pipeline.h). */
#include "utils/trace/pipeline.h"

#include <errno.h>
#include <stdlib.h>

/*
 * For the events of all lanes together, before there are so many that each gets the least: the
 * merge jumps between them, so they should stay in the second level cache.
 */
#define EVENTS_BYTES (1UL << 20)
#define LEAST_BATCH  32

void pipeline_config_init(struct pipeline_config *config)
{
	*config = (struct pipeline_config){ .order = PIPELINE_BY_TIME };
	stage_config_init(&config->stages);
}

static bool is_selected(const struct pipeline_config *config, const struct task *task)
{
	for (size_t i = 0; i < config->nr_tids; i++) {
		if (config->tids[i] == task->tid)
			return true;
	}
	return config->nr_tids == 0;
}

static int lane_open(struct lane *lane, struct pipeline *pipe, struct task *task,
		     const struct src_user_plan *plan, struct uft_err *err)
{
	const struct stage_config *stages = &pipe->config.stages;

	*lane = (struct lane){
		.pipe = pipe,
		.task = task,
		.perf = pipe->perf.nr_queues ? &pipe->perf.queues[task->index] : NULL,
		.calls = { .config = stages, .task = task, .pseudo = &pipe->pseudo },
		.time = { .threshold_ns = stages->time_filter_ns },
		.cap = pipe->batch,
	};
	stg_indent_init(&lane->indent, &lane->calls);
	lane->events = calloc(pipe->batch, sizeof(*lane->events));
	bool has_filter = stages->time_filter_ns && !stages->ends_only;

	if (has_filter)
		lane->raw = calloc(pipe->batch, sizeof(*lane->raw));
	if (!lane->events || (has_filter && !lane->raw))
		return err_set_errno(err, -ENOMEM, "cannot read task %d", task->tid);
	return src_user_open(&lane->user, pipe->data, task->tid, plan, err);
}

static void lane_close(struct lane *lane)
{
	src_user_close(&lane->user);
	stg_time_deinit(&lane->time);
	stg_calls_deinit(&lane->calls);
	free(lane->events);
	free(lane->raw);
}

static int open_lanes(struct pipeline *pipe, struct uft_err *err)
{
	struct trace_data *data = pipe->data;
	size_t nr = 0;

	for (size_t i = 0; i < data->nr_tasks; i++)
		nr += data->tasks[i].data_bytes && is_selected(&pipe->config, &data->tasks[i]);

	struct src_user_plan plan = src_user_plan(nr);
	size_t batch = EVENTS_BYTES / sizeof(struct event) / (nr ? nr : 1);

	pipe->batch = MAX(MIN(batch, (size_t)EVENT_BATCH), (size_t)LEAST_BATCH);
	pipe->lanes = calloc(nr ? nr : 1, sizeof(*pipe->lanes));
	if (!pipe->lanes)
		return err_set_errno(err, -ENOMEM, "cannot read %zu tasks", nr);
	for (size_t i = 0; i < data->nr_tasks; i++) {
		struct task *task = &data->tasks[i];

		if (!task->data_bytes || !is_selected(&pipe->config, task))
			continue;

		int ret = lane_open(&pipe->lanes[pipe->nr_lanes++], pipe, task, &plan, err);

		if (ret < 0)
			return ret;
	}
	return 0;
}

/* The first record of each file, whoever is selected. */
static int find_first_time(struct pipeline *pipe, struct uft_err *err)
{
	struct src_user_plan plan = { .buffer_bytes = SRC_USER_MIN_BUFFER };

	pipe->first_ns = UINT64_MAX;
	for (size_t i = 0; i < pipe->data->nr_tasks; i++) {
		const struct task *task = &pipe->data->tasks[i];
		struct src_user src;
		struct event event;

		if (!task->data_bytes)
			continue;

		int ret = src_user_open(&src, pipe->data, task->tid, &plan, err);

		if (ret < 0)
			return ret;
		/* Damage is told when the file is really read. */
		if (src_user_read(&src, &event, 1, UINT64_MAX, NULL) == 1)
			pipe->first_ns = MIN(pipe->first_ns, event.time_ns);
		src_user_close(&src);
	}
	return 0;
}

/*
 * What "elapsed" counts from: the first record. Where events are kept, the end of the first time
 * off the CPU counts too, as with the peer; a range counts from records only.
 */
static void note_first_sched(struct pipeline *pipe)
{
	for (size_t i = 0; i < pipe->perf.nr_queues; i++) {
		const struct perf_queue *queue = &pipe->perf.queues[i];
		bool is_out = false;

		for (size_t k = 0; k < queue->nr; k++) {
			const struct perf_event *event = &queue->events[k];

			if (event->time_ns >= pipe->first_ns)
				break;
			if (event->id == EVENT_ID_SCHED_IN && is_out)
				pipe->first_ns = event->time_ns;
			is_out = event->id == EVENT_ID_SCHED_OUT ||
				 event->id == EVENT_ID_SCHED_OUT_PREEMPT;
		}
	}
}

static uint64_t edge_time(const struct range_edge *edge, uint64_t first_ns, uint64_t open)
{
	if (!edge->is_set)
		return open;
	if (!edge->is_elapsed)
		return edge->time_ns;
	return edge->time_ns > UINT64_MAX - first_ns ? UINT64_MAX : first_ns + edge->time_ns;
}

static int open_all(struct pipeline *pipe, struct uft_err *err)
{
	struct module_set *modules = &pipe->data->modules;
	const struct time_range *range = &pipe->config.range;

	pipe->pseudo.sched = module_set_add_func(modules, "linux:schedule");
	pipe->pseudo.sched_preempt = module_set_add_func(modules, "linux:schedule (pre-empted)");
	if (!pipe->pseudo.sched || !pipe->pseudo.sched_preempt)
		return err_set_errno(err, -ENOMEM, "cannot read '%s'", pipe->data->dir);

	int ret = src_perf_load(&pipe->perf, pipe->data, err);

	if (ret == 0 && pipe->config.reads_extern && pipe->config.stages.show_events)
		ret = src_extern_load(&pipe->ext, pipe->data, err);
	if (ret == 0)
		ret = find_first_time(pipe, err);
	if (ret < 0)
		return ret;
	pipe->start_ns = edge_time(&range->start, pipe->first_ns, 0);
	pipe->config.stages.starts_inside = range->start.is_set;
	pipe->stop_ns = edge_time(&range->stop, pipe->first_ns, UINT64_MAX);
	if (!range->start.is_set && !range->stop.is_set)
		note_first_sched(pipe);
	return open_lanes(pipe, err);
}

int pipeline_open(struct pipeline *pipe, struct trace_data *data,
		  const struct pipeline_config *config, struct uft_err *err)
{
	*pipe = (struct pipeline){ .data = data, .config = *config };

	int ret = open_all(pipe, err);

	if (ret < 0)
		pipeline_close(pipe);
	return ret;
}

void pipeline_close(struct pipeline *pipe)
{
	for (size_t i = 0; i < pipe->nr_lanes; i++)
		lane_close(&pipe->lanes[i]);
	free(pipe->lanes);
	src_perf_deinit(&pipe->perf);
	src_extern_deinit(&pipe->ext);
	*pipe = (struct pipeline){ 0 };
}

static int run_by_task(struct pipeline *pipe, const struct view *view, struct uft_err *err)
{
	for (size_t i = 0; i < pipe->nr_lanes; i++) {
		struct lane *lane = &pipe->lanes[i];
		int ret;

		while ((ret = lane_fill(lane, err)) > 0) {
			struct event_span span = { lane->task, lane->events, lane->nr };

			ret = view->events(view->self, &span, err);
			if (ret < 0)
				break;
		}
		if (ret < 0)
			return ret;
	}
	return 0;
}

int pipeline_run(struct pipeline *pipe, const struct view *view, struct uft_err *err)
{
	if (pipe->config.order == PIPELINE_BY_TASK)
		return run_by_task(pipe, view, err);
	return merge_run(pipe, view, err);
}
