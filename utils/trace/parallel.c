/* Running a pipeline by task in several threads (see pipeline.h). */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "utils/base/cleanup.h"
#include "utils/trace/pipeline.h"

/* Below that a second thread is not worth its start. */
#define WORTH_BYTES (1UL << 20)

/*
 * @order: lanes, the largest first, so that the last one to end is a small one
 * @next: in @order; each thread takes the next one that nobody has taken
 * @has_failed: the others need not go on
 */
struct crew {
	struct pipeline *pipe;
	struct lane **order;
	atomic_size_t next;
	atomic_bool has_failed;
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

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct crew *crew = worker->crew;

	while (!atomic_load_explicit(&crew->has_failed, memory_order_relaxed)) {
		size_t index = atomic_fetch_add_explicit(&crew->next, 1, memory_order_relaxed);

		if (index >= crew->pipe->nr_lanes)
			break;
		lane_set_reader(crew->order[index], worker->reader);
		worker->result = lane_run(crew->order[index], worker->view, &worker->err);
		if (worker->result < 0)
			atomic_store_explicit(&crew->has_failed, true, memory_order_relaxed);
	}
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

size_t pipeline_threads(const struct pipeline *pipe, size_t wanted)
{
	/* What filters and specifications of arguments know is not made for several threads. */
	if (pipe->config.order != PIPELINE_BY_TASK || pipe->is_filtered ||
	    (pipe->data->header.feat_mask & (FEAT_ARGUMENT | FEAT_RETVAL)))
		return 1;
	wanted = MIN(wanted, (size_t)(pipeline_bytes(pipe) / WORTH_BYTES + 1));
	wanted = MIN(wanted, pipe->nr_lanes);
	return MAX(MIN(wanted, (size_t)READERS_MAX), (size_t)1);
}

/* The calling thread is the first worker. */
static int run_crew(struct worker *workers, size_t nr, struct uft_err *err)
{
	size_t nr_started = 1;
	int ret = 0;

	while (nr_started < nr &&
	       pthread_create(&workers[nr_started].thread, NULL, work, &workers[nr_started]) == 0)
		nr_started++;
	work(&workers[0]);
	for (size_t i = 1; i < nr_started; i++)
		pthread_join(workers[i].thread, NULL);
	for (size_t i = 0; i < nr_started && ret == 0; i++) {
		ret = workers[i].result;
		if (ret < 0)
			err_set(err, ret, "%s", workers[i].err.text);
	}
	return ret;
}

int pipeline_run_parallel(struct pipeline *pipe, const struct view *views, size_t nr,
			  struct uft_err *err)
{
	if (nr <= 1)
		return pipeline_run(pipe, &views[0], err);

	struct worker *workers cleanup_free = calloc(nr, sizeof(*workers));
	struct lane **order cleanup_free = calloc(pipe->nr_lanes + 1, sizeof(struct lane *));
	struct crew crew = { .pipe = pipe, .order = order };

	if (!workers || !order)
		return err_set_errno(err, -ENOMEM, "cannot read '%s'", pipe->data->dir);
	for (size_t i = 0; i < pipe->nr_lanes; i++)
		order[i] = &pipe->lanes[i];
	qsort(order, pipe->nr_lanes, sizeof(struct lane *), compare_size);
	for (size_t i = 0; i < nr; i++)
		workers[i] = (struct worker){ .crew = &crew, .view = &views[i], .reader = i };
	return run_crew(workers, nr, err);
}
