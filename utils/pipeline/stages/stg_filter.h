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
 * @threshold_ns, @size: calls that take at least as long, functions that are at least as large
 * @in, @out: open calls that were opted in, opted out
 * @depth: levels that may still be shown
 * @counts_from_call: since an open call with `filter` or `depth=`; else since the task began
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
 * @task: the task->index that reached it. @nth: as they were found, those of a task in their order
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
 * @wants_cpus: of the stage_config
 * @ends_only: the view gets no entries: too short calls are dropped at their end
 * @counts_off: a switched-off event is passed on, marked EVENT_OFF, since it counts as
 *              depth
 * @hides_libcalls: stg_select leaves them out, so that they are no levels
 * @wants_paths: the view shows them, and reads in one thread
 * @outcomes: by task->index, the results of conditions on return values, call by call
 * @switches: trace_on and trace_off of all tasks, by time once they are sorted
 * @collects: a first run, that finds the @switches
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
 * depth of its parent, until it becomes another program at @exec_ns; in a child that has not begun
 * these are still unprocessed (@is_waiting). @levels, with @nr_levels entries: for each number of
 * outermost calls the number of shown ones; none if unknown.
 *
 * An ENTRY that passes has in total_ns the call's minimum duration (for stg_time), and in self_ns
 * the address of the struct call_path that leads to it when it has the action `backtrace`, else 0.
 */
struct stg_filter {
	struct call_filter *filter;
	struct selection now;
	struct filter_frame *frames; /* of all open calls */
	size_t nr;
	size_t cap;
	size_t nr_inherited;
	uint16_t *levels;
	size_t nr_levels;
	uint64_t exec_ns;
	bool is_waiting;
	size_t switch_at;
	size_t task;
	size_t nr_asked;
	unsigned reader; /* session.h */
	bool is_on;
};

/* @task: task->index */
void stg_filter_init(struct stg_filter *stage, struct call_filter *filter, size_t task);
void stg_filter_deinit(struct stg_filter *stage);

/* Copy the state of calls from @from to @to, whose frames are its own or none. 0 or -ENOMEM. */
int stg_filter_copy(struct stg_filter *to, const struct stg_filter *from);

/*
 * The forked @task is about to begin within the calls in @parent, a copy; without frames: unknown.
 * 0 or -ENOMEM.
 */
int stg_filter_inherit(struct stg_filter *stage, const struct stg_filter *parent,
		       const struct task *task);

/* In place, after stg_calls. Returns the number of remaining events, or -ENOMEM. */
ssize_t stg_filter(struct stg_filter *stage, struct event *events, size_t nr);

#endif
