/* Stages: functions that turn the raw events of one task into the events that a view shows. */
#ifndef UTRAIL_PIPELINE_STAGE_H
#define UTRAIL_PIPELINE_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/compiler.h"
#include "utils/base/err.h"
#include "utils/spec/events.h"
#include "utils/pipeline/event.h"
#include "utils/pipeline/kinds/event_choice.h"

/*
 * Each task has its own stages, which process the events of the task before the events of all tasks
 * are merged. So a stage that holds events back (stg_time) does not delay other tasks. Most stages
 * change the array @events in place, and return the number of events that remain in the array.
 */

struct stg_filter;

/* The call events that a view needs. */
enum stage_wants {
	STAGE_WANTS_CALLS,  /* ENTRY and EXIT */
	STAGE_WANTS_DEPTHS, /* ENTRY and EXIT; stg_indent() sets their shown depths */
	STAGE_WANTS_ENDS,   /* EXIT and SCHED_*, for a view that only adds up calls */
};

/* A view shows all, some or none of the periods during which a task is off the CPU. */
enum stage_sched {
	STAGE_SCHED_NONE,
	STAGE_SCHED_WILLING, /* only the periods that did not begin with a preemption */
	STAGE_SCHED_ALL,
};

/* The events to show; stage_config_init() chooses all. */
struct stage_config {
	unsigned depth;		 /* show a call if fewer than @depth open calls are around it */
	uint64_t time_filter_ns; /* show calls that took this long or longer */
	uint64_t size_filter;	 /* show functions of this many bytes or more */
	struct filters *filters; /* the user's filters; borrowed; NULL: none */
	uint32_t actions;	 /* enum trigger_flags: apply only these actions of @filters */
	bool is_off;		 /* --trace=off: show no calls until a trace_on */
	bool show_libcalls;
	bool show_events;		  /* false: show only the events that -T and -W request */
	const struct event_rules *events; /* --Event: show only these events; borrowed; NULL: all */
	struct event_choice *choice;	  /* made from @events; owned by the pipeline */
	enum stage_sched sched;
	bool show_outside;	  /* show events outside of functions */
	bool wants_cpus;	  /* turn each hidden SCHED_* into an EVENT_ON_CPU */
	bool show_kernel_outside; /* show the kernel's calls while no program function is open */
	bool show_kernel_only;	  /* show no calls of the program */
	bool starts_inside;	  /* the time range has a start time */
	bool closes_open_calls;	  /* make an EXIT for each call that never returned */
	bool opens_at_start;	  /* make ENTRYs for calls that are open when the range begins */
	bool opens_inherited;	  /* make ENTRYs for calls that are open when a task begins */
	enum stage_wants wants;
};

void stage_config_init(struct stage_config *config);

/*
 * Stages call this function before they drop @event. If @wants_cpus is set and @event is a SCHED_*,
 * make @event an EVENT_ON_CPU, and return true. In this case the stage must keep @event.
 */
static inline bool stage_keeps_cpu(bool wants_cpus, struct event *event)
{
	if (likely(!wants_cpus) ||
	    (event->type != EVENT_SCHED_OUT && event->type != EVENT_SCHED_IN))
		return false;
	event->type = EVENT_ON_CPU;
	return true;
}

/* Pseudo functions, which views show for SCHED_* events. */
struct pseudo_funcs {
	const struct func *sched;
	const struct func *sched_preempt;
};

struct pending_call {
	const struct func *func;
	uint64_t addr;
	uint64_t start_ns;
	uint64_t child_ns; /* total duration of the calls that this call made directly */
};

