/* Opens a recording and runs it as a stream of events (see pipeline.h). */
#include "utils/pipeline/pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "utils/pipeline/kinds/event_kind.h"
#include "utils/pipeline/forks.h"
#include "utils/pipeline/sources/seek.h"
#include "utils/pipeline/sources/seek_opened.h"
#include "utils/pipeline/sources/src_extern.h"

/* The memory for the batches of all lanes together. Each lane gets at least LEAST_BATCH events. */
#define EVENTS_BYTES  (14UL << 20)
#define LEAST_BATCH   32
/* The memory for queued events: window_bytes and held_bytes of struct pipeline. */
#define WINDOW_BYTES  (2UL << 20)
#define HELD_BYTES    (24UL << 20)
/* With this number of lanes or more, the lanes take their buffers from pools (struct blocks). */
#define MANY_LANES    32
/* In a growing recording, each lane has a batch of EVENTS_BYTES / GROWING_TASKS bytes. */
#define GROWING_TASKS 64

void pipeline_config_init(struct pipeline_config *config)
{
	*config = (struct pipeline_config){ .order = PIPELINE_BY_TIME };
	stage_config_init(&config->stages);
}

bool pipeline_selects(const struct pipeline_config *config, const struct task *task)
{
	for (size_t i = 0; i < config->nr_tids; i++) {
		if (config->tids[i] == task->tid)
			return true;
	}
	return config->nr_tids == 0;
}

/* True when an ENTRY is held back until later events decide whether the call is shown. */
static bool holds_back(const struct pipeline *pipe)
{
	if (!pipe->is_filtered)
		return pipe->config.stages.time_filter_ns;
	return pipe->filter.base.threshold_ns ||
	       (pipe->filter.uses & (TRIGGER_TIME | TRIGGER_CALLER));
}

int lane_open(struct lane *lane, struct pipeline *pipe, struct task *task,
	      const struct src_user_plan *plan, struct uft_err *err)
{
	const struct stage_config *stages = &pipe->config.stages;

	*lane = (struct lane){
		.pipe = pipe,
		.task = task,
		.calls = { .config = stages, .task = task, .pseudo = &pipe->pseudo },
		.in_kernel = { .config = stages },
		.time = { .threshold_ns = stages->time_filter_ns },
	};
	lane->time.has_own_thresholds = pipe->is_filtered;
	if (pipe->is_filtered)
		stg_filter_init(&lane->filter, &pipe->filter, task->index);
	stg_indent_init(&lane->indent, &lane->calls, &lane->filter);
	lane->indent.drops_off = pipe->is_filtered;
	lane->indent.starts_at_margin = pipe->filter.uses & (TRIGGER_FILTER | TRIGGER_CALLER);
	lane->indent.drops_margin = !stages->show_outside &&
				    (stages->size_filter || pipe->filter.base.size ||
				     (pipe->filter.uses & TRIGGER_SIZE));
	lane->holds_back = holds_back(pipe) && stages->wants != STAGE_WANTS_ENDS;

	int ret = src_user_open(&lane->user, pipe->data, task->tid, plan, err);

	if (ret == 0 && task->index < pipe->nr_at_fork &&
	    stg_filter_inherit(&lane->filter, &pipe->at_fork[task->index], task) < 0)
		ret = err_set_errno(err, -ENOMEM, "cannot filter calls");
	/*
	 * A task without records is at its end. If the recording grows, the task may get records
	 * later.
	 */
	lane->user.at_end = !task->data_bytes;
	return ret;
}

void lane_close(struct lane *lane)
{
	lane_end_stream(lane);
	source_close(&lane->user.source);
	stg_time_deinit(&lane->time);
	stg_calls_deinit(&lane->calls);
	kernel_calls_deinit(&lane->kernel);
	stg_filter_deinit(&lane->filter);
	opened_deinit(&lane->opened);
	lane_release(lane);
}

/* Take over a file that find_first_time() has left open. Returns -1 if the file was closed. */
static int take_open_fd(struct pipeline *pipe, size_t task_index)
{
	int fd = task_index < pipe->nr_open_fds ? pipe->open_fds[task_index] : -1;

	if (fd >= 0)
		pipe->open_fds[task_index] = -1;
	return fd;
}

