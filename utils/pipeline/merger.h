/* Sources of all tasks, merged by time and distributed to the tasks: a queue for each task. */
#ifndef UTRAIL_PIPELINE_MERGER_H
#define UTRAIL_PIPELINE_MERGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/pipeline/sources/source.h"

/*
 * The files are by CPU, and other data are by task. So a feed reads all of them in parallel, as far
 * as the queues may grow. It continues when the consumers are done: merger_fill(), then everything
 * up to complete_ns, and again.
 */

/*
 * Writers of a CPU's file may be interrupted by other writers of it, and some events have a time
 * before they were written. So an event may be this much later than one that follows it.
 */
#define MERGER_LATE_NS 1000000

/*
 * A queued event. Its payload is of the heap; without one, @data_len is the CPU or 0, as in struct
 * event.
 *
 * @depth: ENTRY, EXIT: of the record
 * @source: the index of its source in the feed: the order of events with the same time
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
 * @nr_taken: the first ones were taken, and are not removed yet
 * @is_wanted: the events of the task are kept
 * @is_unsorted: a time went backwards
 * @looked_ns, @is_off, @back_ns: of a recording that grows: the time up to which the first return
 * to the CPU was looked for; true when the task was off it then; the time when it came back, 0: it
 * has not yet
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
 * The counted events of a task from a survey of everything. @nr_calls: of these @nr calls of the
 * kernel.
 */
struct survey {
	uint64_t nr;
	uint64_t nr_calls;
	uint64_t bytes;		/* bytes that its queue would take */
	uint64_t first_ns;	/* UINT64_MAX without any */
	uint64_t last_ns;	/* 0 without any */
	uint64_t first_call_ns; /* of the kernel; UINT64_MAX without any */
	uint64_t first_sign_ns; /* began or got a name; UINT64_MAX: that is not told */
	/* The first return to the CPU after the task had left it; UINT64_MAX: never */
	uint64_t first_back_ns;
	bool is_out;
};

struct stray;

/*
 * @next: the time of the next event of each source
 * @queues: by task->index
 * @keeps_all: queues of tasks that are new are wanted
 * @strays: of a recording that grows: of tasks that are not announced yet
 * @complete_ns: up to there the queues have everything; UINT64_MAX: so far as files go
 * @last_ns: of all that was read
 * @why: the error of a source
 *
 * Starts as { 0 }, ends with merger_close().
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
 * Open the sources of @kinds, which end with NULL. Initially no queue is kept. 0, or negative with
 * @err.
 */
int merger_open(struct merger *feed, const struct source_context *context,
		const struct source_kind *const *kinds, struct uft_err *err);
void merger_close(struct merger *feed);

/* Read everything and keep only a survey of each task in @surveys (by task->index). */
int merger_survey(struct merger *feed, struct survey *surveys, struct uft_err *err);

/*
 * Read until the wanted queues have got about @max_bytes, or to the end. 1: there is more; 0;
 * negative with @err. Queues move.
 */
int merger_fill(struct merger *feed, size_t max_bytes, struct uft_err *err);

/* Look for more events, and other tasks, in a growing recording. */
int merger_more(struct merger *feed, struct uft_err *err);

/*
 * Append an event, taking its payload in any case; or calls from the @source of that index in the
 * feed. 0 or -ENOMEM.
 */
int queue_add(struct queue *queue, struct queued event);
int queue_add_calls(struct queue *queue, const struct queued *calls, size_t nr, size_t source);

/* Sort the events, unless they are in order. 0 or -ENOMEM. */
int queue_settle(struct queue *queue);
void queue_deinit(struct queue *queue);

/* Remove the first @nr events of the queue; their payloads are not used any more. */
void queue_drop(struct queue *queue, size_t nr);

/* A lane's source for its task's queue. */
struct queue_source {
	struct source source;
	struct queue *queue; /* NULL: there are no events */
	size_t at;
	size_t end;
};
void queue_source_init(struct queue_source *src, struct queue *queue, const struct task *task);

#endif
