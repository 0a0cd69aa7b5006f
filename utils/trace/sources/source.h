/*
 * Sources of events: one interface for records, the scheduler, tracepoints, extern.dat and future
 * ones.
 */
#ifndef UTRAIL_TRACE_SOURCE_H
#define UTRAIL_TRACE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/trace/event.h"

/*
 * A source is a stream of events by time. There are three kinds, by the tasks whose
 * events they have:
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
 * Callers: one thread at a time, from read() to close(). None of these functions prints, waits for
 * anybody or calls back.
 *
 * A source is asked once for many events, never once per event, when it is on the way of calls:
 * read() takes as many as there is room for.
 */
struct source_ops {
	/*
	 * No event that is still to come is earlier; UINT64_MAX: there is none now. It costs a look
	 * at memory; a source that knows only a lower bound returns that.
	 */
	uint64_t (*next_ns)(struct source *src);

	/*
	 * Write the next events, at most @max (which is at least one), and none later than
	 * @until_ns, to @events; all of them are of the task in src->task. Returns how many; 0: the
	 * next one is later, or there is none now. Times do not go backwards but for damaged files
	 * and within a CPU's files, by so little as MERGER_LATE_NS. @events->data belongs to the
	 * source, and is valid until it is called again.
	 *
	 * Negative with @err: all events before it have been returned, and nothing comes after it.
	 * -EBADMSG is damage: the caller notes it and shows the rest. Everything else ends the run.
	 */
	ssize_t (*read)(struct source *src, struct event *events, size_t max, uint64_t until_ns,
			struct uft_err *err);

	/*
	 * Look for new events in a recording that grows, between two runs; next_ns() and read() see
	 * them then. NULL: there never are. 0, or negative with @err.
	 */
	int (*more)(struct source *src, struct uft_err *err);

	/* Give back all that it has. A source of the heap (those of a feed are) frees itself. */
	void (*close)(struct source *src);

	/*
	 * The same for calls of the kernel, for a feed's source; NULL where there are none. They
	 * are written in the form in which they wait for their task, up to the first event that is
	 * anything else, or another task's. Returns how many; 0: read() must be asked.
	 */
	size_t (*read_calls)(struct source *src, struct queued *calls, size_t max,
			     uint64_t until_ns);
};

/*
 * The beginning of each source; others see no more of it.
 *
 * @task: the task of the events that read() has written; NULL: of no task that is known
 * @tid, @other_tid: then, of a recording that grows: their task when one of these is announced, the
 *                   first before the other; 0: nobody
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
 * The events that the kernel had no room for; @has_more_lost: and others that were not counted.
 * @has_files: there are any.
 */
struct kernel_losses {
	uint64_t lost;
	bool has_more_lost;
	bool has_files;
};

/*
 * The purpose for which sources are opened.
 *
 * @broken: the first damaged file is told here; the others are read on
 * @newcomers: tasks that task.txt does not tell of, by tid; NULL: nobody asks
 * @losses, and names of tasks: are noted when @takes_notes. Files that are read more than once note
 * them the first time only
 * @wants_points: somebody shows events that are no call and no time off the CPU
 */
struct source_context {
	struct trace_data *data;
	struct uft_err *broken;
	struct kernel_losses *losses;
	struct task_list *newcomers;
	bool takes_notes;
	bool wants_points;
};

/* @all: of the heap, and so are they. Starts as { 0 }. */
struct source_list {
	struct source **all;
	size_t nr;
};

/* Append @src, which the list owns then. 0, or -ENOMEM: then it is closed. */
int source_list_add(struct source_list *list, struct source *src);

/*
 * One row for each kind of source of all tasks (pipeline.c has the table): open() appends those
 * that the recording has, mostly one for each CPU. Their order counts when times are equal. 0, or
 * negative with @err; the caller closes the appended ones in any case.
 *
 * @wants: true when a pipeline of this configuration shows any of it. NULL: always
 */
struct source_kind {
	const char *name;
	int (*open)(const struct source_context *context, struct source_list *list,
		    struct uft_err *err);
	bool (*wants)(const struct stage_config *stages);
};

#endif