static void close_open_fds(struct pipeline *pipe)
{
	for (size_t i = 0; i < pipe->nr_open_fds; i++) {
		if (pipe->open_fds[i] >= 0)
			close(pipe->open_fds[i]);
	}
	free(pipe->open_fds);
	pipe->open_fds = NULL;
	pipe->nr_open_fds = 0;
}

static void keep_open_fd(struct pipeline *pipe, struct src_user *src)
{
	size_t nr = pipe->data->nr_tasks;
	size_t index = src->source.task->index;

	if (!pipe->open_fds && !pipe->data->growth) {
		pipe->open_fds = malloc(nr * sizeof(*pipe->open_fds));
		pipe->nr_open_fds = pipe->open_fds ? nr : 0;
		for (size_t i = 0; i < pipe->nr_open_fds; i++)
			pipe->open_fds[i] = -1;
	}
	if (index < pipe->nr_open_fds && pipe->open_fds[index] < 0 &&
	    pipeline_selects(&pipe->config, src->source.task))
		pipe->open_fds[index] = src_user_take_fd(src);
}

/*
 * Skip the records before the time range, unless these records are needed to find the calls that
 * are open when the range begins. The records are needed in three cases:
 *
 * - The task has calls of kernel functions.
 * - opens_inherited is set, and opens_at_start is not set.
 * - opens_at_start is set, and either the file is plain, or the file is compact and seek_opened()
 *   fails.
 */
static void seek_start(struct lane *lane)
{
	const struct pipeline *pipe = lane->pipe;
	const struct stage_config *stages = &pipe->config.stages;
	bool has_kernel_calls = pipe->surveys && pipe->surveys[lane->task->index].nr_calls;

	if (!pipe->start_ns || has_kernel_calls ||
	    (stages->opens_at_start && !lane->user.compact) ||
	    (stages->opens_inherited && !stages->opens_at_start) ||
	    !seek_time(&lane->user, pipe->start_ns) || !stages->opens_at_start)
		return;
	if (seek_opened(&lane->user, &lane->opened))
		lane->has_begun = true;
	else
		src_user_limit(&lane->user, 0, lane->task->data_bytes, 0);
}

static int open_lanes(struct pipeline *pipe, struct uft_err *err)
{
	struct trace_data *data = pipe->data;
	size_t nr = 0;

	for (size_t i = 0; i < data->nr_tasks; i++)
		nr += pipeline_has_lane(pipe, &data->tasks[i]);

	struct src_user_plan plan = pipeline_plan(pipe, nr);
	size_t batch = EVENTS_BYTES / sizeof(struct event) / (nr ? nr : 1);

	pipe->batch = MAX(MIN(batch, (size_t)EVENT_BATCH), (size_t)LEAST_BATCH);
	pipe->lanes = calloc(nr ? nr : 1, sizeof(*pipe->lanes));
	if (!pipe->lanes)
		return err_set_errno(err, -ENOMEM, "cannot read %zu tasks", nr);
	if (nr >= MANY_LANES) {
		/* If memory for a pool is short, malloc(3) is used. */
		blocks_init(&pipe->event_blocks, 2 * nr, pipe->batch * sizeof(struct event));
		blocks_init(&pipe->buffer_blocks, nr, plan.buffer_bytes);
		plan.blocks = &pipe->buffer_blocks;
	}
	for (size_t i = 0; i < data->nr_tasks; i++) {
		struct task *task = &data->tasks[i];

		if (!pipeline_has_lane(pipe, task))
			continue;

		struct lane *lane = &pipe->lanes[pipe->nr_lanes++];
		int ret = lane_open(lane, pipe, task, &plan, err);

		if (ret < 0)
			return ret;
		lane->user.fd = take_open_fd(pipe, i);
		lane->user.end_offset = task->data_bytes;
		seek_start(lane);
	}
	return 0;
}

/* Returns the time of a task's first event outside of its <tid>.dat, or UINT64_MAX. */
static uint64_t first_in_survey(const struct pipeline *pipe, size_t task)
{
	return pipe->surveys ? pipe->surveys[task].first_ns : UINT64_MAX;
}

