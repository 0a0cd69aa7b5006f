/*
 * Sources of events: one interface for records, the scheduler, tracepoints, extern.dat and future
 * ones.
 */
#ifndef UTRAIL_PIPELINE_SOURCE_H
#define UTRAIL_PIPELINE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/pipeline/event.h"

/*
 * A source is a stream of events ordered by time. There are three kinds, by the tasks of their
 * events:
 *
 *   of one task    records (src_user), and events that wait for a task (feed.h): a lane merges
 *                  those of its task
 *   of all tasks   one file of a CPU (src_perf, src_kernel): a feed merges them, and hands each
 *                  task its own
 *   of no task     extern.dat (src_extern): merged with the lanes
 *
 * doc/internals/add-a-source.md shows how to add one.
 */
struct source;
struct queued;
struct stage_config;

/*
 * One thread at a time may call these functions. None of them prints, waits or calls back.
 *
 * A source with calls is never called once per event: read() returns as many events as there is
 * room for.
 */
struct source_ops {
	/*
	 * Return a lower bound of the times of future events; UINT64_MAX: there is none now. This
	 * only reads memory, so a source that does not know the exact time returns an earlier one.
	 */
	uint64_t (*next_ns)(struct source *src);

	/*
	 * Write the next events, at most @max (which is at least one) and none later than
	 * @until_ns, to @events; all belong to the task src->task. Returns their number; 0: the
	 * next event is later, or there is none now. Times go backwards only in damaged files, and
	 * in a CPU's files by at most MERGER_LATE_NS. @events->data belongs to the source, and is
	 * valid until the next call.
	 *
	 * Negative with @err: all events before the error have been returned, and none come after
	 * it. -EBADMSG is damage: the caller notes it and shows the rest. Other errors end the run.
	 */
	ssize_t (*read)(struct source *src, struct event *events, size_t max, uint64_t until_ns,
			struct uft_err *err);

	/*
	 * Look for new events in a growing recording, between two runs; next_ns() and read() return
	 * them then. NULL: there are never any. 0, or negative with @err.
	 */
	int (*more)(struct source *src, struct uft_err *err);

	/* Free all resources. A source on the heap, as all sources of a merger, frees itself. */
	void (*close)(struct source *src);

	/*
	 * Read calls of the kernel, for a merger's source; NULL: the source has no such calls. The
	 * calls are written in queued form, up to the first event that is not a call, or belongs to
	 * another task. Returns their number; 0: call read().
	 */
	size_t (*read_calls)(struct source *src, struct queued *calls, size_t max,
			     uint64_t until_ns);
};

/*
 * The public beginning of each source.
 *
 * @task: the task of the events that read() has written; NULL: it is unknown
 * @tid, @other_tid: for unknown tasks of a growing recording: the task will be the first of these
 *                   two that is announced, @tid if both are; 0: none
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
 * The number of events that the kernel has lost for lack of room; @has_more_lost: there are more,
 * of unknown number. @has_files: the recording has files of the kernel.
 */
struct kernel_losses {
	uint64_t lost;
	bool has_more_lost;
	bool has_files;
};

/*
 * The purpose of opening sources.
 *
 * @broken: the first damaged file is reported here; the others are read on
 * @newcomers: tasks missing in task.txt, by tid; NULL: not needed
 * @losses, and names of tasks: are recorded when @takes_notes. If a file is read repeatedly, they
 *          are recorded the first time only
 * @wants_points: events other than calls and times off the CPU are shown
 */
struct source_context {
	struct trace_data *data;
	struct uft_err *broken;
	struct kernel_losses *losses;
	struct task_list *newcomers;
	bool takes_notes;
	bool wants_points;
};

/* A list of sources, which are on the heap, as is @all. Starts as { 0 }. */
struct source_list {
	struct source **all;
	size_t nr;
};

/* Append @src, which the list then owns. 0, or -ENOMEM, and @src is closed. */
int source_list_add(struct source_list *list, struct source *src);

/*
 * One row for each kind of source of all tasks (pipeline.c has the table): open() appends those of
 * the recording, usually one for each CPU. At equal times the order of sources counts. 0, or
 * negative with @err; the caller closes the appended sources in any case.
 *
 * @wants: true when a pipeline of this configuration shows any of its events. NULL: always
 */
struct source_kind {
	const char *name;
	int (*open)(const struct source_context *context, struct source_list *list,
		    struct uft_err *err);
	bool (*wants)(const struct stage_config *stages);
};

#endif
