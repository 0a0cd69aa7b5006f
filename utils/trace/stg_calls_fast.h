/*
 * HOT: the work of stg_calls() for most calls, for callers that have them from elsewhere than from
 * records.
 */
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

/*
 * The part of a call's time that is not its caller's own: all; or only the time of its own calls,
 * when it is left out for being short, or small.
 */
static inline uint64_t foreign_time(const struct stage_config *config, const struct func *func,
				    uint64_t total_ns, uint64_t child_ns)
{
	if (func && func->sym && func->sym->size < config->size_filter)
		return child_ns;
	return time_abs(total_ns) < config->time_filter_ns ? 0 : total_ns;
}

/*
 * The EXIT that belongs to @frame, the innermost one of @depth. False: it is that of another one,
 * and stg_calls() must do it.
 */
static inline bool leave_fast(struct stg_calls *calls, struct pending_call *frame, size_t depth,
			      uint32_t *open, struct event *event)
{
	const struct stage_config *config = calls->config;
	const struct func *func = frame->func;

	if (unlikely(frame->addr != event->addr || !func))
		return false;
	if (unlikely(--open[func->count_id]))
		event->flags |= EVENT_RECURSIVE;
	event->func = func;
	event->total_ns = event->time_ns - frame->start_ns;
	event->self_ns = event->total_ns - frame->child_ns;
	if (likely(depth > 1)) {
		frame[-1].child_ns += foreign_time(config, func, event->total_ns, frame->child_ns);
	} else if (time_abs(event->total_ns) >= config->time_filter_ns) {
		calls->outermost_total_ns = event->total_ns;
		calls->outermost_self_ns = event->self_ns;
	}
	return true;
}

#endif