/*
 * Find the time of each task's first record, and the earliest of these times. A task whose file is
 * damaged gets the time 0.
 */
static int find_first_time(struct pipeline *pipe, struct uft_err *err)
{
	struct src_user_plan plan = {
		.buffer_bytes = SRC_USER_MIN_BUFFER,
		.keeps_open = pipeline_plan(pipe, pipe->data->nr_tasks).keeps_open,
	};
	uint64_t first_other_ns = UINT64_MAX;
	bool has_losses = false;

	pipe->first_ns = UINT64_MAX;
	for (size_t i = 0; i < pipe->data->nr_tasks; i++) {
		struct task *task = &pipe->data->tasks[i];
		struct src_user src;
		struct event event;

		task->first_ns = 0;
		if (!task->data_bytes) {
			task->first_ns = UINT64_MAX;
			first_other_ns = MIN(first_other_ns, first_in_survey(pipe, i));
			continue;
		}

		int ret = src_user_open(&src, pipe->data, task->tid, &plan, err);

		if (ret < 0)
			return ret;
		/* Damage is reported later, when the file is read for the view. */
		if (src_user_read(&src, &event, 1, UINT64_MAX, NULL) == 1) {
			task->first_ns = event.time_ns;
			/* If all records of a file are losses, its first record has no time. */
			if (event.type == EVENT_LOST && !event.time_ns) {
				has_losses = true;
				first_other_ns = MIN(first_other_ns, first_in_survey(pipe, i));
			} else {
				pipe->first_ns = MIN(pipe->first_ns, event.time_ns);
			}
			keep_open_fd(pipe, &src);
		}
		src_user_close(&src);
	}
	/*
	 * If no <tid>.dat has a record with a time, take the earliest time from the recording's
	 * other files.
	 */
	if (pipe->first_ns == UINT64_MAX)
		pipe->first_ns = first_other_ns == UINT64_MAX && has_losses ? 0 : first_other_ns;
	return 0;
}

uint64_t pipeline_first_record_ns(const struct pipeline *pipe)
{
	uint64_t first_ns = UINT64_MAX;

	/* A task whose records are all losses has no time: its first_ns is 0. */
	for (size_t i = 0; i < pipe->data->nr_tasks; i++) {
		if (pipe->data->tasks[i].first_ns)
			first_ns = MIN(first_ns, pipe->data->tasks[i].first_ns);
	}
	return first_ns == UINT64_MAX ? pipe->first_ns : first_ns;
}

/*
 * Find the task's first return to a CPU, in the events of @queue up to @known_ns. A lane may remove
 * the SCHED_OUT from the queue before the SCHED_IN arrives. So queue->is_off stores that there was
 * a SCHED_OUT.
 */
static void look_for_return(struct queue *queue, uint64_t known_ns)
{
	for (size_t i = 0; i < queue->nr && !queue->back_ns; i++) {
		const struct queued *event = &queue->events[i];

		if (event->time_ns > known_ns)
			break;
		if (event->time_ns < queue->looked_ns || event->type <= EVENT_EXIT ||
		    (event->type == EVENT_POINT && event_id_is_of_kernel(event->addr)))
			continue;
		if (event->type == EVENT_SCHED_IN && queue->is_off)
			queue->back_ns = event->time_ns;
		queue->is_off = event->type == EVENT_SCHED_OUT;
		queue->looked_ns = event->time_ns;
	}
}

/*
 * Called when there is no time range. Sets pipe->first_ns, the time at which the field "elapsed" is
 * 0. As in uftrace, this is the time of the earliest of three events: the first record, the first
 * return of a task to a CPU, and the first call of a kernel function. In a growing recording, calls
 * of kernel functions are ignored.
 */
static void note_first_sched(struct pipeline *pipe)
{
	for (size_t i = 0; pipe->surveys && i < pipe->data->nr_tasks; i++)
		pipe->first_ns = MIN(pipe->first_ns, MIN(pipe->surveys[i].first_back_ns,
							 pipe->surveys[i].first_call_ns));
	for (size_t i = 0; !pipe->surveys && i < pipe->feed.nr_queues; i++) {
		struct queue *queue = &pipe->feed.queues[i];

		look_for_return(queue, pipe->known_ns);
		if (queue->back_ns)
			pipe->first_ns = MIN(pipe->first_ns, queue->back_ns);
	}
}

