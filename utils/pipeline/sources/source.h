/* The interface of all sources of events: records, the scheduler, tracepoints, extern.dat. */
#ifndef UTRAIL_PIPELINE_SOURCE_H
#define UTRAIL_PIPELINE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/pipeline/event.h"

/*
 * A source is a stream of events ordered by time (doc/internals/add-a-source.md). There are three
 * kinds of sources:
 *
 * - Sources of one task: the task's records (src_user), and the queue of the task's other events
 *   (merger.h). Each task has a lane (lane.c), which merges the sources of the task.
 * - Sources of all tasks: the files of the CPUs (src_perf, src_kernel), and proc.dat (src_proc).
 *   A merger reads all these files, and puts each event into the queue of the event's task.
 * - A source of no task: extern.dat (src_extern). merge.c merges its events with the lanes.
 */
struct source;
struct queued;
struct stage_config;

/* One thread at a time may call these functions. None of them prints, waits or calls back. */
struct source_ops {
	/*
	 * Returns a time that is not later than the next event. If the source has no next event at
	 * present, returns UINT64_MAX. This function reads no file, so the next event may be later
	 * than the result.
	 */
	uint64_t (*next_ns)(struct source *src);

	/*
	 * Write the next events of one task to @events. After the call, src->task is this task. No
	 * event is later than @until_ns. There is room for @max events; @max is at least 1.
	 *
	 * - The @data of events belongs to the source, and is valid until the next read() or
	 *   read_calls().
	 * - In the file of a CPU, times may go backwards by at most MERGER_LATE_NS. In other files,
	 *   times never go backwards. A damaged file may break both rules.
	 *
	 * Returns the number of written events, or a negative errno with @err. The number is 0 if
	 * the source has no event up to @until_ns at present. Events before an error are returned
	 * first. After -EBADMSG (damage), the caller goes on with the other sources. After any
	 * other error, the caller reads no source any more.
	 */
	ssize_t (*read)(struct source *src, struct event *events, size_t max, uint64_t until_ns,
			struct uft_err *err);

	/*
	 * In a growing recording, called between two runs of the pipeline. Looks for new events for
	 * next_ns() and read(). Returns 0, or a negative errno with @err. The member is NULL if the
	 * source never gets new events.
	 */
	int (*more)(struct source *src, struct uft_err *err);

	/*
	 * Free all resources, and the source itself if it is on the heap. The sources of a merger
	 * are on the heap.
	 */
	void (*close)(struct source *src);

	/*
	 * For a merger: write the next calls of kernel functions to @calls. All these calls belong
	 * to one task. The function stops before an event of a different task, and before an event
	 * that is not a call of a kernel function. Returns the number of calls. If the number is 0,
	 * the caller must call read(). The member is NULL if the source never has calls of kernel
	 * functions.
	 */
	size_t (*read_calls)(struct source *src, struct queued *calls, size_t max,
			     uint64_t until_ns);
};

/*
 * The struct of each kind of source begins with this struct.
 *
 * @task: the task of the events that read() has written; NULL: it is unknown
 * @tid, @other_tid: used in a growing recording while @task is NULL. The task may be added to
 *                   task.txt later. If task.txt contains @tid, the events belong to the task @tid,
 *                   else to the task @other_tid. In either member, 0 stands for no task
 */
struct source {
	const struct source_ops *ops;
	const struct task *task;
	int32_t tid;
	int32_t other_tid;
};

static inline uint64_t source_next_ns(struct source *src)
{
	return src->ops->next_ns(src);
}

static inline ssize_t source_read(struct source *src, struct event *events, size_t max,
				  uint64_t until_ns, struct uft_err *err)
{
	return src->ops->read(src, events, max, until_ns, err);
}

static inline int source_more(struct source *src, struct uft_err *err)
{
	return src->ops->more ? src->ops->more(src, err) : 0;
}

static inline void source_close(struct source *src)
{
	src->ops->close(src);
}

/* --- sources of all tasks --- */

/*
 * @lost: the number of events that the kernel had no room for
 * @has_more_lost: the kernel has lost further events, whose number is unknown
 * @has_files: the recording has files of the kernel
 */
struct kernel_losses {
	uint64_t lost;
	bool has_more_lost;
	bool has_files;
};

/*
 * Facts for the sources whose events can belong to any task.
 *
 * @broken: gets the error of the first damaged file. Damage does not end the reading
 * @newcomers: gets the tasks that have events, but are not in task.txt; NULL: not needed
 * @takes_notes: if true, the sources fill in @losses, and store the names and parents of tasks.
 *               True only for merger_survey(), and for the merger of a growing recording
 * @wants_points: points (EVENT_POINT) are shown
 */
struct source_context {
	struct trace_data *data;
	struct uft_err *broken;
	struct kernel_losses *losses;
	struct task_list *newcomers;
	bool takes_notes;
	bool wants_points;
};

/* A list of sources, which starts as { 0 }. @all and the sources are on the heap. */
struct source_list {
	struct source **all;
	size_t nr;
};

/* Append @src, which the list then owns. Returns 0, or -ENOMEM after closing @src. */
int source_list_add(struct source_list *list, struct source *src);

/*
 * The arguments of source_kind.open() in one struct. A function that open() passes to
 * cpu_files_each() gets this struct as @self.
 */
struct source_opening {
	const struct source_context *context;
	struct source_list *list;
	struct uft_err *err;
};

/*
 * Open the file @name of the recording. Returns the file's descriptor, or a negative errno with
 * @in->err.
 */
int source_open_file(const struct source_opening *in, const char *name);

/*
 * A kind of source whose events can belong to any task. pipeline_feed.c has a table of the kinds.
 *
 * @open: appends the recording's sources of this kind, often one for each CPU. If events of
 *        two sources have the same time, the pipeline first shows the event of the source that
 *        was appended earlier. Returns 0, or a negative errno with @err. In both cases, the caller
 *        closes the appended sources
 * @wants: true when a pipeline of this configuration shows events of these sources. NULL: always
 */
struct source_kind {
	const char *name;
	int (*open)(const struct source_context *context, struct source_list *list,
		    struct uft_err *err);
	bool (*wants)(const struct stage_config *stages);
};

#endif
