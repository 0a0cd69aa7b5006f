/* Adds up calls for each function, and for each task (see aggregate.h). */
#include "utils/view/report/aggregate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/vec.h"
#include "utils/pipeline/kinds/event_kind.h"

int aggregate_init(struct aggregate *agg, const struct pipeline *pipe, struct uft_err *err)
{
	size_t nr_tasks = pipe->data->nr_tasks;

	*agg = (struct aggregate){ .pipe = pipe };
	agg->tasks = calloc(nr_tasks ? nr_tasks : 1, sizeof(*agg->tasks));
	if (!agg->tasks)
		return err_set_errno(err, -ENOMEM, "cannot add up %zu tasks", nr_tasks);
	return 0;
}

static void free_stats(struct call_stats *stats)
{
	free(stats->cpus);
	if (stats->hist)
		hist_deinit(stats->hist);
	free(stats->hist);
	free(stats->counters);
}

void aggregate_deinit(struct aggregate *agg)
{
	for (size_t i = 0; i < agg->nr_rows; i++)
		free_stats(&agg->rows[i].stats);
	free(agg->rows);
	for (size_t i = 0; agg->tasks && i < agg->pipe->data->nr_tasks; i++)
		free(agg->tasks[i].cpus);
	free(agg->tasks);
	*agg = (struct aggregate){ 0 };
}

