/* Stage: filters and triggers. */
#ifndef UTRAIL_PIPELINE_STG_FILTER_H
#define UTRAIL_PIPELINE_STG_FILTER_H

#include <sys/types.h>

#include "utils/base/containers/vec.h"
#include "utils/pipeline/stages/argcond.h"
#include "utils/pipeline/stages/callpath.h"
#include "utils/pipeline/event.h"
#include "utils/pipeline/stages/rules.h"

/*
 * The state that decides whether the next call of a task is shown. A call may change this state. At
 * the end of the call, the change is undone.
 *
 * @threshold_ns: show calls that take at least this time
 * @size: show functions of at least this size, in bytes
 * @in, @out: numbers of open calls that were opted in, and opted out
 * @depth: number of levels that may still be shown
 * @counts_from_call: true: @depth counts from an open call with `filter` or `depth=`; false: @depth
 *                    counts from the beginning of the task
 */
struct selection {
	uint64_t threshold_ns;
	uint64_t size;
	uint32_t in;
	uint32_t out;
	uint32_t depth;
	bool counts_from_call;
};

/*
 * A switch: a trace_on or trace_off that a task has reached.
 *
 * @task: task->index of this task
 * @nth: the switch's number in the order in which the first pass found the switches. If switches of
 *       one task have the same time, they are sorted by @nth
 */
struct filter_switch {
	uint64_t time_ns;
	size_t task;
	size_t nth;
	bool is_on;
};

/*
 * The part of a filter that the lanes of a pipeline share.
 *
 * @uses: all actions in @rules
 * @base: the selection at the beginning of a task
 * @ends_only: the view gets no entries, so a call that is too short is dropped at the end of the
 *         call
 * @wants_cpus: as in stage_config
 * @counts_off: while tracing is switched off, calls are passed on with EVENT_OFF, because these
 *              calls count in the depth
 * @hides_libcalls: stg_select drops library calls, so they do not count in the depth
 * @wants_paths: the view shows call paths, and one thread handles all tasks
 * @collects: this is the first pass, which finds @outcomes and @switches
 * @outcomes: for each task, the results of conditions on return values, in the order of calls
 * @switches: trace_on and trace_off of all tasks. After the first pass, these switches are sorted
 *            by time
 */
struct call_filter {
	struct func_rules rules;
	uint32_t uses;
	struct selection base;
	bool starts_off;
	bool ends_only;
	bool wants_cpus;
	bool counts_off;
	bool hides_libcalls;
	bool wants_paths;
	bool collects;
	struct trace_data *data;
	struct cond_outcomes {
		uint8_t *holds;
		size_t nr;
	} * outcomes;
	size_t nr_outcomes;
	struct filter_switch *switches;
	size_t nr_switches;
	struct call_paths paths;
};

void call_filter_sort_switches(struct call_filter *filter);
void call_filter_deinit(struct call_filter *filter);

/*
 * The state of one task.
 *
 * @frames: all open calls. The first @nr_inherited calls were open at the task's fork, and end when
 *          the task executes another program at @exec_ns
 * @nr_within: the number of synthesized ENTRYs that are still expected (stg_filter_begin_within())
 * @levels: [i] is the number of shown calls among the outermost i calls
 * @nr_levels: the number of elements in @levels; 0: the numbers of shown calls are unknown
 * @is_waiting: the task is a forked child that has not begun yet; @frames are the frames of the
 *         parent
 * @switch_at: an index in @filter->switches. The switch at this index is the next one that changes
 *         @is_on
 * @nr_asked: number of processed calls that have conditions on return values
 * @is_on: tracing is switched on
 *
 * The stage sets two members of each ENTRY that it keeps. total_ns is the least duration with which
 * stg_time shows the call. If @filter->wants_paths is set, and the call has the action `backtrace`,
 * self_ns is the address of the struct call_path. Otherwise self_ns is 0.
 */
struct stg_filter {
	struct call_filter *filter;
	struct selection now;
	struct filter_frame *frames;
	size_t nr;
	size_t cap;
	size_t nr_inherited;
	size_t nr_within;
	uint16_t *levels;
	size_t nr_levels;
	uint64_t exec_ns;
	bool is_waiting;
	size_t switch_at;
	size_t task;
	size_t nr_asked;
	unsigned reader; /* number of the reader (session.h) */
	bool is_on;
};

/* @task: task->index */
void stg_filter_init(struct stg_filter *stage, struct call_filter *filter, size_t task);
void stg_filter_deinit(struct stg_filter *stage);

/* Copy @from->frames and @from->now to @to. Returns 0 or -ENOMEM. */
int stg_filter_copy(struct stg_filter *to, const struct stg_filter *from);

/*
 * Let @stage, the stage of the forked @task, begin with the frames and the selection of @parent.
 * @parent is the state that the parent task had at the fork. If @parent has no frames, nothing is
 * done. Returns 0 or -ENOMEM.
 */
int stg_filter_inherit(struct stg_filter *stage, const struct stg_filter *parent,
		       const struct task *task);

/*
 * Expect @nr synthesized ENTRYs next, for the calls that were open when the task began. -D counts
 * from the first ENTRY after these.
 */
void stg_filter_begin_within(struct stg_filter *stage, size_t nr);

/*
 * Process a batch in place, after stg_calls(). Returns the number of remaining events, or -ENOMEM.
 */
ssize_t stg_filter(struct stg_filter *stage, struct event *events, size_t nr);

#endif
