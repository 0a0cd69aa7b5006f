/*
 * Merges the events of all lanes (one lane per task) by time, with a heap. The view gets as many
 * events at once as possible.
 */
#include <errno.h>
#include <stdlib.h>

#include "utils/base/cleanup.h"
#include "utils/pipeline/merge_key.h"
#include "utils/pipeline/pipeline.h"

/*
 * @heap: a key for the next event of each lane, with the smallest key at the top. Unused slots have
 *        MERGE_KEY_END
 * @cap: the number of slots. It is odd, so each node has two children or none
 * @barrier_ns: events that are later than this time are not shown; UINT64_MAX: no limit. In a
 *              growing recording, a lane may run out of events while the lane's duration filter
 *              (stg_time) holds back calls. Among the calls that such lanes hold back, the
 *              earliest start is the barrier
 * @is_running: the last event came from the lane that is now at the top. This lane may have several
 *              events before the next event of any other lane
 */
struct merge {
	struct pipeline *pipe;
	merge_key_t *heap;
	bool is_running;
	size_t cap;
	uint64_t barrier_ns;
};

/*
 * HOT: replace the key at @at by the later @head, and sift it down. The smaller child is chosen
 * without a branch, which a CPU could not predict.
 */
static void replace_head(struct merge *merge, size_t at, merge_key_t head)
{
	merge_key_t *heap = merge->heap;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= merge->cap)
			break;

		size_t is_right;
		merge_key_t first = merge_key_first(heap + child, &is_right);

		if (!merge_key_is_before(first, head))
			break;
		heap[at] = first;
		at = child + is_right;
	}
	heap[at] = head;
}

static void replace_top(struct merge *merge, merge_key_t head)
{
	replace_head(merge, 0, head);
	merge->is_running = merge_key_index(merge->heap[0]) == merge_key_index(head);
}

/*
 * Returns the second smallest key, which is the smallest of three keys: the keys of the two
 * children of the top, and the key of @barrier_ns.
 */
static merge_key_t second(const struct merge *merge)
{
	merge_key_t barrier = merge_key_of(merge->barrier_ns, SIZE_MAX);

	return merge_key_min(merge_key_min(merge->heap[1], merge->heap[2]), barrier);
}

/*
 * Count the lane's next events that come before @limit. The first of the next events is counted
 * without a comparison with @limit.
 */
static size_t run_length(const struct lane *lane, size_t index, merge_key_t limit)
{
	uint64_t limit_ns = merge_key_time(limit);
	size_t i = lane->at + 1;

	if (limit_ns == MERGE_KEY_END)
		return lane->nr - lane->at;
	/* On a tie the lane with the lower index goes first. */
	if (index < merge_key_index(limit))
		limit_ns++;
	while (i < lane->nr && lane->events[i].time_ns < limit_ns)
		i++;
	return i - lane->at;
}

/* Get the time of the lane's next event. An empty lane is refilled first. */
static int next_time(struct merge *merge, struct lane *lane, uint64_t *time_ns, struct uft_err *err)
{
	if (lane->at == lane->nr) {
		int ret = lane_fill(lane, err);

		if (ret <= 0) {
			*time_ns = MERGE_KEY_END;
			if (lane->state == LANE_DRY)
				merge->barrier_ns = MIN(merge->barrier_ns,
							stg_time_waits_since(&lane->time));
			return ret;
		}
	}
	*time_ns = MIN(lane->events[lane->at].time_ns, MERGE_KEY_END - 1);
	return 0;
}

/*
 * Show events of the lane at the top. If the previous event came from this lane, show all events up
 * to the next event of another lane. Otherwise show only one event: the next event probably
 * belongs to another lane, so run_length() is not called.
 */
static int take_run(struct merge *merge, const struct view *view, struct uft_err *err)
{
	size_t index = merge_key_index(merge->heap[0]);
	struct lane *lane = &merge->pipe->lanes[index];
	uint64_t time_ns;
	int ret = 0;

	/* lane->nr is 0 until next_time() has read the first events of the lane. */
	if (likely(lane->nr)) {
		struct event_span span = { lane->task, lane->events + lane->at, 1 };

		if (merge->is_running)
			span.nr = run_length(lane, index, second(merge));
		ret = view->events(view->self, &span, err);
		lane->at += span.nr;
	}
	if (ret < 0)
		return ret;
	ret = next_time(merge, lane, &time_ns, err);
	replace_top(merge, merge_key_of(time_ns, index));
	return ret;
}

