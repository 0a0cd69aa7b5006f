/* Views about one function: its callers and callees, its times, its longest calls. */
#ifndef UTRAIL_VIEW_REPORT_FUNC_H
#define UTRAIL_VIEW_REPORT_FUNC_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/color.h"
#include "utils/base/err.h"
#include "utils/view/report/hist.h"
#include "utils/base/sink.h"
#include "utils/view/graph/tree.h"

enum report_func_kind {
	REPORT_CALLERS,
	REPORT_CALLEES,
};

/*
 * Show the functions that called @name, or the functions that @name called, sorted by time. Returns
 * 0, -ENOENT when @name was not called, or -ENOMEM.
 */
int report_func_pairs(const struct tree *tree, const char *name, enum report_func_kind kind,
		      enum color_mode color, struct sink *sink, struct uft_err *err);

#define SLOWEST_NR 10

/*
 * The distribution of the calls of one function, and its slowest calls.
 *
 * @slow: the slowest call first
 * @is_it: one value for each function, at the index func->id. The value is 0 if the function was
 *         not compared with @name, 1 if the function has the name @name, and 2 if the function has
 *         another name
 */
struct calls_of_func {
	const char *name;
	struct hist hist;
	struct slow_call {
		const struct task *task;
		uint64_t start_ns;
		uint64_t total_ns;
	} slow[SLOWEST_NR];
	size_t nr_slow;
	uint8_t *is_it;
	size_t nr_is_it;
};

/*
 * The events function of struct view, for a pipeline in the order PIPELINE_BY_TASK.
 *
 * @self: a struct calls_of_func, which starts as { .name = ... }
 */
int calls_of_func_events(void *self, const struct event_span *span, struct uft_err *err);
void calls_of_func_deinit(struct calls_of_func *calls);

/*
 * Show the number of calls in each range of durations, from one power of two to the next. Returns
 * 0, or -ENOENT when there was no call.
 */
int report_histogram(const struct calls_of_func *calls, enum color_mode color, struct sink *sink,
		     struct uft_err *err);

/*
 * Show the slowest calls. For each call, write a command that shows the call in the recording @dir.
 * Returns 0, or -ENOENT when there was no call.
 */
int report_slowest(const struct calls_of_func *calls, const char *dir, enum color_mode color,
		   struct sink *sink, struct uft_err *err);

#endif
