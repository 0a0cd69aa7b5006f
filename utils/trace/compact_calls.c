/* HOT: finished calls from compact blocks (see compact_calls.h). */
#include "utils/trace/compact_calls.h"

#include "utils/base/compiler.h"
#include "utils/format/compact_step.h"
#include "utils/trace/stg_calls_fast.h"

/* What event_of_record() would make of the call's record: what all calls have, and what only stg_calls() asks for. */
static inline void put_call(const struct compact_coder *coder, const struct compact_call *call,
			    struct event *event)
{
	event->time_ns = call->time_ns;
	event->addr = record_addr(coder->funcs[call->number]);
	event->data = NULL;
	event->data_len = 0;
	event->type = call->is_exit ? EVENT_EXIT : EVENT_ENTRY;
	event->flags = 0;
}

static inline void put_record(const struct compact_call *call, uint64_t last_ns,
			      struct event *event)
{
	event->depth = MIN(call->depth, (uint32_t)RECORD_DEPTH_MAX);
	event->indent = event->depth;
	event->flags = call->time_ns < last_ns ? EVENT_BACKWARDS : 0;
}

/* Up to when calls may be fast: not before the first record has told where the stack begins. */
static uint64_t fast_until(const struct stg_calls *calls)
{
	return calls->has_record && !calls->wants_depth && !calls->has_kernel ? calls->changes_ns
									       : 0;
}

ssize_t compact_calls(struct stg_calls *calls, struct compact_cursor *cursor, uint64_t before_ns,
		      struct event *events, size_t max, uint64_t until_ns, struct uft_err *err)
{
	struct compact_block *block = &cursor->block;
	struct compact_coder *coder = block->coder;
	struct compact_state state = compact_state_of(block);
	struct pending_call *frames = calls->frames;
	const uint8_t *end = block->end;
	uint64_t slow_ns = fast_until(calls);
	size_t depth = calls->nr;
	uint16_t nr_seeded = calls->nr_seeded;
	uint32_t *open = calls->open;
	size_t cap = calls->cap;
	bool is_plain = calls->nr_seeded == 0;
	bool has_filter = has_end_filter(calls);
	size_t nr = 0;

	if (cursor->space != calls->space)
		compact_cursor_forget_names(cursor, calls->space);
	for (; nr < max; nr++) {
		struct event *event = &events[nr];
		uint64_t last_ns = state.last_ns;
		struct compact_call call;
		enum compact_found found = compact_step(coder, end, &state, until_ns, &call);

		if (unlikely(found == COMPACT_OTHER)) {
			/* Not the one that is kept in registers. */
			struct compact_call other;

			compact_state_put(&state, block);
			found = compact_block_other(block, until_ns, &other);
			state = compact_state_of(block);
			call = other;
		}
		if (unlikely(found != COMPACT_CALL))
			break;
		put_call(coder, &call, event);
		if (likely(call.time_ns < slow_ns)) {
			const struct func *func = cursor->named[call.number];

			if (!call.is_exit && likely(func && depth < cap)) {
				enter_func(&frames[depth], open, func, event);
				event->indent = depth;
				event->depth = depth++ - nr_seeded;
				continue;
			}
			if (call.is_exit && depth > 1 && !has_filter &&
			    leave_fast(&frames[depth - 1], open, event)) {
				event->indent = --depth;
				event->depth = depth - nr_seeded;
				continue;
			}
		}
		put_record(&call, nr ? last_ns : before_ns, event);
		calls->nr = depth;

		int ret = stg_calls(calls, event, 1, err);

		if (ret < 0)
			return ret;
		is_plain &= calls->is_plain;
		frames = calls->frames;
		open = calls->open;
		depth = calls->nr;
		nr_seeded = calls->nr_seeded;
		cap = calls->cap;
		slow_ns = fast_until(calls);
		if (cursor->space != calls->space)
			compact_cursor_forget_names(cursor, calls->space);
		if (!call.is_exit)
			cursor->named[call.number] = event->func;
	}
	compact_state_put(&state, block);
	calls->nr = depth;
	calls->is_plain = is_plain;
	calls->has_events = false;
	calls->has_outside = false;
	if (nr)
		calls->last_ns = events[nr - 1].time_ns;
	return nr;
}