/* The maximum number of events that take_turns() shows at once. */
#define TURNS 128

/*
 * Returns a time, at most MERGE_KEY_END - 1. If an event of lane @index is earlier than this time,
 * the event's key is smaller than @limit. Events at MERGE_KEY_END - 1 or later are left to
 * take_run().
 */
static uint64_t end_before(size_t index, merge_key_t limit)
{
	return MIN(merge_key_time(limit) + (index < merge_key_index(limit)), MERGE_KEY_END - 1);
}

/*
 * HOT: merge events of two lanes, choosing the lane without a branch. Returns the number of events,
 * which may be 0.
 */
static size_t gather(struct task_event *out, struct lane *a, uint64_t a_end_ns, struct lane *b,
		     uint64_t b_end_ns, bool a_is_first)
{
	const struct event *x = a->events + a->at;
	const struct event *y = b->events + b->at;
	const struct event *x_end = a->events + a->nr;
	const struct event *y_end = b->events + b->nr;
	size_t nr = 0;

	while (nr < TURNS && x < x_end && y < y_end) {
		bool is_y = (y->time_ns < x->time_ns) | ((y->time_ns == x->time_ns) & !a_is_first);
		const struct event *event = is_y ? y : x;

		if (event->time_ns >= (is_y ? b_end_ns : a_end_ns))
			break;
		out[nr].event = event;
		out[nr++].task = is_y ? b->task : a->task;
		x += !is_y;
		y += is_y;
	}
	a->at = x - a->events;
	b->at = y - b->events;
	return nr;
}

/*
 * The second smallest key of the heap, and the third smallest key. If the key of @barrier_ns is
 * smaller than the third key, @third is the key of @barrier_ns.
 */
struct followers {
	size_t second_at; /* index in the heap */
	merge_key_t third;
};

static struct followers find_followers(const struct merge *merge)
{
	const merge_key_t *heap = merge->heap;
	size_t at = merge_key_is_before(heap[2], heap[1]) ? 2 : 1;
	merge_key_t third = merge_key_min(heap[3 - at], merge_key_of(merge->barrier_ns, SIZE_MAX));

	/* A node has two children, or none. */
	if (2 * at + 1 < merge->cap)
		third = merge_key_min(third, merge_key_min(heap[2 * at + 1], heap[2 * at + 2]));
	return (struct followers){ at, third };
}

/*
 * A run is a series of events of one lane, without an event of another lane between them.
 * take_turns() leaves runs of at least LONG_RUN events to take_run().
 */
#define LONG_RUN 8

static bool takes_turns(const struct merge *merge, const struct lane *lane, merge_key_t second)
{
	return lane->nr - lane->at < LONG_RUN ||
	       lane->events[lane->at + LONG_RUN - 1].time_ns >= merge_key_time(second);
}

/*
 * Show events of the first two lanes, if the lanes alternate. Returns 1 on success, 0 if the lanes
 * do not alternate, or a negative errno.
 */
static int take_turns(struct merge *merge, const struct view *view, struct uft_err *err)
{
	struct pipeline *pipe = merge->pipe;
	struct followers f = find_followers(merge);
	merge_key_t top = merge->heap[0];
	merge_key_t second = merge->heap[f.second_at];
	size_t a_index = merge_key_index(top);
	size_t b_index = merge_key_index(second);

	if (a_index >= pipe->nr_lanes || b_index >= pipe->nr_lanes ||
	    merge_key_time(second) == MERGE_KEY_END)
		return 0;

	struct lane *a = &pipe->lanes[a_index];
	struct lane *b = &pipe->lanes[b_index];
	struct task_event events[TURNS];
	uint64_t time_ns;

	if (a->nr == 0 || b->nr == 0 || !takes_turns(merge, a, second))
		return 0;

	size_t nr = gather(events, a, end_before(a_index, f.third), b, end_before(b_index, f.third),
			   a_index < b_index);
	if (nr == 0)
		return 0;

	int ret = view->mixed(view->self, events, nr, err);

	if (ret == 0)
		ret = next_time(merge, b, &time_ns, err);
	if (ret < 0)
		return ret;
	replace_head(merge, f.second_at, merge_key_of(time_ns, b_index));
	ret = next_time(merge, a, &time_ns, err);
	replace_head(merge, 0, merge_key_of(time_ns, a_index));
	merge->is_running = false;
	return ret < 0 ? ret : 1;
}