/* Actions that change which events are shown. */
#define STAGE_ACTIONS                                                                           \
	(TRIGGER_FILTER | TRIGGER_NOTRACE | TRIGGER_DEPTH | TRIGGER_TIME | TRIGGER_SIZE |       \
	 TRIGGER_CALLER | TRIGGER_HIDE | TRIGGER_TRACE | TRIGGER_TRACE_ON | TRIGGER_TRACE_OFF | \
	 TRIGGER_BACKTRACE | TRIGGER_LOCATIONS)

/*
 * Prepare stg_filter if the options need this stage. stg_filter then applies the limits of time,
 * size and depth, so these settings of the other stages are reset.
 */
static int prepare_filter(struct pipeline *pipe, struct uft_err *err)
{
	struct stage_config *stages = &pipe->config.stages;
	struct call_filter *filter = &pipe->filter;
	int ret = func_rules_init(&filter->rules, pipe->data, stages->filters, stages->actions,
				  err);

	if (ret < 0)
		return ret;
	filter->uses = filter->rules.uses;
	filter->data = pipe->data;
	/*
	 * Some calls do not count in the depth: those of small functions (--size-filter), and those
	 * that were open when the task began. Only stg_filter counts depth in this way.
	 */
	pipe->is_filtered = (filter->uses & STAGE_ACTIONS) ||
			    ((stages->size_filter || stages->opens_inherited) &&
			     stages->depth != UINT32_MAX);
	if (!pipe->is_filtered)
		return 0;
	filter->base = (struct selection){
		.threshold_ns = stages->time_filter_ns,
		.size = stages->size_filter,
		.depth = stages->depth,
	};
	filter->starts_off = stages->is_off;
	filter->wants_cpus = stages->wants_cpus;
	filter->ends_only = stages->wants == STAGE_WANTS_ENDS;
	filter->hides_libcalls = !stages->show_libcalls;
	filter->counts_off = stages->wants == STAGE_WANTS_DEPTHS;
	filter->wants_paths = (filter->uses & TRIGGER_BACKTRACE) &&
			      stages->wants != STAGE_WANTS_ENDS &&
			      pipe->config.order == PIPELINE_BY_TIME;
	stages->time_filter_ns = 0;
	stages->size_filter = 0;
	stages->depth = UINT32_MAX;
	stages->is_off = false;
	if (filter->uses & (TRIGGER_CALLER | TRIGGER_LOCATIONS))
		stages->sched = STAGE_SCHED_NONE;
	return 0;
}

static void close_lanes(struct pipeline *pipe)
{
	for (size_t i = 0; i < pipe->nr_lanes; i++)
		lane_close(&pipe->lanes[i]);
	free(pipe->lanes);
	pipe->lanes = NULL;
	pipe->nr_lanes = 0;
	blocks_deinit(&pipe->event_blocks);
	blocks_deinit(&pipe->buffer_blocks);
}

static bool has_retval_condition(const struct filters *filters)
{
	for (size_t i = 0; filters && i < filters->nr; i++) {
		if (argcond_needs_retval(&filters->entries[i].spec.cond))
			return true;
	}
	return false;
}

static int run_by_task(struct pipeline *pipe, const struct view *view, struct uft_err *err)
{
	size_t first = 0;
	int ret = pipeline_run_windows(pipe, view, err);

	while (ret == 0 && first < pipe->nr_lanes) {
		ssize_t end = pipeline_load_group(pipe, first, err);

		if (end < 0)
			return end;
		for (size_t i = first; ret == 0 && i < (size_t)end; i++)
			ret = lane_run(&pipe->lanes[i], view, err);
		pipeline_drop_group(pipe, first, end);
		first = end;
	}
	return ret;
}

static int see_nothing(void *self, const struct event_span *span, struct uft_err *err)
{
	return 0;
}

/*
 * If trace_on or trace_off is used, or if a condition needs a return value, read the chosen tasks
 * in advance, in the chosen time range. The trace_on or trace_off of one task applies to all tasks.
 * Before the first event is shown, the pipeline must know each trace_on, each trace_off, and the
 * result of each condition.
 */
