/* HOT: what stg_calls() does for most calls, for who has them from elsewhere than from records. */
#ifndef UTRAIL_TRACE_STG_CALLS_FAST_H
#define UTRAIL_TRACE_STG_CALLS_FAST_H

#include "utils/base/compiler.h"
#include "utils/trace/stage.h"

/* The ENTRY of @func, for which there is room in @open, that of stg_calls. */
static inline void enter_func(struct pending_call *frame, uint32_t *open, const struct func *func,
			      struct event *event)
{
	event->func = func;
	frame->func = func;
	frame->addr = event->addr;
	frame->start_ns = event->time_ns;
	frame->child_ns = 0;
	open[func->count_id]++;
}

/* The EXIT that belongs to the innermost one of @depth frames. False: stg_calls() must do it: it is that of another one, or of a recursion. */
static inline bool leave_fast(struct stg_calls *calls, struct pending_call *frame, size_t depth,
			      uint32_t *open, struct event *event)
{
	const struct func *func = frame->func;

	if (unlikely(frame->addr != event->addr || !func))
		return false;

	uint32_t *count = &open[func->count_id];

	if (unlikely(*count != 1))
		return false;
	*count = 0;
	event->func = func;
	event->total_ns = event->time_ns - frame->start_ns;
	event->self_ns = event->total_ns - frame->child_ns;
	if (likely(depth > 1)) {
		frame[-1].child_ns += event->total_ns;
	} else {
		calls->outermost_total_ns = event->total_ns;
		calls->outermost_self_ns = event->self_ns;
	}
	return true;
}

/* Whether the duration or the size of a call says how much of its time is its caller's own: then ends are not fast. */
static inline bool has_end_filter(const struct stg_calls *calls)
{
	return calls->config->time_filter_ns || calls->config->size_filter;
}

#endif
