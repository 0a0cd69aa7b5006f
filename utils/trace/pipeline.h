/* A recording as a stream of events: sources, stages, merge, and the view at its end. */
#ifndef UTRAIL_TRACE_PIPELINE_H
#define UTRAIL_TRACE_PIPELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/blocks.h"
#include "utils/base/err.h"
#include "utils/spec/range.h"
#include "utils/trace/event.h"
#include "utils/trace/opened.h"
#include "utils/trace/src_extern.h"
#include "utils/trace/src_kernel.h"
#include "utils/trace/src_perf.h"
#include "utils/trace/src_user.h"
#include "utils/trace/stage.h"
#include "utils/trace/stg_filter.h"

/*
 *   <tid>.dat  src_user \
 *   perf-cpu*  src_perf  |
 *   kernel-*   src_kernel > stg_calls > stg_filter > stg_select > stg_time > stg_indent \
 *                        one lane per task                                  > merge > view
 *   extern.dat src_extern                                                  /
 *
 * What src_kernel reads is in the queues of src_perf.
 */

enum pipeline_order {
	PIPELINE_BY_TIME, /* all tasks merged; ties in the order of their ids */
	PIPELINE_BY_TASK, /* one task after the other: for views that only add up */
};

/* @tids: only these tasks, when there are any; @range: only what happened in it */
struct pipeline_config {
	struct stage_config stages;
	struct time_range range;
	const int *tids;
	size_t nr_tids;
	enum pipeline_order order;
	bool reads_extern;
};

void pipeline_config_init(struct pipeline_config *config);

/*
 * Where a view begins, mostly in the middle of a task: in these calls, of which it does not get the ENTRY; behind what
 * happened up to @last_ns. @is_start: it is the beginning of the task.
 */
struct view_resume {
	const struct task *task;
	const struct func *const *path;
	size_t nr_path;
	uint64_t last_ns;
	bool is_start;
};

/*
 * What gets the events: @events is called with events of one task in a row, valid during the
 * call only. A negative errno (with @err) ends the run.
 *
 * @mixed: events of several tasks that take turns, in order; the same as @events with each of them. NULL: only @events is called
 * @resume: what follows is a part of @at->task; other views of the same run get the others, or this one, in any order.
 *          NULL: the view wants whole tasks
 */
struct view {
	int (*events)(void *self, const struct event_span *span, struct uft_err *err);
	void *self;
	int (*resume)(void *self, const struct view_resume *at, struct uft_err *err);
	int (*mixed)(void *self, const struct task_event *events, size_t nr, struct uft_err *err);
};

/*
 * One task's source and stages.
 *
 * @events: [@at, @nr) have passed all stages and wait to be merged; NULL before the first and after the last batch, so that
 *          tasks which live one after the other use the same memory
 * @raw: as @events, before the duration filter, when the lane @holds_back calls
 * @perf_at, @perf_end: events of the scheduler and of the kernel that are still to come
 * @has_begun: with opens_inherited: the first record was read
 * @opened: with opens_at_start; @is_cut: the task goes on behind the range
 * @goes_on: at its end the task does not end, see split.h
 */
struct lane {
	struct pipeline *pipe;
	struct task *task;
	struct src_user user;
	const struct perf_queue *perf;
	size_t perf_at;
	size_t perf_end;
	struct stg_calls calls;
	struct stg_filter filter;
	struct stg_time time;
	struct stg_indent indent;
	struct opened opened;
	struct event *raw;
	struct event *events;
	size_t at;
	size_t nr;
	size_t cap;
	size_t batch; /* so many are read at a time; 0 before the first */
	bool holds_back;
	bool has_passed;      /* something was not too short */
	bool is_dry;	      /* of a recording that grows: that is all so far */
	uint64_t told_offset; /* of the file: what pipe->read_bytes has been told */
	bool at_end;	      /* of the sources */
	bool has_begun;
	bool is_cut;
	bool goes_on;
	bool is_finished; /* and what comes behind that is out */
};

