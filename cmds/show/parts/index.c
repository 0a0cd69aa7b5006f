/* Reads a recording's calls into stores (see index.h). */
#include "cmds/show/parts/index.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmds/reader.h"
#include "utils/base/containers/vec.h"
#include "utils/base/escape.h"
#include "utils/export/export.h"
#include "utils/export/nest.h"
#include "utils/export/numbers.h"

/* A call that has not ended. @inner_ns: of the calls in it that have */
struct open_call {
	uint64_t start_ns;
	uint64_t inner_ns;
	uint32_t node;
};

/*
 * The reading thread's.
 *
 * @at: of index->tasks, the one that is being read; SIZE_MAX: none
 * @open: of it
 * @last_ns: times never go back for the page
 */
struct reading {
	struct index *index;
	struct pipeline *pipe;
	struct nest nest;
	struct func_numbers numbers;
	const struct task *task;
	size_t at;
	struct open_call *open;
	size_t nr_open;
	size_t cap_open;
	uint64_t last_ns;
};

/* Names that are new since the last time; the lock is held. */
static int publish_names(struct reading *r)
{
	struct index *index = r->index;

	for (; index->nr_names < r->numbers.nr; index->nr_names++) {
		escape_addstr(&index->names, MEDIUM_TERMINAL,
			      r->numbers.funcs[index->nr_names]->name);
		strbuf_addch(&index->names, '\0');
	}
	return strbuf_oom(&index->names) ? -ENOMEM : 0;
}

/* Time in a call that none of the calls in it took; the one that is open there, too. */
static uint64_t self_so_far(const struct reading *r, size_t i)
{
	uint64_t until_ns = i + 1 < r->nr_open ? r->open[i + 1].start_ns : r->last_ns;

	return until_ns - r->open[i].start_ns - r->open[i].inner_ns;
}

/* All that was read is shown from now on; the lock is held. */
static int publish(struct reading *r, struct indexed_task *task)
{
	struct call_list *open = &task->store.open;

	r->index->read_bytes = atomic_load(&r->pipe->read_bytes);
	task->end_ns = r->last_ns;
	open->nr = 0;
	for (size_t i = 0; i < r->nr_open; i++) {
		struct stored_call *calls = vec_room(open->calls, open->nr, &open->cap,
						     sizeof(*calls));
		const struct context *context = &task->contexts.nodes[r->open[i].node];

		if (!calls)
			return -ENOMEM;
		open->calls = calls;
		calls[open->nr++] = (struct stored_call){
			.start_ns = r->open[i].start_ns,
			.dur_ns = r->last_ns - r->open[i].start_ns,
			.self_ns = self_so_far(r, i),
			.node = r->open[i].node,
			.depth = context->depth,
			.is_open = true,
		};
	}
	return publish_names(r);
}

static int count_call(struct index *index, uint32_t func)
{
	uint64_t *calls = vec_reach(index->calls, &index->nr_calls, func, sizeof(*calls));

	if (!calls)
		return -ENOMEM;
	index->calls = calls;
	calls[func]++;
	return 0;
}

/* The innermost call ends. */
static int end_call(struct reading *r, bool is_open)
{
	struct indexed_task *task = &r->index->tasks[r->at];
	const struct open_call *open = &r->open[--r->nr_open];
	const struct context *context = &task->contexts.nodes[open->node];
	const struct stored_call call = {
		.start_ns = open->start_ns,
		.dur_ns = r->last_ns - open->start_ns,
		.self_ns = r->last_ns - open->start_ns - open->inner_ns,
		.node = open->node,
		.depth = context->depth,
		.is_open = is_open,
	};
	int ret = count_call(r->index, context->func);

	if (r->nr_open)
		r->open[r->nr_open - 1].inner_ns += call.dur_ns;

	if (ret == 0)
		ret = call_store_add(&task->store, &call);
	return ret;
}

static int begin_call(struct reading *r, const struct func *func)
{
	struct indexed_task *task = &r->index->tasks[r->at];
	uint32_t number = func_number(&r->numbers, func);
	uint32_t parent = r->nr_open ? r->open[r->nr_open - 1].node : 0;
	uint32_t node = number ? contexts_child(&task->contexts, parent, number - 1) : 0;
	struct open_call *open = vec_room(r->open, r->nr_open, &r->cap_open, sizeof(*open));

	if (open)
		r->open = open;
	if (!node || !open)
		return -ENOMEM;
	open[r->nr_open++] = (struct open_call){ .start_ns = r->last_ns, .node = node };
	task->depth = MAX(task->depth, r->nr_open);
	return 0;
}

/* Calls that are open at the end of a task did not return. The lock is held. */
static int end_task_calls(struct reading *r)
{
	int ret = 0;

	if (r->at == SIZE_MAX)
		return 0;
	while (ret == 0 && r->nr_open)
		ret = end_call(r, true);
	if (ret == 0)
		ret = publish(r, &r->index->tasks[r->at]);
	r->at = SIZE_MAX;
	return ret;
}

/* The lock is held. */
static int begin_task(struct reading *r, const struct task *task)
{
	struct index *index = r->index;
	struct indexed_task *tasks = vec_grow(index->tasks, index->nr_tasks, sizeof(*tasks));
	struct strbuf name = { 0 };

	if (!tasks)
		return -ENOMEM;
	index->tasks = tasks;
	escape_addstr(&name, MEDIUM_TERMINAL, task_name_at(task, UINT64_MAX));
	strbuf_addch(&name, '\0');
	tasks[index->nr_tasks] = (struct indexed_task){
		.name = name.data,
		.pid = task->pid,
		.tid = task->tid,
		.start_ns = r->last_ns,
		.end_ns = r->last_ns,
		.store = { .file = &index->file },
	};
	r->at = index->nr_tasks++;
	return strbuf_oom(&name) ? -ENOMEM : 0;
}