static int look_ahead(struct pipeline *pipe, struct uft_err *err)
{
	if (!pipe->is_filtered)
		return 0;
	if (!(pipe->filter.uses & (TRIGGER_TRACE_ON | TRIGGER_TRACE_OFF)) &&
	    !has_retval_condition(pipe->config.stages.filters))
		return 0;
	pipe->filter.outcomes = calloc(pipe->data->nr_tasks + 1, sizeof(*pipe->filter.outcomes));
	if (!pipe->filter.outcomes)
		return err_set_errno(err, -ENOMEM, "cannot filter calls");
	pipe->filter.nr_outcomes = pipe->data->nr_tasks;
	pipe->filter.collects = true;

	const struct view view = { .events = see_nothing };
	int ret = open_lanes(pipe, err);

	if (ret == 0)
		ret = run_by_task(pipe, &view, err);
	close_lanes(pipe);
	atomic_store(&pipe->has_shown, false);
	call_filter_sort_switches(&pipe->filter);
	return ret;
}

/*
 * Returns the latest time of a record of any task. If no task has records, returns the latest time
 * of an event.
 */
static uint64_t find_last_time(const struct pipeline *pipe)
{
	struct trace_data *data = pipe->data;
	uint64_t last_ns = 0;
	uint64_t last_other_ns = 0;

	for (size_t i = 0; i < data->nr_tasks; i++) {
		if (data->tasks[i].data_bytes)
			last_ns = MAX(last_ns, seek_last_ns(data, &data->tasks[i]));
		else if (pipe->surveys)
			last_other_ns = MAX(last_other_ns, pipe->surveys[i].last_ns);
	}
	return last_ns ? last_ns : last_other_ns;
}

static uint64_t edge_time(const struct pipeline *pipe, const struct range_edge *edge, uint64_t open)
{
	uint64_t first_ns = pipe->first_ns;

	if (!edge->is_set)
		return open;
	if (edge->is_from_end) {
		uint64_t last_ns = find_last_time(pipe);

		return last_ns - MIN(last_ns, edge->time_ns);
	}
	if (!edge->is_elapsed)
		return edge->time_ns;
	return edge->time_ns > UINT64_MAX - first_ns ? UINT64_MAX : first_ns + edge->time_ns;
}

int pipeline_find_start(struct pipeline *pipe, struct uft_err *err)
{
	const struct time_range *range = &pipe->config.range;
	int ret = find_first_time(pipe, err);

	if (ret < 0)
		return ret;
	pipe->start_ns = edge_time(pipe, &range->start, 0);
	pipe->stop_ns = edge_time(pipe, &range->stop, UINT64_MAX);
	if (!time_range_is_set(range))
		note_first_sched(pipe);
	return 0;
}

/* Open a growing recording, without lanes. The lane of a task is opened when the task appears. */
static int open_growing(struct pipeline *pipe, struct uft_err *err)
{
	int ret = prepare_filter(pipe, err);

	if (ret == 0 && (pipe->filter.uses & (TRIGGER_TRACE_ON | TRIGGER_TRACE_OFF)))
		return err_set(err, -ERR_USAGE,
			       "cannot follow a recording with trace_on or trace_off: their effect "
			       "is known only at the end");
	/*
	 * Conditions on return values need the results that look_ahead() collects. For a growing
	 * recording, look_ahead() is not called, so these conditions are refused.
	 */
	if (ret == 0 && pipe->is_filtered && has_retval_condition(pipe->config.stages.filters))
		return err_set(err, -ERR_USAGE,
			       "cannot follow a recording with a condition on a return value: a "
			       "call must be shown before it ends");
	if (ret == 0 && pipe->config.range.start.is_from_end)
		return err_set(err, -ERR_USAGE,
			       "cannot follow a recording with --last: its end is not known yet");
	pipe->limit_ns = 0;
	pipe->first_ns = UINT64_MAX;
	pipe->batch = EVENTS_BYTES / sizeof(struct event) / GROWING_TASKS;
	return ret;
}

