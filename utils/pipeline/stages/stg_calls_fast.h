/*
 * HOT: pairs ENTRYs with EXITs, one call at a time. The ENTRYs and EXITs come from records
 * (stg_calls.c) or from compact blocks (compact_calls.c). skim_fast() (for split.c) follows the
 * open calls without filling in events.
 */
#ifndef UTRAIL_PIPELINE_STG_CALLS_FAST_H
#define UTRAIL_PIPELINE_STG_CALLS_FAST_H

#include <stddef.h>

#include "utils/base/compiler.h"
#include "utils/pipeline/stages/stage.h"

/* Take @event, the ENTRY of a call of @func. Fill in @frame, the frame of this call. */
static inline void enter_func(const struct stg_calls *calls, struct pending_call *frame,
			      const struct func *func, struct event *event)
{
	event->func = func;
	frame->func = func;
	frame->addr = event->addr;
	frame->start_ns = event->time_ns;
	frame->child_ns = 0;
	calls->open[func->count_id]++;
}

/*
 * The open calls of a struct stg_calls, in a form that a loop can keep in registers.
 *
 * @next: the element that the next frame gets in the array stg_calls.frames
 * @end: the end of this array
 * @least: leave_fast() takes an EXIT only if @nr is larger than @least. Otherwise stg_calls() must
 *         take the EXIT
 */
struct open_calls {
	struct pending_call *next;
	struct pending_call *end;
	size_t nr;
	size_t nr_seeded;
	size_t least;
};

static inline struct open_calls open_calls_of(const struct stg_calls *calls)
{
	return (struct open_calls){
		/* Before the first call there are no frames, and NULL + 0 is undefined. */
		.next = calls->frames ? calls->frames + calls->nr : NULL,
		.end = calls->frames ? calls->frames + calls->cap : NULL,
		.nr = calls->nr,
		.nr_seeded = calls->nr_seeded,
		.least = calls->has_kernel ? 1 : 0,
	};
}

/*
 * Take @event, an ENTRY of @func. Returns false if there is no room, or if @func is unknown (NULL).
 * In this case stg_calls() must take @event.
 */
static inline bool enter_fast(struct open_calls *at, const struct stg_calls *calls,
			      const struct func *func, struct event *event)
{
	if (unlikely(!func || at->next >= at->end))
		return false;
	enter_func(calls, at->next++, func, event);
	event->indent = at->nr;
	event->depth = at->nr++ - at->nr_seeded;
	return true;
}

/*
 * Returns the part of a call's time that is not self time of its caller. If the called function is
 * too small to be shown, the call's self time counts as self time of the caller. If a time filter
 * drops the call, all of the call's time is self time of the caller, and the result is 0.
 */
static inline uint64_t foreign_time(const struct stage_config *config, const struct func *func,
				    uint64_t total_ns, uint64_t child_ns)
{
	if (func && func->sym && func->sym->size < config->size_filter)
		return child_ns;
	return time_abs(total_ns) < config->time_filter_ns ? 0 : total_ns;
}

/*
 * A call, or a time off the CPU, has ended. Add its duration to the call around it.
 *
 * @event: the end of the call or of the time off the CPU. @event has the duration
 * @parent: the call around @event; NULL: no call is around @event
 * @child_ns: the time of the calls that the ended call has made; 0 for a time off the CPU
 */
static inline void count_time(struct stg_calls *calls, struct pending_call *parent,
			      const struct event *event, uint64_t child_ns)
{
	const struct stage_config *config = calls->config;

	if (likely(parent)) {
		parent->child_ns += foreign_time(config, event->func, event->total_ns, child_ns);
	} else if (time_abs(event->total_ns) >= config->time_filter_ns) {
		calls->outermost_total_ns = event->total_ns;
		calls->outermost_self_ns = event->self_ns;
	}
}

/*
 * Take the EXIT @event, if @event ends the innermost call. Returns false if stg_calls() must take
 * @event, because @event may end another call, or because the function is unknown.
 */
static inline bool leave_fast(struct open_calls *at, struct stg_calls *calls, struct event *event)
{
	if (unlikely(at->nr <= at->least))
		return false;

	struct pending_call *frame = at->next - 1;
	const struct func *func = frame->func;

	if (unlikely(frame->addr != event->addr || !func))
		return false;
	if (unlikely(--calls->open[func->count_id]))
		event->flags |= EVENT_RECURSIVE;
	event->func = func;
	event->total_ns = event->time_ns - frame->start_ns;
	event->self_ns = event->total_ns - frame->child_ns;
	count_time(calls, at->nr > 1 ? frame - 1 : NULL, event, frame->child_ns);
	at->next = frame;
	at->nr--;
	event->indent = at->nr;
	event->depth = at->nr - at->nr_seeded;
	return true;
}

/*
 * Take an ENTRY, or the EXIT of the innermost call. The function of a new frame is not set. Returns
 * false for the EXIT of another call, or if there is no room.
 */
static inline bool skim_fast(struct open_calls *at, struct stg_calls *calls, uint64_t time_ns,
			     uint64_t addr, bool is_exit)
{
	struct pending_call *frame = at->next;

	if (!is_exit) {
		if (unlikely(frame >= at->end))
			return false;
		*frame = (struct pending_call){ .addr = addr, .start_ns = time_ns };
		at->next++;
		at->nr++;
		return true;
	}
	frame--;
	if (unlikely(at->nr == 0 || frame->addr != addr))
		return false;
	at->next = frame;
	if (likely(--at->nr)) {
		frame[-1].child_ns += time_ns - frame->start_ns;
		return true;
	}
	calls->outermost_total_ns = time_ns - frame->start_ns;
	calls->outermost_self_ns = calls->outermost_total_ns - frame->child_ns;
	return true;
}

#endif
