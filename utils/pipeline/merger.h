/* Merges the events of all sources by time, and puts them into queues, one for each task. */
#ifndef UTRAIL_PIPELINE_MERGER_H
#define UTRAIL_PIPELINE_MERGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/pipeline/sources/source.h"

/*
 * A file has the events of one CPU, but a consumer needs the events of one task. So each task has a
 * queue. merger_fill() reads all files in the order of time until the queues are full. Then the
 * consumers take all events up to complete_ns, and merger_fill() is called again.
 */

/*
 * The largest amount by which times go backwards in a file. The writing of an event can be
 * interrupted by other events, and some events get their time long before they are written.
 */
#define MERGER_LATE_NS 1000000

/*
 * A queued event.
 *
 * @data: the payload, on the heap; NULL: none
 * @data_len: the length of the payload. Without a payload: the CPU or 0, as in struct event
 * @depth: ENTRY, EXIT: the depth of the record
 * @source: the index of the event's source in merger.sources. Events with the same time are sorted
 *          by @source
 */
struct queued {
	uint64_t time_ns;
	uint64_t addr;
	uint8_t *data;
	union {
		uint16_t data_len;
		uint16_t depth;
	};
	uint16_t source;
	uint8_t type;
	uint8_t flags;
};

/*
 * The events of one task.
 *
 * @nr_taken: the number of events at the front that a consumer has taken, but not removed yet
 * @is_wanted: the events of the task are kept
 * @is_unsorted: an event is earlier than the one before it
 *
 * In a growing recording, these members are used to find the task's first return to a CPU:
 *
 * @is_off: the task was off the CPU at @looked_ns
 * @looked_ns: the time up to which events were searched
 * @back_ns: the time of the return; 0: not found yet
 */
struct queue {
	struct queued *events;
	size_t nr;
	size_t cap;
	size_t nr_taken;
	bool is_wanted;
	bool is_unsorted;
	bool is_off;
	uint64_t looked_ns;
	uint64_t back_ns;
};

/*
 * Facts about the @nr events of a task. @nr_calls of these events are entries to kernel functions
 * or exits from kernel functions.
 */
struct survey {
	uint64_t nr;
	uint64_t nr_calls;
	uint64_t bytes;		/* bytes of memory that a queue needs for the @nr events */
	uint64_t first_ns;	/* UINT64_MAX without events */
	uint64_t last_ns;	/* 0 without events */
	uint64_t first_call_ns; /* time of the first call of a kernel function; UINT64_MAX: none */
	uint64_t first_sign_ns; /* time of the first TASK_NEW or TASK_NAME; UINT64_MAX: none */
	uint64_t first_back_ns; /* the task's first return to the CPU; UINT64_MAX: never */
	bool is_out;		/* the task was off the CPU after the last event */
};

struct stray;

/*
 * Starts as { 0 }, ends with merger_close().
 *
 * @next: the time of the next event of each source
 * @queues: the queue of each task; the index is task->index
 * @keeps_all: the value of queue.is_wanted for each task that is added later
 * @strays: in a growing recording: events whose task the recording has not announced yet
 * @complete_ns: the queues have all events up to this time; UINT64_MAX: all events of the files
 * @last_ns: the largest time that was read
 * @why: room for the error of a source
 */
struct merger {
	struct source_context context;
	struct source_list sources;
	uint64_t *next;
	struct queue *queues;
	size_t nr_queues;
	bool keeps_all;
	struct stray *strays;
	size_t nr_strays;
	uint64_t complete_ns;
	uint64_t last_ns;
	struct uft_err why;
};

static inline bool merger_is_open(const struct merger *feed)
{
	return feed->next;
}

/*
 * Open the sources of @kinds, a list that ends with NULL. In all queues, is_wanted becomes false.
 * Returns 0, or a negative errno with @err.
 */
int merger_open(struct merger *feed, const struct source_context *context,
		const struct source_kind *const *kinds, struct uft_err *err);
void merger_close(struct merger *feed);

/* Read all events, and fill in @surveys, one for each task (by task->index). No event is kept. */
int merger_survey(struct merger *feed, struct survey *surveys, struct uft_err *err);

/*
 * Read events into the wanted queues, up to the end, or until the events have taken about
 * @max_bytes of memory. Queues may move in memory. Returns 1 when there are more events, 0 when
 * there are none, or a negative errno with @err.
 */
int merger_fill(struct merger *feed, size_t max_bytes, struct uft_err *err);

/* Look for new events, and for new tasks, in a growing recording. */
int merger_more(struct merger *feed, struct uft_err *err);

/*
 * queue_add() appends @event, and takes ownership of the payload of @event. On an error,
 * queue_add() frees the payload. queue_add_calls() appends @calls, which all come from one source.
 * @source is the index of this source in merger.sources. queue_add() and queue_add_calls() return 0
 * or -ENOMEM.
 */
int queue_add(struct queue *queue, struct queued event);
int queue_add_calls(struct queue *queue, const struct queued *calls, size_t nr, size_t source);

/* Sort the events, unless they are in order. Returns 0 or -ENOMEM. */
int queue_settle(struct queue *queue);
void queue_deinit(struct queue *queue);

/* Remove the first @nr events of the queue, and free their payloads. */
void queue_drop(struct queue *queue, size_t nr);

/* A source that reads the queue of a task, for the task's lane (struct lane in pipeline.h). */
struct queue_source {
	struct source source;
	struct queue *queue; /* NULL: the task has no events */
	size_t at;
	size_t end;
};
void queue_source_init(struct queue_source *src, struct queue *queue, const struct task *task);

#endif
