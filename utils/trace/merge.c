/* The merge of all tasks by time: a heap of lanes, and runs as long as they go. */
#include <errno.h>
#include <stdlib.h>

#include "utils/base/cleanup.h"
#include "utils/trace/pipeline.h"

/*
 * @time_ns: of the next event of lane @index; the index of the external events is behind all
 * others. Copied out of the lanes, so that sifting touches the heap only.
 */
struct head {
	uint64_t time_ns;
	size_t index;
};

struct merge {
	struct pipeline *pipe;
	struct head *heap;
	size_t nr;
	size_t ext_at;
};

static bool comes_first(const struct head *a, const struct head *b)
{
	return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->index < b->index);
}

/* Move the top down to where it belongs. */
static void sift_down(struct merge *merge)
{
	struct head top = merge->heap[0];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= merge->nr)
			break;
		if (child + 1 < merge->nr &&
		    comes_first(&merge->heap[child + 1], &merge->heap[child]))
			child++;
		if (!comes_first(&merge->heap[child], &top))
			break;
		merge->heap[at] = merge->heap[child];
		at = child;
	}
	merge->heap[at] = top;
}

static void push(struct merge *merge, struct head head)
{
	size_t at = merge->nr++;

	while (at && comes_first(&head, &merge->heap[(at - 1) / 2])) {
		merge->heap[at] = merge->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	merge->heap[at] = head;
}

/* Who comes after the top: its smaller child. */
static struct head second(const struct merge *merge)
{
	static const struct head none = { UINT64_MAX, SIZE_MAX };

	if (merge->nr < 2)
		return none;
	if (merge->nr == 2 || comes_first(&merge->heap[1], &merge->heap[2]))
		return merge->heap[1];
	return merge->heap[2];
}

/* How many events of the lane, from the next on, come before @limit. At least one. */
static size_t run_length(const struct lane *lane, size_t index, const struct head *limit)
{
	uint64_t limit_ns = limit->time_ns;
	size_t i = lane->at + 1;

	if (limit->index == SIZE_MAX)
		return lane->nr - lane->at;
	/* On a tie the lane with the lower index goes first. */
	if (index > limit->index) {
		while (i < lane->nr && lane->events[i].time_ns < limit_ns)
			i++;
	} else {
		while (i < lane->nr && lane->events[i].time_ns <= limit_ns)
			i++;
	}
	return i - lane->at;
}

/* Take the top's run and put the lane back where its next event belongs. */
static int take_run(struct merge *merge, const struct view *view, struct uft_err *err)
{
	struct head *top = &merge->heap[0];
	struct lane *lane = &merge->pipe->lanes[top->index];
	struct head limit = second(merge);
	struct event_span span = { lane->task, lane->events + lane->at,
				   run_length(lane, top->index, &limit) };
	int ret = view->events(view->self, &span, err);

	if (ret < 0)
		return ret;
	lane->at += span.nr;
	if (lane->at == lane->nr) {
		ret = lane_fill(lane, err);
		if (ret < 0)
			return ret;
		if (ret == 0) {
			*top = merge->heap[--merge->nr];
			if (merge->nr)
				sift_down(merge);
			return 0;
		}
	}
	top->time_ns = lane->events[lane->at].time_ns;
	sift_down(merge);
	return 0;
}

static int take_extern(struct merge *merge, const struct view *view, struct uft_err *err)
{
	const struct src_extern *ext = &merge->pipe->ext;
	struct event_span span = { NULL, &ext->events[merge->ext_at++], 1 };

	if (merge->ext_at < ext->nr)
		merge->heap[0].time_ns = ext->events[merge->ext_at].time_ns;
	else
		merge->heap[0] = merge->heap[--merge->nr];
	if (merge->nr)
		sift_down(merge);
	return view->events(view->self, &span, err);
}

static int fill_heap(struct merge *merge, struct uft_err *err)
{
	struct pipeline *pipe = merge->pipe;

	for (size_t i = 0; i < pipe->nr_lanes; i++) {
		int ret = lane_fill(&pipe->lanes[i], err);

		if (ret < 0)
			return ret;
		if (ret > 0)
			push(merge, (struct head){ pipe->lanes[i].events[0].time_ns, i });
	}
	if (pipe->ext.nr)
		push(merge, (struct head){ pipe->ext.events[0].time_ns, pipe->nr_lanes });
	return 0;
}

int merge_run(struct pipeline *pipe, const struct view *view, struct uft_err *err)
{
	struct head *heap cleanup_free = calloc(pipe->nr_lanes + 1, sizeof(*heap));
	struct merge merge = { .pipe = pipe, .heap = heap };

	if (!heap)
		return err_set_errno(err, -ENOMEM, "cannot merge %zu tasks", pipe->nr_lanes);

	int ret = fill_heap(&merge, err);

	while (ret == 0 && merge.nr) {
		if (merge.heap[0].index == pipe->nr_lanes)
			ret = take_extern(&merge, view, err);
		else
			ret = take_run(&merge, view, err);
	}
	return ret;
}