/*
 * stg_calls: pairs entries with exits. Before the first call of stg_calls(), all members are zeros
 * except @config, @task, @pseudo and @reader. stg_calls_deinit() frees the memory.
 *
 * @reader: the number of the thread that looks up addresses for the stage (session.h)
 * @changes_ns: the next time at which an address may begin to mean another function (exec, dlopen)
 * @frames: the open calls are frames[0] to frames[nr - 1]. The first @nr_seeded of these calls have
 *          no recorded entry. The depth of an event (event.depth) does not count the calls without
 *          a recorded entry
 * @is_out: the task is not on a CPU; @out_ns: the time when the task left the CPU
 * @has_first: there was a call or an event of the scheduler
 * @has_record: there was a call
 * @inherited_depth: the number of calls that enclose the call of the task's first ENTRY or EXIT.
 *                   ENTRYs and EXITs of the kernel are ignored
 * @wants_depth: events were lost (LOST). The number of open calls is unknown until the next record
 *               of a call, which contains the depth
 * @has_kernel: some of the calls may be the kernel's
 * @is_plain: in the latest batch of events, each event was an ENTRY or EXIT, and event.indent is
 *            the number of open calls around the event (see stg_indent_follow())
 * @open: an array of @nr_open elements. open[func->count_id] is the number of open calls of the
 *        function. A number above 1 shows a recursion
 */
struct stg_calls {
	const struct stage_config *config;
	const struct task *task;
	const struct pseudo_funcs *pseudo;
	unsigned reader;
	struct addr_space *space;
	struct session *session;
	uint64_t changes_ns;
	struct pending_call *frames;
	size_t nr;
	size_t nr_seeded;
	size_t cap;
	uint64_t last_ns;
	uint64_t outermost_total_ns; /* duration of the previous outermost call */
	uint64_t outermost_self_ns;
	uint64_t out_ns;
	uint8_t out_flags;
	bool is_out;
	bool has_first;
	bool has_record;
	uint16_t inherited_depth;
	bool wants_depth;
	bool has_kernel;
	bool has_events;  /* the batch had an event that is neither ENTRY nor EXIT */
	bool has_outside; /* the batch had calls of the kernel while no program function was open */
	bool is_plain;
	uint32_t *open;
	size_t nr_open;
};

void stg_calls_deinit(struct stg_calls *calls);

/*
 * Copy @from to the empty @to. skim_fast() may have made frames in @from that have no function, and
 * from->open does not count these frames. In the copy, each frame has a function, and to->open
 * counts each frame. Returns 0, or a negative errno with @err. Even after an error, @to needs
 * stg_calls_deinit().
 */
int stg_calls_copy(struct stg_calls *to, const struct stg_calls *from, struct uft_err *err);

/* Process a batch. Returns 0, or a negative errno with @err. */
int stg_calls(struct stg_calls *calls, struct event *events, size_t nr, struct uft_err *err);

/*
 * Called at the end of the records. Writes to @events an EXIT for each open call that has a
 * function, the innermost call first. @events must have room for calls->nr events. Returns the
 * number of written EXITs.
 */
size_t stg_calls_close(struct stg_calls *calls, struct event *events);

/*
 * stg_kernel: without show_kernel_outside, drops calls of the kernel that begin while no program
 * function is open. With show_kernel_only, drops the program's calls.
 *
 * @depth: number of open calls of the kernel that began while no program function was open
 */
struct stg_kernel {
	const struct stage_config *config;
	size_t depth;
};
size_t stg_kernel(struct stg_kernel *stage, struct event *events, size_t nr);

/* True when the stage has any work on the batch that @calls has processed. */
static inline bool stg_kernel_is_needed(const struct stg_kernel *stage,
					const struct stg_calls *calls)
{
	return calls->has_outside || stage->depth || stage->config->show_kernel_only;
}

/*
 * stg_select: drops calls that are too deep, calls of functions with too little code, library
 * calls, and unwanted events. With STAGE_WANTS_ENDS, the stage also drops calls that are too short.
 */
bool stg_select_is_needed(const struct stage_config *config);
/*
 * True when stg_select() keeps a call of @func that has @depth open calls around it. The minimum
 * duration of calls (time_filter_ns) is ignored.
 */
bool stg_select_keeps_open(const struct stage_config *config, const struct func *func,
			   size_t depth);
size_t stg_select(const struct stage_config *config, struct event *events, size_t nr);

