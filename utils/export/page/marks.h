/* What the page's marks say: events that are no calls, and gaps where records were lost. */
#ifndef UTRAIL_EXPORT_PAGE_MARKS_H
#define UTRAIL_EXPORT_PAGE_MARKS_H

#include "utils/view/values/eventtext.h"

/*
 * Of an EVENT_POINT or EVENT_LOST: append the name of its kind to @kind, and all that it says to
 * @text: "app:start (x=1)". Not escaped; failures of memory are in both.
 */
void mark_put(struct event_texts *texts, const struct task *task, const struct event *event,
	      struct strbuf *kind, struct strbuf *text);

#endif
