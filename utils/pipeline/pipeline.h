/* A recording as a stream of events: sources, stages, merge, and the view that gets the events. */
#ifndef UTRAIL_PIPELINE_H
#define UTRAIL_PIPELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/blocks.h"
#include "utils/base/err.h"
#include "utils/spec/args/range.h"
#include "utils/pipeline/event.h"
#include "utils/pipeline/merger.h"
#include "utils/pipeline/sources/kernel_calls.h"
#include "utils/pipeline/recording/opened.h"
#include "utils/pipeline/sources/src_user.h"
#include "utils/pipeline/stages/stage.h"
#include "utils/pipeline/stages/stg_filter.h"

/*
 *  <tid>.dat              src_user \
 *                                   > stages (one lane per task) \
 *  perf-cpu*   src_perf   \        /                              > merge > view
 *  kernel-cpu* src_kernel  > feed                                /
 *  others      ...        /                                     /
 *  extern.dat             src_extern                           /
 *
 * The stages of a lane: stg_calls > stg_kernel > stg_filter > stg_select > stg_time > stg_indent.
 * All src_* have the interface of source.h. A source has only a part of its file in memory.
 *
 * If tasks are merged by time, the feed holds the events of a window of time. If tasks come one
 * after the other, the feed holds all events of some tasks.
 */

enum pipeline_order {
	PIPELINE_BY_TIME, /* all tasks merged; at equal times, the lowest task id comes first */
	PIPELINE_BY_TASK, /* one task after the other, not merged by time */
};

/*
 * @tids: read only these @nr_tids tasks. If @nr_tids is 0, read all tasks
 * @kinds: additional kinds of sources, as a list with NULL as its last element. @kinds may be NULL
 */
struct pipeline_config {
	struct stage_config stages;
	struct time_range range;
	const int *tids;
	size_t nr_tids;
	enum pipeline_order order;
	bool reads_extern;
	const struct source_kind *const *kinds;
};

void pipeline_config_init(struct pipeline_config *config);

/*
 * A position in the events of a task, at which a view begins.
 *
 * @path: the calls that are open at the position, the outermost first; the view does not get their
 *        ENTRYs
 * @last_ns: the time of the last event before the position
 * @is_start: the position is the beginning of the task
 */
struct view_resume {
	const struct task *task;
	const struct func *const *path;
	size_t nr_path;
	uint64_t last_ns;
	bool is_start;
};

/*
 * The receiver of events. A negative errno (with @err) from any function ends pipeline_run().
 *
 * @events: gets successive events of one task, which are valid during the call only
 * @resume: a task may be split into parts. @resume is called before the view gets the events of a
 *          part, with the position where the part begins. The parts come in any order, and each
 *          part goes to one of the views of the run. NULL: the view needs whole tasks
 * @mixed: gets the events of several tasks, in the order of time, if the events of these tasks
 *         alternate. NULL: @events gets these events instead, a few events of one task in each
 *         call
 * @in_parts: the view also accepts the events in windows of time: first the events of each task in
 *            the first window, then the events of each task in the second window, and so on
 */
struct view {
	int (*events)(void *self, const struct event_span *span, struct uft_err *err);
	void *self;
	int (*resume)(void *self, const struct view_resume *at, struct uft_err *err);
	int (*mixed)(void *self, const struct task_event *events, size_t nr, struct uft_err *err);
	bool in_parts;
};

/* The maximum number of sources that a lane has in addition to lane->user. */
#define LANE_OTHERS 1

enum lane_state {
	LANE_READS,
	LANE_DRY,      /* no events now; a growing recording or a stream may bring more */
	LANE_AT_END,   /* the sources are at their end */
	LANE_FINISHED, /* later events are out of the range */
};

