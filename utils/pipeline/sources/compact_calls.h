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
 * Write the next calls, at most @max and none later than @until_ns, to @events, as stg_calls()
 * leaves them.
 *
 * @last_ns: time of the record before the first call
 *
 * Returns their number; 0: the next call is later, or must be read as a record; or negative with
 * @err.
 */
ssize_t compact_calls(struct stg_calls *calls, struct compact_cursor *cursor, uint64_t last_ns,
		      struct event *events, size_t max, uint64_t until_ns, struct uft_err *err);

/*
 * Make the event that event_of_record() makes of the same call in a record without payload.
 * @last_ns: time of the record before it.
 */
struct compact_call;
void compact_call_event(const struct compact_coder *coder, const struct compact_call *call,
			uint64_t last_ns, struct event *event);

/*
 * Read the call of @block at @state that compact_step() has refused. The results are those of
 * compact_block_other().
 */
struct compact_state;
enum compact_found compact_odd_call(struct compact_block *block, struct compact_state *state,
				    uint64_t until_ns, struct compact_call *call);

#endif
