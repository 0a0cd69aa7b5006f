/* The text of the page's marks: events that are not calls, and gaps where records were lost. */
#ifndef UTRAIL_EXPORT_PAGE_MARKS_H
#define UTRAIL_EXPORT_PAGE_MARKS_H

#include "utils/view/values/eventtext.h"

/*
 * Append to @kind the name of the kind of an EVENT_POINT or EVENT_LOST, and to @text all that it
 * says: "app:start (x=1)". Not escaped; failures of memory are in both.
 */
void mark_put(struct event_texts *texts, const struct task *task, const struct event *event,
	      struct strbuf *kind, struct strbuf *text);

#endif