static int take_edge(struct reading *r, const struct nest_edge *edge)
{
	int ret = 0;

	if (r->at == SIZE_MAX)
		ret = begin_task(r, r->task);
	if (ret < 0)
		return ret;
	return edge->is_begin ? begin_call(r, edge->func) : end_call(r, false);
}

static uint64_t since_base(const struct reading *r, uint64_t time_ns)
{
	return time_ns > r->index->base_ns ? time_ns - r->index->base_ns : 0;
}

/* The lock is held while a span is taken, and given to others between two. */
static int take_span(struct reading *r, const struct event_span *span)
{
	struct nest_task *open = &r->nest.tasks[span->task->index];
	struct nest_edge edge;
	int ret = 0;

	if (span->task != r->task) {
		ret = end_task_calls(r);
		r->task = span->task;
		r->last_ns = 0;
	}
	for (size_t i = 0; ret == 0 && i < span->nr; i++) {
		const struct event *event = &span->events[i];

		r->last_ns = MAX(r->last_ns, since_base(r, event->time_ns));
		while (ret == 0 && nest_next(&r->nest, open, event, &edge))
			ret = take_edge(r, &edge);
	}
	if (ret == 0 && r->nest.is_oom)
		ret = -ENOMEM;
	return ret;
}

static int read_span(void *self, const struct event_span *span, struct uft_err *err)
{
	struct reading *r = self;
	struct index *index = r->index;
	int ret;

	if (atomic_load(&index->is_stopped))
		return err_set(err, -ECANCELED, "stopped");
	pthread_mutex_lock(&index->lock);
	ret = take_span(r, span);
	if (ret == 0 && r->at != SIZE_MAX && call_store_is_fresh(&index->tasks[r->at].store))
		ret = publish(r, &index->tasks[r->at]);
	pthread_mutex_unlock(&index->lock);
	/* A mutex is not fair. */
	while (atomic_load(&index->nr_waiting) && !atomic_load(&index->is_stopped))
		usleep(50);
	return ret < 0 ? err_set_errno(err, ret, "cannot index the calls") : 0;
}

/* Time ranges begin there; events may come before. */
static uint64_t first_record(const struct pipeline *pipe)
{
	uint64_t first_ns = UINT64_MAX;

	for (size_t i = 0; i < pipe->data->nr_tasks; i++)
		first_ns = MIN(first_ns, pipe->data->tasks[i].first_ns);
	return first_ns == UINT64_MAX ? pipe->first_ns : first_ns;
}

static int read_all(struct reading *r, struct pipeline *pipe, struct uft_err *err)
{
	const struct view view = { .events = read_span, .self = r };
	struct index *index = r->index;
	int ret = nest_init(&r->nest, index->data, err);

	if (ret < 0)
		return ret;
	r->nest.counts_outside = index->opts->event_full;
	pthread_mutex_lock(&index->lock);
	index->base_ns = pipe->first_ns;
	index->zero_ns = since_base(r, first_record(pipe));
	index->all_bytes = pipeline_bytes(pipe);
	pthread_mutex_unlock(&index->lock);
	ret = pipeline_run(pipe, &view, err);
	pthread_mutex_lock(&index->lock);
	if (ret == 0 && end_task_calls(r) < 0)
		ret = err_set_errno(err, -ENOMEM, "cannot index the calls");
	pthread_mutex_unlock(&index->lock);
	return ret;
}

static void *run_reading(void *self)
{
	const struct exporter *exporter = exporter_by_number(EXPORT_html);
	struct index *index = self;
	struct pipeline pipe cleanup_pipeline = { 0 };
	struct reading r = { .index = index, .pipe = &pipe, .at = SIZE_MAX };
	struct pipeline_config stages;
	struct uft_err err = { 0 };

	reader_pipeline_config(index->opts, &stages);
	export_configure(exporter, &stages);

	int ret = pipeline_open(&pipe, index->data, &stages, &err);

	if (ret == 0)
		ret = read_all(&r, &pipe, &err);
	pthread_mutex_lock(&index->lock);
	index->is_done = true;
	if (ret < 0)
		index->failure = err;
	pthread_mutex_unlock(&index->lock);
	nest_deinit(&r.nest);
	func_numbers_deinit(&r.numbers);
	free(r.open);
	return NULL;
}

int index_start(struct index *index, const struct opts *opts, struct trace_data *data)
{
	sigset_t all, before;
	int ret;

	*index = (struct index){ .opts = opts, .data = data, .file = CALL_FILE_CLOSED };
	pthread_mutex_init(&index->lock, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&index->thread, NULL, run_reading, index);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret)
		pthread_mutex_destroy(&index->lock);
	return -ret;
}

void index_lock(struct index *index)
{
	atomic_fetch_add(&index->nr_waiting, 1);
	pthread_mutex_lock(&index->lock);
	atomic_fetch_sub(&index->nr_waiting, 1);
}

void index_unlock(struct index *index)
{
	pthread_mutex_unlock(&index->lock);
}

void index_stop(struct index *index)
{
	atomic_store(&index->is_stopped, true);
	pthread_join(index->thread, NULL);
	for (size_t i = 0; i < index->nr_tasks; i++) {
		free(index->tasks[i].name);
		call_store_deinit(&index->tasks[i].store);
		contexts_deinit(&index->tasks[i].contexts);
	}
	free(index->tasks);
	free(index->calls);
	strbuf_deinit(&index->names);
	call_file_close(&index->file);
	pthread_mutex_destroy(&index->lock);
}
