/*
 * Runs a pipeline in several threads (see pipeline.h). Each thread takes whole tasks, or pieces of
 * large tasks.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "utils/base/cleanup.h"
#include "utils/pipeline/sources/split.h"

/*
 * In addition to the first thread, there is at most one thread for each full WORTH_BYTES of
 * records. A task of fewer bytes is not split.
 */
#define WORTH_BYTES (1UL << 20)

/*
 * A task is split if it is larger than this percentage of a thread's equal share of the work.
 * Without the split, one thread could still read this task when all other threads have no more
 * work.
 */
#define LARGE_PERCENT 60
#define PIECE_LEAST   (256UL << 10)
#define PIECE_MOST    (8UL << 20)
/*
 * The number of pieces for each thread. With many small pieces, all threads end at about the same
 * time.
 */
#define PIECES_EACH   16

/*
 * The work that the threads share.
 *
 * @large: lanes to split, the largest first
 * @small: lanes to read as a whole, the largest first, so that the lanes that are read last are
 *         short
 * @next_large, @next_small: the index of the next lane that no thread has taken
 * @pieces: pieces of large lanes that no thread has taken, in order of reading
 * @nr_splitting: the number of lanes with more pieces to come
 * @changed: the condition that is signalled when a piece was added, or a lane has no more pieces
 * @has_failed: a thread had an error, and all threads can stop
 */
struct crew {
	struct pipeline *pipe;
	size_t nr_threads;
	struct lane **large;
	size_t nr_large;
	size_t next_large;
	struct lane **small;
	size_t nr_small;
	size_t next_small;
	struct piece *pieces;
	struct piece **last_piece;
	size_t nr_splitting;
	bool has_failed;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

struct worker {
	struct crew *crew;
	const struct view *view;
	unsigned reader;
	pthread_t thread;
	int result;
	struct uft_err err;
};

int lane_run(struct lane *lane, const struct view *view, struct uft_err *err)
{
	int ret;

	while ((ret = lane_fill(lane, err)) > 0) {
		struct event_span span = { lane->task, lane->events, lane->nr };

		ret = view->events(view->self, &span, err);
		if (ret < 0)
			break;
	}
	return ret;
}

static void add_piece(void *arg, struct piece *piece)
{
	struct crew *crew = arg;

	pthread_mutex_lock(&crew->lock);
	*crew->last_piece = piece;
	crew->last_piece = &piece->next;
	pthread_cond_signal(&crew->changed);
	pthread_mutex_unlock(&crew->lock);
}

static struct piece *take_piece(struct crew *crew)
{
	struct piece *piece = crew->pieces;

	crew->pieces = piece->next;
	if (!crew->pieces)
		crew->last_piece = &crew->pieces;
	return piece;
}

/*
 * One thread splits the first part of a large lane into pieces. The last piece also has all bytes
 * after the first part. The splitting thread reads the last piece, and leaves the other pieces to
 * any thread without work. Returns the size of the first part in bytes. @bytes: the size of the
 * whole lane
 *
 * If there are several large lanes, the first part is the whole lane. If there is a single large
 * lane, the size of the first part is chosen so that all threads end at the same time. This choice
 * assumes that splitting is about three times as fast as reading.
 */
static uint64_t bytes_for_others(const struct crew *crew, uint64_t bytes)
{
	uint64_t nr_others = crew->nr_threads - 1;

	if (crew->nr_large > 1)
		return bytes;
	return MIN(bytes / (100 + nr_others * 65) * (nr_others * 100), bytes);
}

/* Split a lane, and read its last piece. */
static int split(struct worker *worker, struct lane *lane)
{
	struct crew *crew = worker->crew;
	uint64_t bytes = lane->task->data_bytes;
	uint64_t piece_bytes = bytes / (crew->nr_threads * PIECES_EACH);
	struct piece *last = NULL;

	lane_set_reader(lane, worker->reader);

	int ret = lane_split(lane, bytes_for_others(crew, bytes),
			     MIN(MAX(piece_bytes, PIECE_LEAST), PIECE_MOST), add_piece, crew, &last,
			     &worker->err);

	pthread_mutex_lock(&crew->lock);
	crew->nr_splitting--;
	pthread_cond_broadcast(&crew->changed);
	pthread_mutex_unlock(&crew->lock);
	if (ret == 0)
		ret = piece_run(last, worker->reader, worker->view, &worker->err);
	piece_destroy(last);
	return ret;
}

/*
 * Do the next work, or wait until there is new work. Returns 1 on success, 0 when no work is left,
 * or a negative errno. The caller holds the lock.
 */
static int do_next(struct worker *worker)
{
	struct crew *crew = worker->crew;
	struct piece *piece = crew->pieces ? take_piece(crew) : NULL;
	struct lane *large = NULL;
	struct lane *small = NULL;
	int ret = 0;

	if (!piece && crew->next_large < crew->nr_large)
		large = crew->large[crew->next_large++];
	else if (!piece && crew->next_small < crew->nr_small)
		small = crew->small[crew->next_small++];
	if (!piece && !large && !small) {
		if (!crew->nr_splitting)
			return 0;
		pthread_cond_wait(&crew->changed, &crew->lock);
		return 1;
	}
	crew->nr_splitting += large != NULL;
	pthread_mutex_unlock(&crew->lock);
	if (piece)
		ret = piece_run(piece, worker->reader, worker->view, &worker->err);
	else if (large)
		ret = split(worker, large);
	else
		lane_set_reader(small, worker->reader);
	if (small)
		ret = lane_run(small, worker->view, &worker->err);
	piece_destroy(piece);
	pthread_mutex_lock(&crew->lock);
	return ret < 0 ? ret : 1;
}

static void *work_on_tasks(void *arg)
{
	struct worker *worker = arg;
	struct crew *crew = worker->crew;
	int ret = 1;

	pthread_mutex_lock(&crew->lock);
	while (ret > 0 && !crew->has_failed)
		ret = do_next(worker);
	worker->result = MIN(ret, 0);
	crew->has_failed |= ret < 0;
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

static int compare_size(const void *a, const void *b)
{
	const struct lane *x = *(struct lane *const *)a;
	const struct lane *y = *(struct lane *const *)b;

	if (x->task->data_bytes != y->task->data_bytes)
		return x->task->data_bytes > y->task->data_bytes ? -1 : 1;
	return x < y ? -1 : x > y;
}

uint64_t pipeline_bytes(const struct pipeline *pipe)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < pipe->nr_lanes; i++)
		bytes += pipe->lanes[i].task->data_bytes;
	return bytes;
}