/*
 * One task's sources and stages.
 *
 * @kernel: takes calls of kernel functions from @queued, and nests these calls. Used only if the
 *          lane @has_kernel_calls
 * @others: the sources other than @user. At equal times, events of @user come first
 * @feed: the merger that fills @queued; NULL: there is none
 * @own_feed: a merger for this lane alone, on the heap; @feed then points to the same merger. NULL:
 *            there is no such merger
 * @streams: the lane has more events than may be held at a time
 * @in_windows: pipeline_run_windows() runs the lane
 * @calls: the stack of the open calls. Calls of kernel functions are above the program's calls
 * @events: the events in [@at, @nr) have passed all stages, and the view has not got these events
 *          yet. NULL before the first batch, after the last batch, and after lane_release_events()
 * @raw: the events that go into the duration filter, if the lane @holds_back calls; else NULL
 * @opened: with stage_config.opens_at_start: the calls that are open when the time range begins
 * @has_events: read_events() has found events in the time range. Later stages may hide these events
 * @has_passed: if the lane @holds_back calls: a call has passed stg_time, or an EVENT_POINT was
 *              read
 * @has_begun: with stage_config.opens_inherited: the first ENTRY or EXIT of the program was read
 * @is_cut: the task goes on after the time range
 * @goes_on: the task goes on after the lane's end (split.h)
 * @nr_kernel_cut: number of calls of kernel functions that began before the time range and are
 *                 still open
 * @nr_kernel_in: number of calls of kernel functions that began in the time range and are still
 *                open
 */
struct lane {
	struct pipeline *pipe;
	struct task *task;
	struct src_user user;
	struct queue_source queued;
	struct kernel_calls kernel;
	struct source *others[LANE_OTHERS];
	size_t nr_others;
	struct merger *feed;
	struct merger *own_feed;
	bool streams;
	bool in_windows;
	struct stg_calls calls;
	struct stg_kernel in_kernel;
	struct stg_filter filter;
	struct stg_time time;
	struct stg_indent indent;
	struct opened opened;
	struct event *raw;
	struct event *events;
	size_t at;
	size_t nr;
	size_t cap;
	size_t batch; /* number of events that are read at a time; 0 before the first batch */
	bool holds_back;
	bool has_events;
	bool has_passed;
	uint64_t told_offset; /* bytes of the file that are counted in pipe->read_bytes */
	enum lane_state state;
	bool has_begun;
	bool is_cut;
	bool goes_on;
	bool has_kernel_calls;
	size_t nr_kernel_cut;
	size_t nr_kernel_in;
};

/*
 * @config: the given configuration. If the pipeline @is_filtered, stg_filter has its own copy of
 *          time_filter_ns, size_filter, depth and is_off. Then these four members of @config have
 *          their defaults, so that no other stage applies the given values
 * @kinds: the kinds of the sources whose files hold events of all tasks. The last element is NULL
 * @nr_sources: the number of files that the sources of @kinds have open at a time
 * @feed: moves the events of the sources of @kinds to the lanes. In a growing recording, @feed is
 *        always open. In other recordings, @feed is open while the pipeline runs
 * @surveys: an element for each task (task->index); NULL in a growing recording
 * @window_bytes: the maximum memory for the queued events of one window of time
 *                (pipeline_next_window(), lane_stream())
 * @held_bytes: the maximum memory for the queued events of a group of lanes (pipeline_load_group())
 * @kernel: the number of events that the kernel has lost, according to the files that were read
 * @ext: extern.dat; NULL: there is none
 * @at_fork: for each of the first @nr_at_fork tasks, the state of its parent's filter at the fork
 *           (forks.h); NULL: none
 * @start_ns, @stop_ns: the time range, by the recording's clock
 * @first_ns: the time at which the field "elapsed" is 0. In --time-range, elapsed times also count
 *            from this time
 * @limit_ns: events after this time are not read; UINT64_MAX if the recording does not grow
 * @known_ns: growing recording: all events up to this time have been read into the queues of @feed.
 *            When @known_ns reaches @first_ns, @first_ns is final
 * @has_late_entries: growing recording: a task may write the ENTRY of a call late. So the events
 *                    that other sources have for the task wait until the task has written its next
 *                    record
 * @broken: the error of the first damaged file; the other files are still read
 * @runs_windows: the view gets the tasks in windows of time (pipeline_run_windows())
 * @is_stopped: any thread may set it. The run then ends at its current position, without an error
 * @has_shown: an event has passed all stages
 * @read_bytes: the bytes of records that were read so far
 */