/* Make rows for all functions up to @id. */
static int grow_rows(struct aggregate *agg, size_t id)
{
	size_t nr = MAX(id + 1, agg->nr_rows + agg->nr_rows / 2);
	struct func_row *rows = reallocarray(agg->rows, nr, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	memset(rows + agg->nr_rows, 0, (nr - agg->nr_rows) * sizeof(*rows));
	agg->rows = rows;
	agg->nr_rows = nr;
	return 0;
}

/*
 * Among equally short or long calls, the earliest is kept. So the result does not depend on the
 * order of tasks.
 */
static void note_extremes(struct time_stats *stats, const struct time_stats *other)
{
	if (other->min_ns < stats->min_ns ||
	    (other->min_ns == stats->min_ns && other->min_at_ns < stats->min_at_ns)) {
		stats->min_ns = other->min_ns;
		stats->min_at_ns = other->min_at_ns;
	}
	if (other->max_ns > stats->max_ns ||
	    (other->max_ns == stats->max_ns && other->max_at_ns < stats->max_at_ns)) {
		stats->max_ns = other->max_ns;
		stats->max_at_ns = other->max_at_ns;
	}
}

static void add_time(struct time_stats *stats, uint64_t ns, uint64_t at_ns, bool is_first)
{
	const struct time_stats call = {
		.min_ns = ns,
		.min_at_ns = at_ns,
		.max_ns = ns,
		.max_at_ns = at_ns,
	};

	if (is_first)
		*stats = call;
	else
		note_extremes(stats, &call);
	stats->sum_ns += ns;
	wide_add(&stats->sum_squares, wide_square(ns));
}

static __attribute__((noinline)) void add_details(struct call_stats *stats,
						  const struct event *event)
{
	uint64_t at_ns = event->time_ns - event->total_ns;
	bool is_first = stats->calls == 0;

	add_time(&stats->total, time_abs(event->total_ns), at_ns, is_first);
	add_time(&stats->self, time_abs(event->self_ns), at_ns, is_first);
}

static __attribute__((noinline)) int add_to_hist(struct call_stats *stats,
						 const struct event *event)
{
	if (!stats->hist)
		stats->hist = calloc(1, sizeof(*stats->hist));
	return stats->hist ? hist_add(stats->hist, time_abs(event->total_ns)) : -ENOMEM;
}

static int add_cpu(struct call_stats *stats, uint32_t cpu)
{
	if (cpu >= CPU_WORDS * 64)
		return 0;
	if (!stats->cpus) {
		stats->cpus = calloc(CPU_WORDS, sizeof(*stats->cpus));
		if (!stats->cpus)
			return -ENOMEM;
	}
	stats->cpus[cpu / 64] |= 1ULL << cpu % 64;
	return 0;
}

/* Add to @stats all CPUs on which the task has run since @start_ns. */
static int add_cpus_since(struct call_stats *stats, const struct task_stats *task,
			  uint64_t start_ns)
{
	for (size_t i = task->nr_cpus; i-- > 0;) {
		int ret = add_cpu(stats, task->cpus[i].cpu);

		if (ret < 0)
			return ret;
		if (task->cpus[i].since_ns <= start_ns)
			break;
	}
	return 0;
}

/* Keep the CPU of @event. The CPU of the first event is valid from the start of the task. */
static int note_cpu(struct task_stats *task, const struct event *event)
{
	uint32_t cpu = event->cpu;

	if (task->nr_cpus && task->cpus[task->nr_cpus - 1].cpu == cpu)
		return 0;

	struct cpu_change *cpus = vec_grow(task->cpus, task->nr_cpus, sizeof(*cpus));

	if (!cpus)
		return -ENOMEM;
	task->cpus = cpus;
	task->cpus[task->nr_cpus] = (struct cpu_change){
		.since_ns = task->nr_cpus ? event->time_ns : 0,
		.cpu = cpu,
	};
	task->nr_cpus++;
	return 0;
}

/* Returns the row of @func, or NULL when memory is short. */
static inline struct call_stats *stats_of(struct aggregate *agg, const struct func *func)
{
	if (unlikely(func->id >= agg->nr_rows) && grow_rows(agg, func->id) < 0)
		return NULL;
	agg->rows[func->id].func = func;
	return &agg->rows[func->id].stats;
}

static inline int add_call(struct aggregate *agg, const struct event *event)
{
	struct call_stats *stats = stats_of(agg, event->func);

	if (unlikely(!stats))
		return -ENOMEM;
	if (unlikely(agg->wants_details))
		add_details(stats, event);
	if (unlikely(agg->wants_hist) && add_to_hist(stats, event) < 0)
		return -ENOMEM;
	stats->calls++;
	stats->self_ns += event->self_ns;
	if (likely(!(event->flags & EVENT_RECURSIVE)))
		stats->total_ns += event->total_ns;
	return 0;
}

static int add_call_with_cpus(struct aggregate *agg, const struct task_stats *task,
			      const struct event *event)
{
	int ret = add_call(agg, event);

	if (ret == 0 && agg->wants_cpus)
		ret = add_cpus_since(stats_of(agg, event->func), task,
				     event->time_ns - event->total_ns);
	return ret;
}

static int add_sched(struct aggregate *agg, struct task_stats *task, const struct event *event)
{
	if (agg->wants_cpus && note_cpu(task, event) < 0)
		return -ENOMEM;
	if (event->type != EVENT_SCHED_IN || (event->flags & EVENT_UNPAIRED) ||
	    ((event->flags & EVENT_OUTSIDE) && !agg->counts_outside))
		return 0;
	task->sched_ns += event->total_ns;
	task->calls++;
	task->total_ns += event->self_ns;
	return add_call_with_cpus(agg, task, event);
}

/*
 * If @event tells by how much a counter grew during a call, add this number to the sums of the
 * called function. Such an event comes before the EXIT of the call.
 */
static int add_counter(struct aggregate *agg, const struct event *event)
{
	size_t index = (event->id - EVENT_ID_COUNTER) / 2;
	struct call_stats *stats;
	uint64_t value;

	if (!event_id_is_counter_diff(event->id) || index >= COUNTERS_MAX || !event->func ||
	    !event->data ||
	    !event_counter_value(event->data, event->data_len, agg->pipe->data->is_big_endian,
				 &value))
		return 0;
	stats = stats_of(agg, event->func);
	if (stats && !stats->counters)
		stats->counters = calloc(1, sizeof(*stats->counters));
	if (!stats || !stats->counters)
		return -ENOMEM;
	stats->counters->sums[index] += value;
	stats->counters->calls[index]++;
	return 0;
}

static int add_event(struct aggregate *agg, const struct event_span *span,
		     const struct event *event)
{
	struct task_stats *task = &agg->tasks[span->task->index];

	if (event->type == EVENT_SCHED_OUT || event->type == EVENT_SCHED_IN)
		return add_sched(agg, task, event);
	if (event->type == EVENT_ON_CPU)
		return agg->wants_cpus ? note_cpu(task, event) : 0;
	if (event->type == EVENT_POINT)
		return add_counter(agg, event);
	if (event->type != EVENT_EXIT)
		return 0;
	task->calls++;
	task->total_ns += event->self_ns;
	return add_call_with_cpus(agg, task, event);
}

/*
 * HOT: add calls. Stops at the first event that is neither an ENTRY nor an EXIT, or whose function
 * has no row. Returns the number of events before that event. A CPU cannot predict the order of
 * ENTRY and EXIT, so masks replace branches.
 */
static size_t add_plain_calls(struct aggregate *agg, const struct event_span *span)
{
	struct task_stats *task = &agg->tasks[span->task->index];
	uint64_t calls = 0;
	uint64_t self_ns = 0;
	size_t i;

	for (i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];

		if (unlikely(event->type > EVENT_EXIT || event->func->id >= agg->nr_rows))
			break;

		struct func_row *row = &agg->rows[event->func->id];
		uint64_t is_exit = event->type == EVENT_EXIT;
		uint64_t is_outermost = is_exit & !(event->flags & EVENT_RECURSIVE);

		row->func = event->func;
		row->stats.calls += is_exit;
		row->stats.self_ns += event->self_ns & -is_exit;
		row->stats.total_ns += event->total_ns & -is_outermost;
		calls += is_exit;
		self_ns += event->self_ns & -is_exit;
	}
	task->calls += calls;
	task->total_ns += self_ns;
	return i;
}

