/* The text of an event that is no call: its name and what it says (spec/output.md section 2.6). */
#ifndef UTRAIL_VIEW_EVENTTEXT_H
#define UTRAIL_VIEW_EVENTTEXT_H

#include "utils/base/err.h"
#include "utils/base/strbuf.h"
#include "utils/trace/event.h"

struct kerneltext;

/* Names of user events (events.txt), by id, and what is known of the kernel's (NULL: nothing). Starts as { 0 }. */
struct event_names {
	struct kerneltext *kernel;
	struct event_name {
		uint64_t id;
		char *name;
	} * names;
	size_t nr;
};

/*
 * Reads events.txt when the recording says that it has one. What is known of the kernel's events is what a pipeline with them has read
 * into @data.
 */
int event_names_load(struct event_names *names, const struct trace_data *data, struct uft_err *err);
void event_names_deinit(struct event_names *names);

/* "linux:sched-out", "read:proc/statm": POINT, SCHED_*, EXTERN. */
void event_put_name(const struct event_names *names, const struct event *event, struct strbuf *out);

/*
 * What stands in brackets behind the name; nothing when there is nothing to say. @task and the
 * byte order of @data are needed to read it. Not for several threads at a time.
 */
void event_put_data(const struct event_names *names, const struct trace_data *data,
		    const struct task *task, const struct event *event, struct strbuf *out);

/* The same as the dump shows it: without the plus signs of differences. */
void event_put_raw_data(const struct event_names *names, const struct trace_data *data,
			const struct task *task, const struct event *event, struct strbuf *out);

#endif
