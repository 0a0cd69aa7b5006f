/* The text of an event that is no call: its name and what it says (spec/output.md section 2.6). */
#ifndef UTRAIL_VIEW_EVENTTEXT_H
#define UTRAIL_VIEW_EVENTTEXT_H

#include "utils/base/err.h"
#include "utils/base/strbuf.h"
#include "utils/trace/event.h"
#include "utils/trace/event_names.h"

/* "linux:sched-out", "read:proc/statm": POINT, SCHED_*, EXTERN. */
void event_put_name(struct event_names *names, const struct event *event, struct strbuf *out);

/*
 * What stands in brackets behind the name; nothing when there is nothing to say. @task and the
 * byte order of @data are needed to read it.
 */
void event_put_data(const struct trace_data *data, const struct task *task,
		    const struct event *event, struct strbuf *out);

/* The same as the dump shows it: without the plus signs of differences. */
void event_put_raw_data(const struct trace_data *data, const struct task *task,
			const struct event *event, struct strbuf *out);

#endif