/*
 * @start_ns, @stop_ns: the range in the recording's time
 * @first_ns: the first time of the recording, where "elapsed" counts from
 * @limit_ns: nothing later is read: UINT64_MAX, unless the recording grows
 * @has_late_entries: of one that grows: calls may be recorded later than what happens in them, so that the scheduler's
 *                    events must wait for the next record
 * @config: as given; what stg_filter does is taken out of it when @is_filtered
 * @broken: the first damaged file; the others were read on
 * @is_stopped: others may set it: the records end where they are now
 * @has_shown: something has passed all stages
 * @read_bytes: how much of them was read so far
 */
struct pipeline {
	struct trace_data *data;
	struct pipeline_config config;
	struct pseudo_funcs pseudo;
	struct src_perf perf;
	struct src_kernel kernel;
	struct src_extern ext;
	struct event_choice choice;
	struct call_filter filter;
	bool is_filtered; /* stg_filter is one of the stages */
	uint64_t start_ns;
	uint64_t stop_ns;
	uint64_t first_ns;
	uint64_t limit_ns;
	bool has_late_entries;
	size_t ext_at; /* in @ext: what was shown */
	size_t batch;
	int *open_fds; /* by index of tasks, between finding the first record and opening lanes */
	size_t nr_open_fds;
	struct blocks event_blocks;
	struct blocks buffer_blocks;
	struct lane *lanes;
	size_t nr_lanes;
	struct uft_err broken;
	atomic_bool is_stopped;
	atomic_bool has_shown;
	atomic_uint_fast64_t read_bytes;
};

/* Open the sources of @data, which must outlive the pipeline. */
int pipeline_open(struct pipeline *pipe, struct trace_data *data,
		  const struct pipeline_config *config, struct uft_err *err);
void pipeline_close(struct pipeline *pipe);
#define cleanup_pipeline cleanup(pipeline_close)

/*
 * Send all events through @view. A task whose file is damaged ends there, the others go on;
 * then pipe->broken holds what to say about it.
 */
int pipeline_run(struct pipeline *pipe, const struct view *view, struct uft_err *err);

/* The bytes of all files that it reads records from. */
uint64_t pipeline_bytes(const struct pipeline *pipe);

/*
 * For a recording that grows (data_open_growing()), in the place of pipeline_run() and as often as one likes: send what
 * happened up to @until_ns, which is complete, and is not less than the last time. UINT64_MAX is the end.
 */
int pipeline_follow(struct pipeline *pipe, uint64_t until_ns, const struct view *view,
		    struct uft_err *err);

/*
 * How many threads can share the work, at most @wanted: 1 where the order of tasks matters, and
 * where there is not much to do.
 */
size_t pipeline_threads(const struct pipeline *pipe, size_t wanted);

/*
 * The same with @nr threads and a view for each of them: each task goes to one of them, or, when
 * it is a large part of the work and the views can resume, in pieces to all. What the views have got is then brought together by the caller, in any order. @nr is not
 * more than pipeline_threads() said.
 */
int pipeline_run_parallel(struct pipeline *pipe, const struct view *views, size_t nr,
			  struct uft_err *err);

/* Parts of pipeline_open(), for pipeline_follow(): */
int lane_open(struct lane *lane, struct pipeline *pipe, struct task *task,
	      const struct src_user_plan *plan, struct uft_err *err);
bool pipeline_selects(const struct pipeline_config *config, const struct task *task);
int pipeline_find_start(struct pipeline *pipe, struct uft_err *err);

/* Send all events of one task through @view. */
int lane_run(struct lane *lane, const struct view *view, struct uft_err *err);

void lane_close(struct lane *lane);

/* At its end: give back what holds events. */
void lane_release(struct lane *lane);

/*
 * Up to @max records and events of the scheduler, by time, before any stage. 0 is the end, or all that there is so far.
 * Damage is the end, too, and noted in pipe->broken.
 */
size_t lane_read(struct lane *lane, struct event *events, size_t max);

/* When the next event of the scheduler is; UINT64_MAX: never. */
uint64_t lane_next_perf_ns(const struct lane *lane);

/* Which thread the lane is read by, below READERS_MAX: each has its own cache of addresses. */
void lane_set_reader(struct lane *lane, unsigned reader);

/* Get the next batch into an empty lane: 1, 0 at the end, or negative with @err. For merge. */
int lane_fill(struct lane *lane, struct uft_err *err);

/* The merge of all lanes and of @pipe->ext by time; see merge.c. */
int merge_run(struct pipeline *pipe, const struct view *view, struct uft_err *err);

#endif
