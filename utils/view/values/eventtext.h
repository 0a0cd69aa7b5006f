/*
 * The text of an event that is not a call: its name and its values (doc/facts/text.md, "Events").
 */
#ifndef UTRAIL_VIEW_EVENTTEXT_H
#define UTRAIL_VIEW_EVENTTEXT_H

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/event.h"
#include "utils/pipeline/kinds/event_kinds.h"

struct kerneltext;

/*
 * True when lists of events show @event. The lists show the events of the type EVENT_POINT, except
 * for two groups: sites of calls (EVENT_ID_CALLSITE), and the kernel's events about tasks and the
 * scheduler (ids from EVENT_ID_LINUX to EVENT_ID_PROC - 1).
 */
static inline bool event_is_listed(const struct event *event)
{
	bool is_linux = event->id >= EVENT_ID_LINUX && event->id < EVENT_ID_PROC;

	return event->type == EVENT_POINT && !is_linux && event->id != EVENT_ID_CALLSITE;
}

/*
 * The data for the text of events. Starts as { 0 }, ends with event_texts_deinit().
 *
 * @kernel: NULL when the kernel's events are unknown
 */
struct event_texts {
	struct event_kinds kinds;
	struct kerneltext *kernel;
};

/*
 * Call this after pipeline_open(), which reads the formats of the kernel's events. @data must
 * outlive @texts.
 */
int event_texts_load(struct event_texts *texts, const struct trace_data *data, struct uft_err *err);
void event_texts_deinit(struct event_texts *texts);

/*
 * Write the name of @event, for example "linux:sched-out" or "read:proc/statm". The type of @event
 * is EVENT_POINT, EVENT_SCHED_OUT, EVENT_SCHED_IN or EVENT_EXTERN.
 */
void event_put_name(struct event_texts *texts, const struct event *event, struct strbuf *out);

/*
 * Write the text of the event's data, or nothing if there are no data. @task: the event's task. Not
 * thread-safe.
 */
void event_put_data(struct event_texts *texts, const struct task *task, const struct event *event,
		    struct strbuf *out);

/* Like event_put_data(), but positive differences in events "diff:..." have no plus sign. */
void event_put_raw_data(struct event_texts *texts, const struct task *task,
			const struct event *event, struct strbuf *out);

#endif
