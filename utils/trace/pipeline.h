/* A recording as a stream of events: sources, stages, merge, and the view at its end. */
#ifndef UTRAIL_TRACE_PIPELINE_H
#define UTRAIL_TRACE_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/spec/range.h"
#include "utils/trace/event.h"
#include "utils/trace/src_extern.h"
#include "utils/trace/src_perf.h"
#include "utils/trace/src_user.h"
#include "utils/trace/stage.h"

/*
 *   <tid>.dat  src_user \
 *   perf-cpu*  src_perf  > stg_calls > stg_select > stg_time > stg_indent \
 *                        one lane per task                                  > merge > view
 *   extern.dat src_extern                                                  /
 *
 * src_kernel will join the lanes in the way of src_perf.
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
 * What gets the events: @events is called with events of one task in a row, valid during the
 * call only. A negative errno (with @err) ends the run.
 */
struct view {
	int (*events)(void *self, const struct event_span *span, struct uft_err *err);
	void *self;
};

/*
 * One task's source and stages.
 *
 * @events: [@at, @nr) have passed all stages and wait to be merged
 * @raw: before the duration filter, when there is one
 */
struct lane {
	struct pipeline *pipe;
	struct task *task;
	struct src_user user;
	const struct perf_queue *perf;
	size_t perf_at;
	struct stg_calls calls;
	struct stg_time time;
	struct stg_indent indent;
	struct event *raw;
	struct event *events;
	size_t at;
	size_t nr;
	size_t cap;
	bool at_end;	  /* of the sources */
	bool is_finished; /* and what comes behind that is out */
};

/*
 * @start_ns, @stop_ns: the range in the recording's time
 * @first_ns: the first time of the recording, where "elapsed" counts from
 * @broken: the first damaged file; the others were read on
 */
struct pipeline {
	struct trace_data *data;
	struct pipeline_config config;
	struct pseudo_funcs pseudo;
	struct src_perf perf;
	struct src_extern ext;
	uint64_t start_ns;
	uint64_t stop_ns;
	uint64_t first_ns;
	size_t batch;
	struct lane *lanes;
	size_t nr_lanes;
	struct uft_err broken;
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

/* Get the next batch into an empty lane: 1, 0 at the end, or negative with @err. For merge. */
int lane_fill(struct lane *lane, struct uft_err *err);

/* The merge of all lanes and of @pipe->ext by time; see merge.c. */
int merge_run(struct pipeline *pipe, const struct view *view, struct uft_err *err);

#endif