struct pipeline {
	struct trace_data *data;
	struct pipeline_config config;
	struct pseudo_funcs pseudo;
	const struct source_kind **kinds;
	size_t nr_sources;
	struct merger feed;
	struct survey *surveys;
	size_t window_bytes;
	size_t held_bytes;
	struct kernel_losses kernel;
	struct source *ext;
	struct event_choice choice;
	struct call_filter filter;
	struct stg_filter *at_fork;
	size_t nr_at_fork;
	bool is_filtered; /* stg_filter is one of the stages */
	uint64_t start_ns;
	uint64_t stop_ns;
	uint64_t first_ns;
	uint64_t limit_ns;
	uint64_t known_ns;
	bool has_late_entries;
	size_t batch;
	int *open_fds; /* each task's file, open from find_first_time() until the lane opens */
	size_t nr_open_fds;
	struct blocks event_blocks;
	struct blocks buffer_blocks;
	struct lane *lanes;
	size_t nr_lanes;
	struct uft_err broken;
	bool runs_windows;
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
 * Send all events to @view. If a file is damaged, pipe->broken has the message, and the other files
 * are still read. The records of a task end at the damage in its file. But if the damage is in a
 * block of a compact file, only the records of this block are missing.
 */
int pipeline_run(struct pipeline *pipe, const struct view *view, struct uft_err *err);

/* Returns the number of bytes of all files from which the pipeline reads records. */
uint64_t pipeline_bytes(const struct pipeline *pipe);

/*
 * Returns the time of the earliest record in the files <tid>.dat. The elapsed times of --time-range
 * are counted from this time. Events of the other files may be earlier. If there are no records,
 * returns pipe->first_ns.
 */
uint64_t pipeline_first_record_ns(const struct pipeline *pipe);

/*
 * Send further events of a growing recording (data_open_growing()), up to @until_ns. All files must
 * be complete up to this time, which never decreases. UINT64_MAX: the recording has ended.
 */
int pipeline_follow(struct pipeline *pipe, uint64_t until_ns, const struct view *view,
		    struct uft_err *err);

/*
 * Returns the number of threads that can share the work, at most @wanted. It is 1 when the tasks
 * are merged by time, when there are filters or recorded values, or when there is little work.
 */
size_t pipeline_threads(const struct pipeline *pipe, size_t wanted);

/*
 * Like pipeline_run(), but with up to @nr threads. @nr must be at most pipeline_threads(). @views
 * has a view for each thread. Afterwards, the caller merges the views, in any order.
 *
 * Each task goes to one view. But if the views have a resume function, a task that is a large part
 * of the work is divided among all views.
 */
int pipeline_run_parallel(struct pipeline *pipe, const struct view *views, size_t nr,
			  struct uft_err *err);

/* Parts of pipeline_open(), for pipeline_follow(): */
int lane_open(struct lane *lane, struct pipeline *pipe, struct task *task,
	      const struct src_user_plan *plan, struct uft_err *err);
bool pipeline_selects(const struct pipeline_config *config, const struct task *task);
int pipeline_find_start(struct pipeline *pipe, struct uft_err *err);

/* Send the events of one task to @view. */
int lane_run(struct lane *lane, const struct view *view, struct uft_err *err);

void lane_close(struct lane *lane);

/*
 * Close the task's file, and free the buffers and lane->own_feed. Called when the lane is finished
 * or closed.
 */
void lane_release(struct lane *lane);

/*
 * Free the event buffers of the lane. The lane gets new buffers when it runs again. All events in
 * the buffers must have been passed to the view.
 */
void lane_release_events(struct lane *lane);

/*
 * Read up to @max events, sorted by time, which have not passed any stage yet. Damage is handled as
 * by pipeline_run(). Returns the number of events. This number is 0 at the end of the lane, and
 * while the lane has to wait for new events.
 */
size_t lane_read(struct lane *lane, struct event *events, size_t max);

/*
 * Returns the time of the next event of the sources in lane->others, or UINT64_MAX if there is
 * none.
 */
uint64_t lane_next_other_ns(const struct lane *lane);

/* Returns the time up to which all events are known, or UINT64_MAX if none are missing. */
uint64_t lane_limit_ns(const struct lane *lane);

/*
 * Set the number of the thread that reads the lane. The number is below READERS_MAX. Each thread
 * has its own cache of addresses.
 */
void lane_set_reader(struct lane *lane, unsigned reader);

/*
 * Read the next batch into an empty lane, for the merge. Returns 1 on success, 0 at the end, or a
 * negative errno with @err.
 */
int lane_fill(struct lane *lane, struct uft_err *err);

/* Merge all lanes and @pipe->ext by time, up to pipeline_limit_ns(). */
int merge_run(struct pipeline *pipe, const struct view *view, struct uft_err *err);
uint64_t pipeline_limit_ns(const struct pipeline *pipe);

/* --- from the feed to lanes (pipeline_feed.c) --- */

/* Open all sources, and fill in @nr_sources and @surveys. */
int pipeline_survey(struct pipeline *pipe, struct uft_err *err);

/*
 * True when the options select the task, and one of these conditions holds:
 *
 * - <tid>.dat has records
 * - other files have events of the task, and the options show these events
 */
bool pipeline_has_lane(const struct pipeline *pipe, const struct task *task);

/*
 * Returns the plan for the files <tid>.dat of @nr_tasks tasks. The plan keeps enough file
 * descriptors free for pipe->nr_sources files of other sources.
 */
struct src_user_plan pipeline_plan(const struct pipeline *pipe, size_t nr_tasks);

/*
 * Connect the lane to the task's queue in @feed. If @feed is NULL, disconnect the lane. Call
 * lane_attach() again when the lane or the queues of @feed have moved in memory.
 */
void lane_attach(struct lane *lane, struct merger *feed);

/*
 * Fill the queues of a group of lanes. Used when a view gets all events of one task, and then those
 * of the next task. The group begins with lane @first, and has as many lanes as fit into
 * @held_bytes. The queues keep their events until pipeline_drop_group(). A lane that needs more
 * than @held_bytes gets its events later, from lane_stream().
 *
 * Returns the index of the lane after the group, or a negative errno with @err.
 */
ssize_t pipeline_load_group(struct pipeline *pipe, size_t first, struct uft_err *err);
void pipeline_drop_group(struct pipeline *pipe, size_t first, size_t end);

/*
 * Run all lanes that have events from files other than <tid>.dat. Such a file, for example one with
 * kernel events, may have events of many lanes. In each window of time, the lanes run one after the
 * other. So each such file is read only once, and not once for each lane. pipeline_load_group()
 * later skips these lanes.
 *
 * Does nothing if no calls of kernel functions were recorded, if the events fit into @held_bytes,
 * or if @view does not accept tasks in parts. Returns 0, or a negative errno with @err.
 */
int pipeline_run_windows(struct pipeline *pipe, const struct view *view, struct uft_err *err);

/*
 * Load the first or next window of a streaming lane. Returns 1 on success, 0 when there are no more
 * events, or a negative errno with @err.
 */
int lane_stream(struct lane *lane, struct uft_err *err);
void lane_end_stream(struct lane *lane);

/*
 * For lanes that are merged by time: load the next window, between two runs of the merge. Returns 1
 * when more windows follow, 0 when this is the last window, or a negative errno with @err.
 */
int pipeline_next_window(struct pipeline *pipe, struct uft_err *err);

/* Open the merger of a growing recording. */
int pipeline_open_feed(struct pipeline *pipe, struct uft_err *err);

#endif
