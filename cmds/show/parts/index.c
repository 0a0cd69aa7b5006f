/* Reads a recording's calls into stores (see index.h). */
#include "cmds/show/parts/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmds/reader.h"
#include "utils/base/clock.h"
#include "utils/base/containers/vec.h"
#include "utils/base/escape.h"
#include "utils/base/workers.h"
#include "utils/export/export.h"
#include "utils/export/nest.h"
#include "utils/export/numbers.h"
#include "utils/export/page/executions.h"
#include "utils/export/page/marks.h"
#include "utils/export/page/sources.h"
#include "utils/export/payloads.h"
#include "utils/view/values/argtext.h"

/*
 * A call that has not ended.
 *
 * @inner_ns: the time spent in nested calls that have ended
 */
struct open_call {
	uint64_t start_ns;
	uint64_t inner_ns;
	uint32_t node;
};

/*
 * The last event of a kind.
 *
 * @nr: the number of preceding events whose kind, task and time equal those of the last event
 */
struct last_point {
	uint64_t time_ns;
	size_t at; /* the index of the event's task in index->tasks, plus one */
	uint32_t nr;
};

/*
 * The state of the reading thread.
 *
 * @words: the data from which texts of events are made
 * @kinds: the numbers of the kinds of events
 * @open, @payloads: calls of the present task that have not ended, and the arguments of
 *                    these calls
 * @at: index of the present task in index->tasks; SIZE_MAX: none
 * @last_ns: the latest time of the present task's events. If an event is earlier than a preceding
 *         event, the event is stored with the time @last_ns
 */
struct reading {
	struct index *index;
	struct pipeline *pipe;
	struct nest nest;
	struct func_numbers numbers;
	struct event_texts words;
	struct text_numbers kinds;
	struct last_point *last_points;
	size_t nr_last_points;
	struct payloads payloads;
	struct strbuf text;
	const struct task *task;
	size_t at;
	struct open_call *open;
	size_t nr_open;
	size_t cap_open;
	uint64_t last_ns;
};

/* Adds new names of functions to the index. The caller must hold index->lock. */
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

/*
 * Returns the duration of the call r->open[@i], from its start to the last event that was read.
 * The time in nested calls does not count.
 */
static uint64_t self_so_far(const struct reading *r, size_t i)
{
	uint64_t until_ns = i + 1 < r->nr_open ? r->open[i + 1].start_ns : r->last_ns;

	return until_ns - r->open[i].start_ns - r->open[i].inner_ns;
}

/*
 * Puts new names, and the calls of @task that have not ended, into the index. After publish(), the
 * threads that answer requests find all events that the reading thread has read. The caller must
 * hold index->lock.
 */
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

/*
 * Stores the text of the innermost call, such as "(1, 2) = 3". @number gets the text's number, or 0
 * if the call has no text.
 *
 * @event: the end of the call; NULL: the call does not return
 */
static int put_values(struct reading *r, const struct event *event, uint64_t *number)
{
	const struct argtext text = { .data = r->index->data };
	struct strbuf result cleanup_strbuf = { 0 };
	char *args cleanup_free = payloads_take(&r->payloads, r->nr_open - 1);

	*number = 0;
	strbuf_reset(&r->text);
	strbuf_addstr(&r->text, args ? args : "");
	if (event && argtext_put_retval(&text, r->task, event, &result))
		strbuf_addf(&r->text, " = %s", strbuf_str(&result));
	if (strbuf_oom(&r->text) || strbuf_oom(&result))
		return -ENOMEM;
	if (!r->text.len)
		return 0;
	r->index->tasks[r->at].has_texts = true;
	return text_store_add(&r->index->texts, r->text.data, number);
}

/* Keeps the arguments of the innermost call, which has just begun. */
static int keep_args(struct reading *r, const struct event *event)
{
	const struct argtext text = { .data = r->index->data };

	strbuf_reset(&r->text);
	if (!argtext_put_args(&text, r->task, event, &r->text))
		return 0;
	return strbuf_oom(&r->text) ? -ENOMEM
				    : payloads_put(&r->payloads, r->nr_open - 1, &r->text);
}

/*
 * Ends the innermost call. If the call has a result to show, @event contains the result. Otherwise
 * @event is NULL.
 */
