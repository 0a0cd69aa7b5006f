/*
 * A source and a stage in one: makes events from the calls of a compact block. The events are those
 * that stg_calls() would make from the block's records.
 */
#ifndef UTRAIL_PIPELINE_COMPACT_CALLS_H
#define UTRAIL_PIPELINE_COMPACT_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/pipeline/sources/compact_cursor.h"
#include "utils/pipeline/stages/stage.h"

/*
 * Make events from the next calls of the block, and write these events to @events. The number of
 * events is at most @max, and no event is later than @until_ns. The events are those that
 * stg_calls() would make.
 *
 * @last_ns: the time of the last record before these calls
 *
 * Returns the number of events, or a negative errno with @err. The number is 0 if the next call is
 * later than @until_ns, if the block has no more calls, or if compact_block_rest() must decode the
 * rest of the block.
 */
ssize_t compact_calls(struct stg_calls *calls, struct compact_cursor *cursor, uint64_t last_ns,
		      struct event *events, size_t max, uint64_t until_ns, struct uft_err *err);

/*
 * Set the members of @event for @call, except data and data_len. The values are those that
 * event_of_record() sets for the call's record. @last_ns: the time of the record before the call's
 * record.
 */
struct compact_call;
void compact_call_event(const struct compact_coder *coder, const struct compact_call *call,
			uint64_t last_ns, struct event *event);

/*
 * Called when compact_step() has returned false. Reads the token at @state->in with
 * compact_block_other(), and updates @state. Returns the result of compact_block_other().
 */
struct compact_state;
enum compact_found compact_odd_call(struct compact_block *block, struct compact_state *state,
				    uint64_t until_ns, struct compact_call *call);

#endif