static int open_all(struct pipeline *pipe, struct uft_err *err)
{
	struct module_set *modules = &pipe->data->modules;

	pipe->pseudo.sched = module_set_add_func(modules, "linux:schedule");
	pipe->pseudo.sched_preempt = module_set_add_func(modules, "linux:schedule (pre-empted)");
	if (!pipe->pseudo.sched || !pipe->pseudo.sched_preempt)
		return err_set_errno(err, -ENOMEM, "cannot read '%s'", pipe->data->dir);

	struct stage_config *stages = &pipe->config.stages;

	/*
	 * The time filter must keep a short call if an event is in the call. With STAGE_WANTS_ENDS,
	 * a short call is dropped at its end. At that time, no stage knows whether an event was in
	 * the call. So STAGE_WANTS_CALLS is set: stg_time() holds an entry back until the call has
	 * lasted long enough, or until an event in the call arrives. With STAGE_WANTS_CALLS, a
	 * view (struct view) gets entries in addition to ends.
	 */
	if ((pipe->data->header.feat_mask & FEAT_EVENT) && stages->wants == STAGE_WANTS_ENDS &&
	    (stages->time_filter_ns || (stages->filters && stages->filters->nr)))
		stages->wants = STAGE_WANTS_CALLS;

	int ret = pipe->data->growth ? pipeline_open_feed(pipe, err) : pipeline_survey(pipe, err);

	/*
	 * The sources were opened above, and have read the types of the kernel's events.
	 * event_choice_make() needs these types.
	 */
	if (ret == 0)
		ret = event_choice_make(&pipe->choice, stages->events, pipe->data, err);
	if (pipe->choice.rules)
		stages->choice = &pipe->choice;
	if (ret == 0 && pipe->config.reads_extern && stages->show_events &&
	    (!stages->choice || stages->choice->has_extern))
		ret = src_extern_open(pipe->data, &pipe->ext, err);
	stages->starts_inside = pipe->config.range.start.is_set;
	if (ret == 0 && pipe->data->growth)
		return open_growing(pipe, err);
	if (ret == 0)
		ret = pipeline_find_start(pipe, err);
	if (ret == 0)
		ret = prepare_filter(pipe, err);
	if (ret == 0)
		ret = look_ahead(pipe, err);
	if (ret == 0)
		ret = forks_find(pipe, err);
	if (ret == 0)
		ret = open_lanes(pipe, err);
	close_open_fds(pipe);
	return ret;
}

int pipeline_open(struct pipeline *pipe, struct trace_data *data,
		  const struct pipeline_config *config, struct uft_err *err)
{
	*pipe = (struct pipeline){
		.data = data,
		.config = *config,
		.limit_ns = UINT64_MAX,
		.window_bytes = WINDOW_BYTES,
		.held_bytes = HELD_BYTES,
	};

	int ret = open_all(pipe, err);

	if (ret < 0)
		pipeline_close(pipe);
	return ret;
}

void pipeline_close(struct pipeline *pipe)
{
	close_lanes(pipe);
	close_open_fds(pipe);
	forks_forget(pipe);
	call_filter_deinit(&pipe->filter);
	merger_close(&pipe->feed);
	if (pipe->ext)
		source_close(pipe->ext);
	free(pipe->surveys);
	free(pipe->kinds);
	event_choice_deinit(&pipe->choice);
	*pipe = (struct pipeline){ 0 };
}

/* Run the merge once for each window of time. Most recordings have only one window. */
static int run_by_time(struct pipeline *pipe, const struct view *view, struct uft_err *err)
{
	bool is_stopped = false;
	int more = 1;
	int ret = 0;

	/*
	 * After a stop request, the merge runs once more, for the next window. This last run ends
	 * all lanes.
	 */
	while (ret == 0 && more > 0 && !is_stopped) {
		is_stopped = atomic_load_explicit(&pipe->is_stopped, memory_order_relaxed);
		more = pipeline_next_window(pipe, err);
		ret = more < 0 ? more : merge_run(pipe, view, err);
	}
	pipeline_drop_group(pipe, 0, pipe->nr_lanes);
	return ret;
}

int pipeline_run(struct pipeline *pipe, const struct view *view, struct uft_err *err)
{
	if (pipe->config.order == PIPELINE_BY_TASK)
		return run_by_task(pipe, view, err);
	return run_by_time(pipe, view, err);
}