/* True when a lane is worth splitting. */
static bool is_large(const struct pipeline *pipe, const struct lane *lane, size_t nr_threads)
{
	uint64_t bytes = lane->task->data_bytes;

	return bytes >= WORTH_BYTES && lane_can_split(lane) &&
	       bytes * nr_threads > pipeline_bytes(pipe) / 100 * LARGE_PERCENT;
}

static bool has_large(const struct pipeline *pipe, size_t nr_threads)
{
	for (size_t i = 0; i < pipe->nr_lanes; i++) {
		if (is_large(pipe, &pipe->lanes[i], nr_threads))
			return true;
	}
	return false;
}

size_t pipeline_threads(const struct pipeline *pipe, size_t wanted)
{
	/*
	 * Filters and argument specifications have states that only one thread may use. The
	 * specifications are checked, and not only the header's flags for them: a damaged header
	 * may lack these flags.
	 */
	if (pipe->config.order != PIPELINE_BY_TASK || pipe->is_filtered ||
	    pipe->data->args.has_specs ||
	    (pipe->data->header.feat_mask & (FEAT_ARGUMENT | FEAT_RETVAL)))
		return 1;
	wanted = MIN(wanted, (size_t)(pipeline_bytes(pipe) / WORTH_BYTES + 1));
	if (!has_large(pipe, wanted))
		wanted = MIN(wanted, pipe->nr_lanes);
	return MAX(MIN(wanted, (size_t)READERS_MAX), (size_t)1);
}

/* Run all workers. The calling thread runs workers[0]. */
static int run_crew(struct worker *workers, size_t nr, struct uft_err *err)
{
	size_t nr_started = 1;
	int ret = 0;

	while (nr_started < nr && pthread_create(&workers[nr_started].thread, NULL, work_on_tasks,
						 &workers[nr_started]) == 0)
		nr_started++;
	work_on_tasks(&workers[0]);
	for (size_t i = 1; i < nr_started; i++)
		pthread_join(workers[i].thread, NULL);
	for (size_t i = 0; i < nr_started && ret == 0; i++) {
		ret = workers[i].result;
		if (ret < 0)
			err_set(err, ret, "%s", workers[i].err.text);
	}
	return ret;
}

/* Run the lanes [@first, @end). The caller must have filled the lanes' queues. */
static int run_group(struct pipeline *pipe, size_t first, size_t end, const struct view *views,
		     size_t nr, struct uft_err *err)
{
	size_t nr_lanes = end - first;
	struct worker *workers cleanup_free = calloc(nr, sizeof(*workers));
	struct lane **order cleanup_free = calloc(2 * nr_lanes + 1, sizeof(struct lane *));
	struct crew crew = {
		.pipe = pipe,
		.nr_threads = nr,
		.large = order,
		.small = order + nr_lanes,
		.last_piece = &crew.pieces,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};

	if (!workers || !order)
		return err_set_errno(err, -ENOMEM, "cannot read '%s'", pipe->data->dir);
	for (size_t i = first; i < end; i++) {
		struct lane *lane = &pipe->lanes[i];

		if (views[0].resume && is_large(pipe, lane, nr))
			crew.large[crew.nr_large++] = lane;
		else
			crew.small[crew.nr_small++] = lane;
	}
	qsort(crew.large, crew.nr_large, sizeof(struct lane *), compare_size);
	qsort(crew.small, crew.nr_small, sizeof(struct lane *), compare_size);
	for (size_t i = 0; i < nr; i++)
		workers[i] = (struct worker){ .crew = &crew, .view = &views[i], .reader = i };

	int ret = run_crew(workers, nr, err);

	while (crew.pieces)
		piece_destroy(take_piece(&crew));
	return ret;
}

/*
 * Returns the number of threads, at most @nr, for which there are enough descriptors. Each thread
 * may have a streaming lane. A streaming lane opens the files of all sources.
 */
static size_t threads_for(const struct pipeline *pipe, size_t first, size_t end, size_t nr)
{
	bool streams = false;

	for (size_t i = first; i < end; i++)
		streams |= pipe->lanes[i].streams;
	while (streams && nr > 1 &&
	       !pipeline_plan(pipe, pipe->nr_lanes + nr * pipe->nr_sources).keeps_open)
		nr--;
	return nr;
}

int pipeline_run_parallel(struct pipeline *pipe, const struct view *views, size_t nr,
			  struct uft_err *err)
{
	size_t first = 0;
	int ret = 0;

	if (nr <= 1)
		return pipeline_run(pipe, &views[0], err);
	ret = pipeline_run_windows(pipe, &views[0], err);
	while (ret == 0 && first < pipe->nr_lanes) {
		ssize_t end = pipeline_load_group(pipe, first, err);

		if (end < 0)
			return end;
		ret = run_group(pipe, first, end, views, threads_for(pipe, first, end, nr), err);
		pipeline_drop_group(pipe, first, end);
		first = end;
	}
	return ret;
}