int aggregate_events(void *self, const struct event_span *span, struct uft_err *err)
{
	struct aggregate *agg = self;
	struct event_span rest = *span;

	while (rest.nr) {
		if (!agg->wants_details && !agg->wants_cpus && !agg->wants_hist) {
			size_t done = add_plain_calls(agg, &rest);

			rest.events += done;
			rest.nr -= done;
			if (!rest.nr)
				break;
		}

		int ret = add_event(agg, &rest, rest.events);

		if (ret < 0)
			return err_set_errno(err, ret, "cannot add up calls");
		rest.events++;
		rest.nr--;
	}
	return 0;
}

int aggregate_resume(void *self, const struct view_resume *at, struct uft_err *err)
{
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct func_row *x = a;
	const struct func_row *y = b;

	return strcmp(x->func->name, y->func->name);
}

static void merge_time(struct time_stats *to, const struct time_stats *from)
{
	note_extremes(to, from);
	to->sum_ns += from->sum_ns;
	wide_add(&to->sum_squares, from->sum_squares);
}

void call_stats_merge(struct call_stats *to, const struct call_stats *from, bool is_first)
{
	to->calls += from->calls;
	to->total_ns += from->total_ns;
	to->self_ns += from->self_ns;
	if (is_first) {
		to->total = from->total;
		to->self = from->self;
	} else {
		merge_time(&to->total, &from->total);
		merge_time(&to->self, &from->self);
	}
}

static int merge_hist(struct call_stats *to, struct call_stats *from)
{
	int ret = 0;

	if (!to->hist) {
		to->hist = take_ptr(from->hist);
	} else if (from->hist) {
		ret = hist_merge(to->hist, from->hist);
		hist_deinit(from->hist);
		free(take_ptr(from->hist));
	}
	return ret;
}

static void merge_counters(struct call_stats *to, struct call_stats *from)
{
	if (!to->counters) {
		to->counters = take_ptr(from->counters);
		return;
	}
	for (size_t i = 0; from->counters && i < COUNTERS_MAX; i++) {
		to->counters->sums[i] += from->counters->sums[i];
		to->counters->calls[i] += from->counters->calls[i];
	}
	free(take_ptr(from->counters));
}

/* Add all numbers of @from to @to. Afterwards, @from owns no heap memory. */
static int merge_stats(struct call_stats *to, struct call_stats *from)
{
	int ret = merge_hist(to, from);

	merge_counters(to, from);
	call_stats_merge(to, from, to->calls == 0);
	if (!to->cpus) {
		to->cpus = from->cpus;
		from->cpus = NULL;
		return ret;
	}
	for (size_t i = 0; from->cpus && i < CPU_WORDS; i++)
		to->cpus[i] |= from->cpus[i];
	free(take_ptr(from->cpus));
	return ret;
}

static void merge_task(struct task_stats *to, struct task_stats *from)
{
	to->calls += from->calls;
	to->total_ns += from->total_ns;
	to->sched_ns += from->sched_ns;
	/*
	 * If CPUs are wanted, tasks are not divided among threads: all events of a task go to one
	 * aggregate. Therefore at most one of @from and @to has CPUs of the task.
	 */
	if (from->nr_cpus) {
		free(to->cpus);
		to->cpus = take_ptr(from->cpus);
		to->nr_cpus = from->nr_cpus;
	}
}

