/*
 * Source and stage in one: calls of a compact block, as stg_calls() would make them from records.
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
 * Write the next calls, at most @max and none later than @until_ns, to @events, in the form that
 * stg_calls() makes. Do not pass them to stg_calls(). @last_ns: time of the record before the first
 * call.
 *
 * Returns their number; 0: the next call is later, or cannot be read this way. Negative with @err.
 */
ssize_t compact_calls(struct stg_calls *calls, struct compact_cursor *cursor, uint64_t last_ns,
		      struct event *events, size_t max, uint64_t until_ns, struct uft_err *err);

/*
 * Make the event that event_of_record() would make of a call's record without payload. @last_ns:
 * time of the record before it.
 */
struct compact_call;
void compact_call_event(const struct compact_coder *coder, const struct compact_call *call,
			uint64_t last_ns, struct event *event);

/*
 * Read the next call of @block, at which @state is, after compact_step() has refused it. The
 * results are those of compact_block_other().
 */
struct compact_state;
enum compact_found compact_odd_call(struct compact_block *block, struct compact_state *state,
				    uint64_t until_ns, struct compact_call *call);

#endif
