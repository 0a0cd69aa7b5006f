/* Adds up calls for each function, and for each task. */
#ifndef UTRAIL_VIEW_AGGREGATE_H
#define UTRAIL_VIEW_AGGREGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/wide.h"
#include "utils/spec/counters.h"
#include "utils/pipeline/pipeline.h"
#include "utils/view/report/hist.h"

/*
 * Sums over the durations of calls. @min_at_ns, @max_at_ns: the times when the shortest and the
 * longest call began
 */
struct time_stats {
	uint64_t sum_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t min_at_ns;
	uint64_t max_at_ns;
	struct wide sum_squares;
};

/*
 * Two numbers for each counter, in the order of the counters' ids.
 *
 * @sums: the sum of the counter's growth in calls
 * @calls: the number of calls in which the counter's growth is known
 */
struct counter_sums {
	uint64_t sums[COUNTERS_MAX];
	uint64_t calls[COUNTERS_MAX];
};

/* Statistics of the calls of one function, or of all functions with one name. */
struct call_stats {
	uint64_t calls;
	uint64_t total_ns; /* the time of outermost calls only, so that recursion counts once */
	uint64_t self_ns;
	/* @total and @self include recursive calls. Both are filled only with wants_details. */
	struct time_stats total;
	struct time_stats self;
	uint64_t *cpus;		       /* a bit for each CPU seen; NULL: none */
	struct hist *hist;	       /* distribution of total times; NULL: none or not wanted */
	struct counter_sums *counters; /* NULL: no counter was read */
};

/* The number of words in call_stats.cpus: bits for 1024 CPUs. */
#define CPU_WORDS 16

/* One row in the table of functions. */
struct func_row {
	const struct func *func;
	struct call_stats stats;
};

/* The statistics of one task. */
struct task_stats {
	uint64_t calls;
	uint64_t total_ns; /* all time inside of functions */
	uint64_t sched_ns; /* the part of total_ns that was off the CPU */
	/* The CPUs on which the task has run, in order of time. Only with wants_cpus. */
	struct cpu_change {
		uint64_t since_ns;
		uint32_t cpu;
	} * cpus;
	size_t nr_cpus;
};

/*
 * @wants_details: fill call_stats.total and call_stats.self
 * @wants_cpus: note the CPUs on which functions ran
 * @wants_hist: note the distribution of the times of calls
 * @counts_outside: count all time off the CPU; false: only the time off the CPU within calls
 * @rows: one for each function; the index is func->id
 * @tasks: one for each task; the index is task->index
 */
struct aggregate {
	const struct pipeline *pipe;
	bool wants_details;
	bool wants_cpus;
	bool wants_hist;
	bool counts_outside;
	struct func_row *rows;
	size_t nr_rows;
	struct task_stats *tasks;
};

int aggregate_init(struct aggregate *agg, const struct pipeline *pipe, struct uft_err *err);
void aggregate_deinit(struct aggregate *agg);

/* Implements events() of struct view (pipeline.h). @self is the struct aggregate. */
int aggregate_events(void *self, const struct event_span *span, struct uft_err *err);

/*
 * The function for view.resume. If wants_cpus is true, view.resume must be NULL, because a task's
 * CPU is known only if the task is read from its beginning.
 */
int aggregate_resume(void *self, const struct view_resume *at, struct uft_err *err);

/*
 * Add all numbers of @from to @agg. Both structs must be for the same recording, and no event may
 * have been added to both structs. Afterwards, only aggregate_deinit() may be called for @from.
 */
int aggregate_merge(struct aggregate *agg, struct aggregate *from, struct uft_err *err);

/*
 * Run @pipe in up to @threads threads, which share the tasks. The number of threads does not change
 * the results in @agg.
 */
int aggregate_run(struct aggregate *agg, struct pipeline *pipe, size_t threads,
		  struct uft_err *err);

/*
 * Drop functions without calls, unite functions with the same name, and sort agg->rows by name.
 * Called after the last event. Returns 0 or -ENOMEM.
 */
int aggregate_by_name(struct aggregate *agg);

/*
 * Add the calls and times of @from to @to. The CPUs, the histogram and the counters of @to stay
 * unchanged.
 *
 * @is_first: @to has no calls yet
 */
void call_stats_merge(struct call_stats *to, const struct call_stats *from, bool is_first);

/* Returns the average, or 0 without calls. */
uint64_t time_stats_avg(const struct time_stats *stats, uint64_t calls);

/* Returns the relative standard error in percent: 100 * sqrt(variance / calls) / average. */
double time_stats_stdv(const struct time_stats *stats, uint64_t calls);

#endif
