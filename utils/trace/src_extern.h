/* Source of events: extern.dat, lines with timestamps that a user made. */
#ifndef UTRAIL_TRACE_SRC_EXTERN_H
#define UTRAIL_TRACE_SRC_EXTERN_H

#include <stddef.h>

#include "utils/base/err.h"
#include "utils/base/strbuf.h"
#include "utils/trace/event.h"

/* @events: EVENT_EXTERN by time, whose data is the message within @text */
struct src_extern {
	struct strbuf text;
	struct event *events;
	size_t nr;
};

/* A missing file has no events. -EINVAL names the line that cannot be read. */
int src_extern_load(struct src_extern *src, const struct trace_data *data, struct uft_err *err);
void src_extern_deinit(struct src_extern *src);

#endif