/*
 * stg_time: holds entries back until their calls have taken long enough.
 *
 * @threshold_ns: the threshold of all calls. With @has_own_thresholds, each ENTRY has its own
 *                threshold in total_ns (stg_filter.h)
 * @due_ns: with @has_own_thresholds: no held call reaches its threshold before this time
 * @released: the payloads of the events that were released last, on the heap. The next call of
 *            stg_time(), stg_time_due() or stg_time_finish() frees them
 * @held: the events that wait are held[at] to held[nr - 1]. Each of these events has a copy of its
 *        payload, on the heap
 */
struct stg_time {
	uint64_t threshold_ns;
	bool has_own_thresholds;
	uint64_t due_ns;
	void **released;
	size_t nr_released;
	struct event *held;
	size_t at;
	size_t nr;
	size_t cap;
};

/* Returns the maximum number of events that stg_time() writes to @out for a batch of @nr events. */
static inline size_t stg_time_room(const struct stg_time *stage, size_t nr)
{
	return stage->nr - stage->at + nr;
}

/*
 * Process a batch, and write to @out the events that pass the threshold. Returns the number of
 * events in @out, or -ENOMEM.
 */
ssize_t stg_time(struct stg_time *stage, const struct event *events, size_t nr, struct event *out);
/*
 * Called in a growing recording, after all events up to @now_ns were processed. Release the held
 * calls that have reached their thresholds at @now_ns. The released events are written to @out,
 * which has room for stg_time_room() events.
 *
 * stg_time_waits_since() returns the start of the first held call. The result is UINT64_MAX if no
 * call is held, or if the threshold of the first held call is too large to be reached.
 */
ssize_t stg_time_due(struct stg_time *stage, uint64_t now_ns, struct event *out);
uint64_t stg_time_waits_since(const struct stg_time *stage);

/*
 * Called at the end of the events. Release the held calls: these calls have not returned, so they
 * count as long enough. If a call has the threshold UINT64_MAX, the call is released only together
 * with a call inside of it. Returns the number of events that were written to @out, or -ENOMEM.
 * @out has room for stg_time_room() events.
 */
ssize_t stg_time_finish(struct stg_time *stage, struct event *out);
void stg_time_deinit(struct stg_time *stage);

/*
 * stg_indent: sets the depth that views show (event.indent). Calls that other stages have dropped
 * are not counted.
 *
 * @calls, @filter: the stages stg_calls and stg_filter of the same lane
 * @exec_ns: the next time when the task executes another program
 * @starts_at_margin: a task may begin inside of calls without a recorded entry, and @filter may not
 *         know which of these calls are shown. In this case, the shown depth counts none of these
 *         calls if @starts_at_margin is true, and all of these calls if it is false
 * @drops_off: drop ENTRY and EXIT events with EVENT_OFF. Without filters, @drops_off is false,
 *             because only filters set EVENT_OFF
 * @drops_margin: drop each event at depth 0 that is neither a call nor LOST, as uftrace does with
 *                --size-filter
 */
struct stg_indent {
	const struct stg_calls *calls;
	const struct stg_filter *filter;
	uint64_t exec_ns;
	uint32_t depth;
	bool has_first;
	bool wants_depth;
	bool starts_at_margin;
	bool drops_off;
	bool drops_margin;
};
void stg_indent_init(struct stg_indent *stage, const struct stg_calls *calls,
		     const struct stg_filter *filter);
/*
 * Set @stage->exec_ns to the first time after @last_ns at which the task executes another program.
 * Call this function when the recording has grown, or when the stage begins in the middle of the
 * task's events.
 */
void stg_indent_more(struct stg_indent *stage, uint64_t last_ns);
size_t stg_indent(struct stg_indent *stage, struct event *events, size_t nr);

/*
 * HOT: replaces stg_indent() for a batch in which stg_calls() has already stored the depths that
 * views show. In this case, updates @stage->depth, and returns true. Otherwise returns false, and
 * the caller must call stg_indent().
 *
 * @depth: the number of open calls before the batch
 */
static inline bool stg_indent_follow(struct stg_indent *stage, size_t depth)
{
	if (!stage->calls->is_plain || stage->depth != depth || depth > UINT16_MAX - EVENT_BATCH ||
	    !stage->has_first || stage->wants_depth || stage->calls->last_ns >= stage->exec_ns)
		return false;
	stage->depth = stage->calls->nr;
	return true;
}

#endif
