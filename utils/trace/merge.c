/* The merge of all tasks by time: a tournament of lanes, and runs as long as they go. */
#include <errno.h>
#include <stdlib.h>

#include "utils/base/cleanup.h"
#include "utils/trace/pipeline.h"

/*
 * When a lane's next event is, above which lane it is (below): so one comparison orders by time
 * and, on a tie, by lane. The external events are behind all lanes. HEAD_END is a lane without
 * events.
 */
typedef unsigned __int128 head_t;

#define HEAD_END (UINT64_MAX / 2)

/* The top bit stays free for the sign of a difference; 292 years are enough for times. */
static head_t head_of(uint64_t time_ns, size_t index)
{
	return (head_t)MIN(time_ns, HEAD_END) << 64 | index;
}

static uint64_t head_time(head_t head)
{
	return head >> 64;
}

static size_t head_index(head_t head)
{
	return (uint64_t)head;
}

/*
 * A tree of losers: @tree[1] to [@nr_leaves - 1] hold who lost the match there, @winner who lost
 * none. When the winner's next event comes, only the matches on its way up are played again.
 *
 * @is_running: the winner was the winner before: it may have a long run
 */
struct merge {
	struct pipeline *pipe;
	head_t *tree;
	head_t winner;
	bool is_running;
	size_t nr_leaves; /* a power of two */
	size_t ext_at;
};

/* HOT: the winner's leaf has a new head; find the next winner. No branch to be guessed wrong. */
static void play(struct merge *merge, head_t head)
{
	head_t *tree = merge->tree;
	size_t index = head_index(head);

	for (size_t at = (merge->nr_leaves + index) / 2; at > 0; at /= 2) {
		head_t rival = tree[at];
		/* All ones when the rival comes first: the sign of the difference. */
		head_t wins = (head_t)((__int128)(rival - head) >> 127);
		head_t swap = (head ^ rival) & wins;

		tree[at] = rival ^ swap;
		head ^= swap;
	}
	merge->is_running = head_index(head) == index;
	merge->winner = head;
}

/* Who comes after the winner: the first of those that lost to it, who are on its way up. */
static head_t second(const struct merge *merge)
{
	head_t best = head_of(HEAD_END, SIZE_MAX);

	for (size_t at = (merge->nr_leaves + head_index(merge->winner)) / 2; at > 0; at /= 2)
		best = merge->tree[at] < best ? merge->tree[at] : best;
	return best;
}

/* How many events of the lane, from the next on, come before @limit. At least one. */
static size_t run_length(const struct lane *lane, size_t index, head_t limit)
{
	uint64_t limit_ns = head_time(limit);
	size_t i = lane->at + 1;

	if (limit_ns == HEAD_END)
		return lane->nr - lane->at;
	/* On a tie the lane with the lower index goes first. */
	if (index < head_index(limit))
		limit_ns++;
	while (i < lane->nr && lane->events[i].time_ns < limit_ns)
		i++;
	return i - lane->at;
}

/* When the lane's next event is, after a refill if need be. */
static int next_time(struct lane *lane, uint64_t *time_ns, struct uft_err *err)
{
	if (lane->at == lane->nr) {
		int ret = lane_fill(lane, err);

		if (ret <= 0) {
			*time_ns = HEAD_END;
			return ret;
		}
	}
	*time_ns = MIN(lane->events[lane->at].time_ns, HEAD_END - 1);
	return 0;
}

/*
 * Show the winner's run and find who is next. Where tasks take turns with each event it is not
 * worth while to look how long the run is: it is one, until the same lane wins twice.
 */
static int take_run(struct merge *merge, const struct view *view, struct uft_err *err)
{
	size_t index = head_index(merge->winner);
	struct lane *lane = &merge->pipe->lanes[index];
	struct event_span span = { lane->task, lane->events + lane->at, 1 };
	uint64_t time_ns;

	if (merge->is_running)
		span.nr = run_length(lane, index, second(merge));

	int ret = view->events(view->self, &span, err);

	if (ret < 0)
		return ret;
	lane->at += span.nr;
	ret = next_time(lane, &time_ns, err);
	play(merge, head_of(time_ns, index));
	return ret;
}

static int take_extern(struct merge *merge, const struct view *view, struct uft_err *err)
{
	const struct src_extern *ext = &merge->pipe->ext;
	struct event_span span = { NULL, &ext->events[merge->ext_at++], 1 };
	uint64_t time_ns = merge->ext_at < ext->nr ? ext->events[merge->ext_at].time_ns : HEAD_END;

	play(merge, head_of(time_ns, merge->pipe->nr_lanes));
	return view->events(view->self, &span, err);
}

/* The first event of each lane. */
static int read_heads(struct merge *merge, head_t *leaves, struct uft_err *err)
{
	struct pipeline *pipe = merge->pipe;

	for (size_t i = 0; i < merge->nr_leaves; i++) {
		uint64_t time_ns = HEAD_END;

		if (i < pipe->nr_lanes) {
			int ret = next_time(&pipe->lanes[i], &time_ns, err);

			if (ret < 0)
				return ret;
		} else if (i == pipe->nr_lanes && pipe->ext.nr) {
			time_ns = pipe->ext.events[0].time_ns;
		}
		leaves[i] = head_of(time_ns, i);
	}
	return 0;
}

/* Play all matches once. @winners: of each match, the leaves behind them. */
static int start(struct merge *merge, head_t *winners, struct uft_err *err)
{
	int ret = read_heads(merge, winners + merge->nr_leaves, err);

	for (size_t at = merge->nr_leaves - 1; ret == 0 && at > 0; at--) {
		winners[at] = MIN(winners[2 * at], winners[2 * at + 1]);
		merge->tree[at] = MAX(winners[2 * at], winners[2 * at + 1]);
	}
	merge->winner = winners[1];
	return ret;
}

int merge_run(struct pipeline *pipe, const struct view *view, struct uft_err *err)
{
	/* Even a single lane has a rival, the external events: so there is always a match. */
	struct merge merge = { .pipe = pipe, .nr_leaves = 2 };

	while (merge.nr_leaves < pipe->nr_lanes + 1)
		merge.nr_leaves *= 2;

	head_t *tree cleanup_free = calloc(merge.nr_leaves, sizeof(*tree));
	head_t *winners cleanup_free = calloc(merge.nr_leaves, 2 * sizeof(*winners));

	if (!tree || !winners)
		return err_set_errno(err, -ENOMEM, "cannot merge %zu tasks", pipe->nr_lanes);
	merge.tree = tree;

	int ret = start(&merge, winners, err);

	while (ret == 0 && head_time(merge.winner) != HEAD_END) {
		if (head_index(merge.winner) == pipe->nr_lanes)
			ret = take_extern(&merge, view, err);
		else
			ret = take_run(&merge, view, err);
	}
	return ret;
}