static int end_call(struct reading *r, const struct event *event, bool is_open)
{
	uint64_t text = 0;
	int ret = event || r->payloads.nr ? put_values(r, event, &text) : 0;

	if (ret < 0)
		return ret;

	struct indexed_task *task = &r->index->tasks[r->at];
	const struct open_call *open = &r->open[--r->nr_open];
	const struct context *context = &task->contexts.nodes[open->node];
	const struct stored_call call = {
		.start_ns = open->start_ns,
		.dur_ns = r->last_ns - open->start_ns,
		.self_ns = r->last_ns - open->start_ns - open->inner_ns,
		.text = text,
		.node = open->node,
		.depth = context->depth,
		.is_open = is_open,
	};

	ret = count_call(r->index, context->func);
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

/* At the end of a task, ends the calls that have not returned. The caller must hold index->lock. */
static int end_task_calls(struct reading *r)
{
	int ret = 0;

	if (r->at == SIZE_MAX)
		return 0;
	while (ret == 0 && r->nr_open)
		ret = end_call(r, NULL, true);
	if (ret == 0)
		ret = publish(r, &r->index->tasks[r->at]);
	r->at = SIZE_MAX;
	return ret;
}

/* Adds a task to the index. The caller must hold index->lock. */
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
		.points = { .file = &index->file },
	};
	r->at = index->nr_tasks++;
	return strbuf_oom(&name) ? -ENOMEM : 0;
}

/* Adds the beginning or the end of a call to the index. */
static int take_edge(struct reading *r, const struct event *event, const struct nest_edge *edge)
{
	bool has_values = event->data && r->index->opts->show_args &&
			  nest_is_own(&r->nest.tasks[r->task->index], event, edge);
	int ret = 0;

	if (r->at == SIZE_MAX)
		ret = begin_task(r, r->task);
	if (ret < 0)
		return ret;
	if (!edge->is_begin)
		return end_call(r, has_values ? event : NULL, false);
	ret = begin_call(r, edge->func);
	return ret == 0 && has_values ? keep_args(r, event) : ret;
}

static uint64_t since_base(const struct reading *r, uint64_t time_ns)
{
	return time_ns > r->index->base_ns ? time_ns - r->index->base_ns : 0;
}

/*
 * Adds 1 to the number of events of the kind @name. Returns the index of this kind, or UINT32_MAX
 * when memory is short.
 */
static uint32_t count_kind(struct reading *r, const char *name)
{
	struct index *index = r->index;
	bool is_full = index->nr_kinds == INDEX_KINDS_MAX;
	uint32_t number = is_full && !strmap_get(&r->kinds.by_text, name)
				  ? INDEX_KINDS_MAX
				  : text_number(&r->kinds, name);
	uint64_t *counts = number ? vec_reach(index->per_kind, &index->nr_per_kind, number - 1,
					      sizeof(*counts))
				  : NULL;

	if (!counts)
		return UINT32_MAX;
	index->per_kind = counts;
	counts[number - 1]++;
	if (number > index->nr_kinds) {
		escape_addstr(&index->kinds, MEDIUM_TERMINAL, name);
		strbuf_addch(&index->kinds, '\0');
		index->nr_kinds++;
	}
	return strbuf_oom(&index->kinds) ? UINT32_MAX : number - 1;
}

/*
 * Sets the depth of the event @point. If several events of a task have the same kind and the same
 * time, the first INDEX_AT_ONCE of these events get different depths. All further events get the
 * last of these depths. Returns false when there is not enough memory.
 */
static bool set_depth(struct reading *r, struct stored_call *point)
{
	struct last_point *all = vec_reach(r->last_points, &r->nr_last_points, point->node,
					   sizeof(*all));

	if (!all)
		return false;
	r->last_points = all;

	struct last_point *last = &all[point->node];
	bool is_same = last->at == r->at + 1 && last->time_ns == point->start_ns;

	*last = (struct last_point){
		.time_ns = point->start_ns,
		.at = r->at + 1,
		.nr = is_same ? MIN(last->nr + 1, INDEX_AT_ONCE - 1U) : 0,
	};
	point->depth = point->node + last->nr * INDEX_KINDS_MAX;
	return true;
}

/* Adds an EVENT_POINT, or an EVENT_LOST (a gap where records were lost), to the index. */
static int take_point(struct reading *r, const struct event *event)
{
	struct strbuf name cleanup_strbuf = { 0 };
	struct stored_call point = { .start_ns = r->last_ns };
	int ret = r->at == SIZE_MAX ? begin_task(r, r->task) : 0;

	if (ret < 0)
		return ret;
	if (event->type == EVENT_LOST)
		r->index->nr_lost += event->addr;
	strbuf_reset(&r->text);
	mark_put(&r->words, r->task, event, &name, &r->text);
	if (strbuf_oom(&name) || strbuf_oom(&r->text))
		return -ENOMEM;
	point.node = count_kind(r, strbuf_str(&name));
	if (point.node == UINT32_MAX || !set_depth(r, &point))
		return -ENOMEM;
	ret = text_store_add(&r->index->texts, strbuf_str(&r->text), &point.text);
	return ret < 0 ? ret : call_store_add(&r->index->tasks[r->at].points, &point);
}

