/*
 * HOT: reads the calls of compact blocks, and makes the events that stg_calls() would make (see
 * compact_calls.h).
 */
#include "utils/pipeline/sources/compact_calls.h"

#include "utils/base/compiler.h"
#include "utils/format/argblob.h"
#include "utils/format/calls/compact_step.h"
#include "utils/pipeline/recording/args.h"
#include "utils/pipeline/stages/stg_calls_fast.h"

void compact_call_event(const struct compact_coder *coder, const struct compact_call *call,
			uint64_t last_ns, struct event *event)
{
	unsigned depth = MIN(call->depth, (uint32_t)RECORD_DEPTH_MAX);

	event->time_ns = call->time_ns;
	event->addr = record_addr(coder->funcs[call->number]);
	event->depth = depth;
	event->indent = depth;
	event->type = call->is_exit ? EVENT_EXIT : EVENT_ENTRY;
	event->flags = call->time_ns < last_ns ? EVENT_BACKWARDS : 0;
}

/*
 * Returns the time up to which fast_calls() may read calls. This time is at most @until_ns, and is
 * before calls->changes_ns, the time when addresses change their meaning. Returns 0 if the depth of
 * the stack is unknown, if changes_ns is unknown, or if some calls may be calls of kernel
 * functions.
 */
static uint64_t fast_until(const struct stg_calls *calls, uint64_t until_ns)
{
	if (!calls->has_record || calls->wants_depth || calls->has_kernel || !calls->changes_ns)
		return 0;
	return MIN(until_ns, calls->changes_ns - 1);
}

/* Find the argument specifications of function @number. Returns NULL when memory is short. */
static const struct func_args *args_of(const struct stg_calls *calls, struct compact_cursor *cursor,
				       uint32_t number)
{
	static const struct func_args nothing;
	struct compact_name *name = &cursor->named[number];

	if (name->args)
		return name->args;

	const struct func *func = space_func(calls->space, name->addr, NULL);

	if (!func)
		return NULL;
	name->args = arg_book_find(cursor->args, func);
	if (!name->args)
		name->args = &nothing;
	return name->args;
}

/*
 * HOT: read a call with payload. Returns false, with @state unchanged, if the payload does not have
 * the length that the function's argument specifications give. In this case the next record cannot
 * be found.
 */
NOINLINE static bool payload_step(const struct stg_calls *calls, struct compact_cursor *cursor,
				  struct compact_state *state, uint64_t until_ns,
				  struct compact_call *call, struct event *event)
{
	struct compact_coder *coder = cursor->block.coder;
	const uint8_t *end = cursor->block.end;
	struct compact_state next = *state;
	uint32_t *learned = &coder->contexts[state->context];
	uint32_t before = *learned;
	size_t len;

	if (!compact_payload_next(&next, end, &len) ||
	    !compact_step(coder, end, &next, until_ns, call))
		return false;

	const struct func_args *args = args_of(calls, cursor, call->number);
	size_t used = args ? func_args_length(args, call->is_exit, next.in, len, cursor->is_big)
			   : 0;

	if (used == 0 || ALIGN_UP(used, (size_t)ARGBLOB_TOTAL_ALIGN) != len) {
		*learned = before;
		return false;
	}
	event->data = next.in;
	event->data_len = used;
	next.in += len;
	*state = next;
	cursor->payload_bytes += len;
	return true;
}

/*
 * HOT: read ENTRYs of functions that cursor->named knows, and EXITs that end the innermost open
 * call. The loop ends at any other item of the block. If this item is an ENTRY or EXIT that the
 * loop has already decoded, the loop stores it in *@odd, and sets *@is_read.
 */
static size_t fast_calls(struct stg_calls *calls, struct compact_cursor *cursor,
			 struct compact_state *at, struct event *events, size_t max,
			 uint64_t until_ns, struct compact_call *odd, bool *is_read)
{
	struct compact_coder *const coder = cursor->block.coder;
	const uint8_t *const end = cursor->block.end;
	const struct compact_name *const names = cursor->named;
	struct open_calls open = open_calls_of(calls);
	struct compact_state state = *at;
	struct event *event = events;
	struct compact_call call = { 0 };

	*is_read = false;
	for (; event < events + max; event++) {
		event->data = NULL;
		event->data_len = 0;
		if (unlikely(!compact_step(coder, end, &state, until_ns, &call))) {
			/*
			 * payload_step() gets the address of a copy, so that @state can stay in
			 * registers.
			 */
			struct compact_state there = state;
			struct compact_call its;

			if (!payload_step(calls, cursor, &there, until_ns, &its, event))
				break;
			state = there;
			call = its;
		}

		const struct compact_name *name = &names[call.number];

		event->time_ns = call.time_ns;
		event->addr = name->addr;
		event->flags = 0;
		event->type = call.is_exit ? EVENT_EXIT : EVENT_ENTRY;
		*is_read = call.is_exit ? !leave_fast(&open, calls, event)
					: !enter_fast(&open, calls, name->func, event);
		if (unlikely(*is_read))
			break;
	}
	calls->nr = open.nr;
	*odd = call;
	*at = state;
	return event - events;
}

enum compact_found compact_odd_call(struct compact_block *block, struct compact_state *state,
				    uint64_t until_ns, struct compact_call *call)
{
	enum compact_found found;

	compact_state_put(state, block);
	found = compact_block_other(block, until_ns, call);
	*state = compact_state_of(block);
	return found;
}

ssize_t compact_calls(struct stg_calls *calls, struct compact_cursor *cursor, uint64_t before_ns,
		      struct event *events, size_t max, uint64_t until_ns, struct uft_err *err)
{
	struct compact_block *block = &cursor->block;
	struct compact_state state = compact_state_of(block);
	bool is_plain = calls->nr_seeded == 0;
	size_t nr = 0;

	while (nr < max) {
		struct compact_call call;
		bool is_read;

		if (cursor->space != calls->space)
			compact_cursor_forget_names(cursor, calls->space);
		nr += fast_calls(calls, cursor, &state, events + nr, max - nr,
				 fast_until(calls, until_ns), &call, &is_read);
		if (nr == max ||
		    (!is_read && compact_odd_call(block, &state, until_ns, &call) != COMPACT_CALL))
			break;
		if (unlikely(call.number == 0)) {
			/*
			 * The number 0 means that the function is unknown: the block is damaged.
			 * The rest of the block is not read.
			 */
			state.in = block->end + 1;
			break;
		}
		compact_call_event(block->coder, &call, nr ? events[nr - 1].time_ns : before_ns,
				   &events[nr]);

		int ret = stg_calls(calls, &events[nr], 1, err);

		if (ret < 0)
			return ret;
		is_plain &= calls->is_plain;
		if (!call.is_exit && cursor->space == calls->space)
			cursor->named[call.number].func = events[nr].func;
		nr++;
	}
	compact_state_put(&state, block);
	calls->is_plain = is_plain;
	calls->has_events = false;
	calls->has_outside = false;
	if (nr)
		calls->last_ns = events[nr - 1].time_ns;
	return nr;
}