int aggregate_merge(struct aggregate *agg, struct aggregate *from, struct uft_err *err)
{
	int ret = 0;

	if (from->nr_rows > agg->nr_rows)
		ret = grow_rows(agg, from->nr_rows - 1);
	for (size_t i = 0; ret == 0 && i < from->nr_rows; i++) {
		if (!from->rows[i].stats.calls && !from->rows[i].stats.counters)
			continue;
		agg->rows[i].func = from->rows[i].func;
		ret = merge_stats(&agg->rows[i].stats, &from->rows[i].stats);
	}
	for (size_t i = 0; i < agg->pipe->data->nr_tasks; i++)
		merge_task(&agg->tasks[i], &from->tasks[i]);
	return ret < 0 ? err_set_errno(err, ret, "cannot add up calls") : 0;
}

/* Each thread makes sums of its own. Afterwards, the sums are merged. */
static int run_threads(struct aggregate *agg, struct pipeline *pipe, size_t nr, struct uft_err *err)
{
	struct aggregate *parts cleanup_free = calloc(nr, sizeof(*parts));
	struct view *views cleanup_free = calloc(nr, sizeof(*views));
	int ret = parts && views ? 0 : err_set_errno(err, -ENOMEM, "cannot add up calls");

	for (size_t i = 0; ret == 0 && i < nr; i++) {
		ret = aggregate_init(&parts[i], pipe, err);
		parts[i].wants_details = agg->wants_details;
		parts[i].wants_cpus = agg->wants_cpus;
		parts[i].wants_hist = agg->wants_hist;
		parts[i].counts_outside = agg->counts_outside;
		views[i] = (struct view){
			.events = aggregate_events,
			.self = &parts[i],
			.resume = agg->wants_cpus ? NULL : aggregate_resume,
			.in_parts = true,
		};
	}
	if (ret == 0)
		ret = pipeline_run_parallel(pipe, views, nr, err);
	for (size_t i = 0; ret == 0 && i < nr; i++)
		ret = aggregate_merge(agg, &parts[i], err);
	for (size_t i = 0; parts && i < nr; i++) {
		if (parts[i].pipe)
			aggregate_deinit(&parts[i]);
	}
	return ret;
}

int aggregate_run(struct aggregate *agg, struct pipeline *pipe, size_t threads, struct uft_err *err)
{
	const struct view view = { .events = aggregate_events, .self = agg, .in_parts = true };
	size_t nr = pipeline_threads(pipe, threads);

	return nr > 1 ? run_threads(agg, pipe, nr, err) : pipeline_run(pipe, &view, err);
}

int aggregate_by_name(struct aggregate *agg)
{
	size_t nr = 0;
	int ret = 0;

	for (size_t i = 0; i < agg->nr_rows; i++) {
		if (agg->rows[i].stats.calls)
			agg->rows[nr++] = agg->rows[i];
		else
			free_stats(&agg->rows[i].stats);
	}
	agg->nr_rows = nr;
	if (nr == 0)
		return 0;
	qsort(agg->rows, nr, sizeof(*agg->rows), compare_names);

	size_t kept = 0;

	for (size_t i = 1; i < nr; i++) {
		if (compare_names(&agg->rows[kept], &agg->rows[i]) == 0)
			ret |= merge_stats(&agg->rows[kept].stats, &agg->rows[i].stats);
		else
			agg->rows[++kept] = agg->rows[i];
	}
	agg->nr_rows = kept + 1;
	return ret < 0 ? -ENOMEM : 0;
}

uint64_t time_stats_avg(const struct time_stats *stats, uint64_t calls)
{
	return calls ? stats->sum_ns / calls : 0;
}

double time_stats_stdv(const struct time_stats *stats, uint64_t calls)
{
	if (calls == 0 || stats->sum_ns == 0)
		return 0;

	double n = calls;
	double avg = stats->sum_ns / n;
	double squares = wide_to_double(stats->sum_squares) - avg * stats->sum_ns;

	return squares <= 0 ? 0 : 100 * sqrt(squares / n / n) / avg;
}