/*
 * Returns the time of the next line of extern.dat, or MERGE_KEY_END if the time range has no more
 * lines.
 */
static uint64_t next_extern_ns(const struct pipeline *pipe)
{
	uint64_t time_ns = pipe->ext ? source_next_ns(pipe->ext) : UINT64_MAX;
	uint64_t last_ns = MIN(pipeline_limit_ns(pipe), pipe->stop_ns);

	return time_ns == UINT64_MAX || time_ns > last_ns ? MERGE_KEY_END
							  : MIN(time_ns, MERGE_KEY_END - 1);
}

/* Pass on the next line of extern.dat, unless it is before the time range. */
static int take_extern(struct merge *merge, const struct view *view, struct uft_err *err)
{
	struct pipeline *pipe = merge->pipe;
	struct event event;
	ssize_t nr = source_read(pipe->ext, &event, 1, UINT64_MAX, err);
	struct event_span span = { NULL, &event, nr };
	int ret = MIN(nr, 0);

	if (nr > 0 && event.time_ns >= pipe->start_ns)
		ret = view->events(view->self, &span, err);

	replace_top(merge, merge_key_of(next_extern_ns(pipe), pipe->nr_lanes));
	return ret;
}

static int compare_heads(const void *a, const void *b)
{
	merge_key_t x = *(const merge_key_t *)a;
	merge_key_t y = *(const merge_key_t *)b;

	return merge_key_is_before(x, y) ? -1 : merge_key_is_before(y, x);
}

/*
 * Returns a lower bound of the times of a lane that was not read yet. With this bound, the lane
 * need not be read before its turn. A lane that is read late can often use the buffers of a lane
 * that has ended.
 */
static uint64_t earliest_ns(const struct lane *lane)
{
	return MIN(MIN(lane->task->first_ns, lane_next_other_ns(lane)), MERGE_KEY_END - 1);
}

/*
 * True when the first read of @lane can wait until the lane's turn. The lanes of a growing
 * recording cannot wait.
 */
static bool is_waiting(const struct pipeline *pipe, const struct lane *lane)
{
	return !pipe->data->growth && !lane->batch && lane->state != LANE_FINISHED;
}

/* Make the heap from the times of the lanes' next events. A sorted array is a valid heap. */
static int start_heap(struct merge *merge, struct uft_err *err)
{
	struct pipeline *pipe = merge->pipe;

	for (size_t i = 0; i < merge->cap; i++) {
		uint64_t time_ns = MERGE_KEY_END;

		if (i < pipe->nr_lanes && is_waiting(pipe, &pipe->lanes[i])) {
			time_ns = earliest_ns(&pipe->lanes[i]);
			if (time_ns > pipeline_limit_ns(pipe))
				time_ns = MERGE_KEY_END;
		} else if (i < pipe->nr_lanes) {
			int ret = next_time(merge, &pipe->lanes[i], &time_ns, err);

			if (ret < 0)
				return ret;
		} else if (i == pipe->nr_lanes) {
			time_ns = next_extern_ns(pipe);
		}
		merge->heap[i] = merge_key_of(time_ns, i);
	}
	qsort(merge->heap, merge->cap, sizeof(*merge->heap), compare_heads);
	return 0;
}

int merge_run(struct pipeline *pipe, const struct view *view, struct uft_err *err)
{
	/*
	 * @cap is odd and at least 3. So the top has two children, and any other node has two
	 * children or none.
	 */
	struct merge merge = {
		.pipe = pipe,
		.cap = MAX((pipe->nr_lanes + 1) | 1, (size_t)3),
		.barrier_ns = UINT64_MAX,
	};
	merge_key_t *heap cleanup_free = calloc(merge.cap, sizeof(*heap));

	if (!heap)
		return err_set_errno(err, -ENOMEM, "cannot merge %zu tasks", pipe->nr_lanes);
	merge.heap = heap;

	int ret = start_heap(&merge, err);

	while (ret == 0 && merge_key_time(heap[0]) != MERGE_KEY_END &&
	       merge_key_time(heap[0]) <= merge.barrier_ns) {
		if (view->mixed && !merge.is_running)
			ret = take_turns(&merge, view, err);
		if (ret != 0) {
			ret = MIN(ret, 0);
			continue;
		}
		if (merge_key_index(heap[0]) == pipe->nr_lanes)
			ret = take_extern(&merge, view, err);
		else
			ret = take_run(&merge, view, err);
	}
	return ret;
}
