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
 * The state that decides about the next call of a task; a call's changes are undone at its end.
 *
 * @threshold_ns, @size: show calls that take at least this time, functions of at least this size
 * @in, @out: numbers of open calls that were opted in, and opted out
 * @depth: number of levels that may still be shown
 * @counts_from_call: @depth counts from an open call with `filter` or `depth=`; else from the
 * beginning of the task
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
 * A trace_on or trace_off. @task: task->index of the task that has reached it. @nth: the order in
 * which switches were found, which is right within a task
 */
struct filter_switch {
	uint64_t time_ns;
	size_t task;
	size_t nth;
	bool is_on;
};

/*
 * The part that the lanes of a pipeline share.
 *
 * @uses: all actions in @rules
 * @wants_cpus: as in stage_config
 * @ends_only: the view gets no entries, so calls that are too short are dropped at their end
 * @counts_off: a switched-off event is passed on, marked EVENT_OFF, since it counts as
 *              depth
 * @hides_libcalls: stg_select leaves library calls out, so they are not levels
 * @wants_paths: the view shows call paths, and reads in one thread
 * @outcomes: by task->index, the results of conditions on return values, call by call
 * @switches: trace_on and trace_off of all tasks, by time once they are sorted
 * @collects: this is a first run, which finds the @switches
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
 * One task. The first @nr_inherited of @frames are the calls within which it was forked, by the
 * depth of its parent, until it becomes another program at @exec_ns; in a child that has not begun,
 * these frames are still unprocessed (@is_waiting). @levels has @nr_levels entries: the number of
 * calls that are shown among the outermost 0, 1, ... calls. It has none if that is unknown.
 * @nr_within: see stg_filter_begin_within()
 *
 * An ENTRY that passes has, in total_ns, the duration from which on it is shown (for stg_time). In
 * self_ns it has the address of the struct call_path that leads to it, if it has the action
 * `backtrace`, else 0.
 */
struct stg_filter {
	struct call_filter *filter;
	struct selection now;
	struct filter_frame *frames; /* frames of all open calls */
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

/* Copy the state of calls from @from to @to, whose frames are its own or none. 0 or -ENOMEM. */
int stg_filter_copy(struct stg_filter *to, const struct stg_filter *from);

/*
 * Prepare the forked @task, which is about to begin within the calls in @parent, a copy of its
 * parent's state. If @parent has no frames, the calls are unknown. 0 or -ENOMEM.
 */
int stg_filter_inherit(struct stg_filter *stage, const struct stg_filter *parent,
		       const struct task *task);

/*
 * The next @nr ENTRYs are synthesized: of calls that the task begins within. For -D, the task's own
 * calls count from the first ENTRY after these.
 */
void stg_filter_begin_within(struct stg_filter *stage, size_t nr);

/*
 * Process a batch in place, after stg_calls(). Returns the number of remaining events, or -ENOMEM.
 */
ssize_t stg_filter(struct stg_filter *stage, struct event *events, size_t nr);

#endif