/*
 * Adds the events of a span to the index. The caller must hold index->lock. Other threads can get
 * this lock between two spans.
 */
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
			ret = take_edge(r, event, &edge);
		if (ret == 0 && unlikely(event->type == EVENT_POINT || event->type == EVENT_LOST))
			ret = take_point(r, event);
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
	/*
	 * A mutex is not fair: without this wait, the present thread would take the lock again
	 * before other threads get the lock.
	 */
	while (atomic_load(&index->nr_waiting) && !atomic_load(&index->is_stopped))
		usleep(50);
	return ret < 0 ? err_set_errno(err, ret, "cannot index the calls") : 0;
}

static int read_all(struct reading *r, struct pipeline *pipe, struct uft_err *err)
{
	const struct view view = { .events = read_span, .self = r };
	const uint64_t first_ns = pipeline_first_record_ns(pipe);
	struct index *index = r->index;
	int ret = nest_init(&r->nest, index->data, err);

	if (ret < 0)
		return ret;
	r->nest.counts_outside = index->opts->event_full;
	pthread_mutex_lock(&index->lock);
	index->base_ns = pipe->first_ns == UINT64_MAX ? 0 : pipe->first_ns;
	index->zero_ns = first_ns == UINT64_MAX ? 0 : since_base(r, first_ns);
	index->all_bytes = pipeline_bytes(pipe);
	ret = executions_put(&index->processes, pipe, INDEX_PROCESS_BYTES, &index->nr_left_out,
			     err);
	pthread_mutex_unlock(&index->lock);
	if (ret == 0)
		ret = event_texts_load(&r->words, index->data, err);
	if (ret == 0)
		ret = pipeline_run(pipe, &view, err);
	pthread_mutex_lock(&index->lock);
	if (ret == 0 && end_task_calls(r) < 0)
		ret = err_set_errno(err, -ENOMEM, "cannot index the calls");
	pthread_mutex_unlock(&index->lock);
	return ret;
}

/*
 * Reads the source lines of the recording's functions. Called when all calls have been read, and so
 * all functions are known.
 */
static int read_sources(struct reading *r, struct uft_err *err)
{
	struct index *index = r->index;
	struct strbuf sources = { 0 };
	int ret = sources_put(&sources, index->data, &r->numbers);

	if (ret < 0) {
		strbuf_deinit(&sources);
		return err_set_errno(err, ret, "cannot read the sources");
	}
	pthread_mutex_lock(&index->lock);
	index->sources = sources;
	pthread_mutex_unlock(&index->lock);
	return 0;
}

static void end_of_reading(struct reading *r)
{
	nest_deinit(&r->nest);
	func_numbers_deinit(&r->numbers);
	text_numbers_deinit(&r->kinds);
	event_texts_deinit(&r->words);
	free(r->last_points);
	payloads_deinit(&r->payloads);
	strbuf_deinit(&r->text);
	free(r->open);
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
	if (ret == 0)
		ret = read_sources(&r, &err);
	pthread_mutex_lock(&index->lock);
	index->is_done = true;
	index->ended_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (ret < 0)
		index->failure = err;
	pthread_mutex_unlock(&index->lock);
	end_of_reading(&r);
	return NULL;
}

int index_start(struct index *index, const struct opts *opts, struct trace_data *data)
{
	int ret;

	*index = (struct index){ .opts = opts,
				 .data = data,
				 .file = CALL_FILE_CLOSED,
				 .texts = { .file = CALL_FILE_CLOSED } };
	pthread_mutex_init(&index->lock, NULL);
	ret = workers_start_thread(&index->thread, NULL, run_reading, index);
	if (ret < 0)
		pthread_mutex_destroy(&index->lock);
	return ret;
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
		call_store_deinit(&index->tasks[i].points);
		contexts_deinit(&index->tasks[i].contexts);
	}
	free(index->tasks);
	free(index->calls);
	strbuf_deinit(&index->names);
	text_store_deinit(&index->texts);
	strbuf_deinit(&index->kinds);
	free(index->per_kind);
	strbuf_deinit(&index->processes);
	strbuf_deinit(&index->sources);
	call_file_close(&index->file);
	pthread_mutex_destroy(&index->lock);
}
