/*
 * The event "limit:max-stack" in an open call: calls inside of this open call were deeper than
 * --max-stack, and were not recorded.
 */
#include "utils/format/event_ids.h"
#include "utils/pipeline/kinds/event_kind.h"

static void put_depth(const struct event_kind *kind, const struct event_context *context,
		      struct strbuf *out)
{
	strbuf_addstr(out, "deeper calls are not recorded");
}

static const struct event_kind rows[] = {
	{ EVENT_ID_LIMIT_DEPTH, "limit:max-stack", .put = put_depth },
};

const struct event_rows event_rows_limit = { rows, ARRAY_SIZE(rows) };
