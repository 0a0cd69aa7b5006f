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
 * Write the next calls, at most @max and none later than @until_ns, to @events, in the form of
 * stg_calls(), which does not get them. @last_ns: time of the record before the first.
 *
 * Returns their number; 0: the next one is later, or cannot be read this way. Negative with @err.
 */
ssize_t compact_calls(struct stg_calls *calls, struct compact_cursor *cursor, uint64_t last_ns,
		      struct event *events, size_t max, uint64_t until_ns, struct uft_err *err);

/*
 * The result of event_of_record() for the call's record, without payload; @last_ns: of the record
 * before it.
 */
struct compact_call;
void compact_call_event(const struct compact_coder *coder, const struct compact_call *call,
			uint64_t last_ns, struct event *event);

/*
 * The next call of @block, at which @state is, when compact_step() does not read it;
 * compact_block_other() lists the other cases.
 */
struct compact_state;
enum compact_found compact_odd_call(struct compact_block *block, struct compact_state *state,
				    uint64_t until_ns, struct compact_call *call);

#endif
