/* Each queue keeps the events of one task until a consumer has taken the events (see merger.h). */
#include "utils/pipeline/merger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The initial capacity of a queue, in events. */
#define QUEUE_LEAST 16

static bool is_before(const struct queued *a, const struct queued *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->source < b->source;
}

static int make_room(struct queue *queue, size_t nr)
{
	size_t cap = MAX(queue->cap + queue->cap / 2, MAX(queue->nr + nr, (size_t)QUEUE_LEAST));
	struct queued *events;

	if (queue->cap - queue->nr >= nr)
		return 0;
	events = reallocarray(queue->events, cap, sizeof(*events));
	if (!events)
		return -ENOMEM;
	queue->events = events;
	queue->cap = cap;
	return 0;
}

int queue_add(struct queue *queue, struct queued event)
{
	if (make_room(queue, 1) < 0) {
		free(event.data);
		return -ENOMEM;
	}
	queue->is_unsorted |= queue->nr > queue->nr_taken &&
			      is_before(&event, &queue->events[queue->nr - 1]);
	queue->events[queue->nr++] = event;
	return 0;
}

int queue_add_calls(struct queue *queue, const struct queued *calls, size_t nr, size_t source)
{
	if (make_room(queue, nr) < 0)
		return -ENOMEM;

	struct queued *to = queue->events + queue->nr;
	bool is_first = queue->nr == queue->nr_taken;
	bool is_unsorted = false;

	for (size_t i = 0; i < nr; i++) {
		to[i] = calls[i];
		to[i].source = source;
		if (!is_first || i)
			is_unsorted |= is_before(&to[i], &to[i] - 1);
	}
	queue->is_unsorted |= is_unsorted;
	queue->nr += nr;
	return 0;
}

void queue_drop(struct queue *queue, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(queue->events[i].data);
	queue->nr -= nr;
	queue->nr_taken -= MIN(queue->nr_taken, nr);
	if (nr && queue->nr)
		memmove(queue->events, queue->events + nr, queue->nr * sizeof(*queue->events));
}

void queue_deinit(struct queue *queue)
{
	queue_drop(queue, queue->nr);
	free(queue->events);
	*queue = (struct queue){ 0 };
}

/* Merge two sorted runs into @to. */
static void merge_runs(const struct queued *a, const struct queued *a_end, const struct queued *b,
		       const struct queued *b_end, struct queued *to)
{
	while (a < a_end || b < b_end) {
		bool is_b = a == a_end || (b < b_end && is_before(b, a));

		*to++ = is_b ? *b : *a;
		a += !is_b;
		b += is_b;
	}
}

/* Sort events. Equal events keep their order, which qsort(3) does not guarantee. */
static int sort_queued(struct queued *events, size_t nr)
{
	struct queued *room = reallocarray(NULL, nr, sizeof(*room));
	struct queued *from = events;
	struct queued *to = room;

	if (!room)
		return -ENOMEM;
	for (size_t run = 1; run < nr; run *= 2) {
		for (size_t at = 0; at < nr; at += 2 * run) {
			size_t mid = MIN(at + run, nr);
			size_t end = MIN(at + 2 * run, nr);

			merge_runs(from + at, from + mid, from + mid, from + end, to + at);
		}

		struct queued *done = to;

		to = from;
		from = done;
	}
	if (from != events)
		memcpy(events, from, nr * sizeof(*events));
	free(room);
	return 0;
}

/*
 * Sort events by insertion, which is fast because most events are near their place. Returns false
 * after too many moves, when another way of sorting is faster.
 */
static bool insert(struct queued *events, size_t nr)
{
	size_t nr_moves = 4 * nr;

	for (size_t i = 1; i < nr; i++) {
		struct queued event = events[i];
		size_t at = i;

		if (!is_before(&event, &events[i - 1]))
			continue;
		for (; at > 0 && nr_moves && is_before(&event, &events[at - 1]); at--, nr_moves--)
			events[at] = events[at - 1];
		events[at] = event;
		if (!nr_moves)
			return false;
	}
	return true;
}

int queue_settle(struct queue *queue)
{
	int ret = 0;

	if (queue->is_unsorted) {
		struct queued *events = queue->events + queue->nr_taken;
		size_t nr = queue->nr - queue->nr_taken;

		if (!insert(events, nr))
			ret = sort_queued(events, nr);
	}

	queue->is_unsorted = false;
	return ret;
}

/* --- the queue of a task as a source --- */

static uint64_t queue_next_ns(struct source *source)
{
	const struct queue_source *src = (const struct queue_source *)source;

	return src->at == src->end ? UINT64_MAX : src->queue->events[src->at].time_ns;
}

static ssize_t queue_read(struct source *source, struct event *events, size_t max,
			  uint64_t until_ns, struct uft_err *err)
{
	struct queue_source *src = (struct queue_source *)source;
	size_t nr = 0;

	for (; nr < max && src->at < src->end; src->at++) {
		const struct queued *queued = &src->queue->events[src->at];

		if (queued->time_ns > until_ns)
			break;
		events[nr++] = (struct event){
			.time_ns = queued->time_ns,
			.addr = queued->addr,
			.data = queued->data,
			.data_len = queued->data_len,
			.type = queued->type,
			.flags = queued->flags,
		};
	}
	return nr;
}

static void queue_close(struct source *source)
{
	/* The merger owns the queue. */
}

void queue_source_init(struct queue_source *src, struct queue *queue, const struct task *task)
{
	static const struct source_ops ops = {
		.next_ns = queue_next_ns,
		.read = queue_read,
		.close = queue_close,
	};

	*src = (struct queue_source){
		.source = { .ops = &ops, .task = task },
		.queue = queue,
		.end = queue ? queue->nr : 0,
	};
}
