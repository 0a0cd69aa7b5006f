/* Texts of the page: strings, and the page's marks: points, and gaps where records were lost. */
#ifndef UTRAIL_EXPORT_PAGE_MARKS_H
#define UTRAIL_EXPORT_PAGE_MARKS_H

#include "utils/view/values/eventtext.h"

/*
 * Append a string for a script element, which no text in it can end. Hidden characters become
 * visible here: the page shows its data unchanged.
 */
void page_put_string(struct strbuf *out, const char *text);

/*
 * Append the name of the kind of an EVENT_POINT or EVENT_LOST to @kind, and its whole text to
 * @text: "app:start (x=1)". Neither is escaped. The caller checks both for lack of memory.
 */
void mark_put(struct event_texts *texts, const struct task *task, const struct event *event,
	      struct strbuf *kind, struct strbuf *text);

#endif
