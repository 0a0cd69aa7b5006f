/*
 * Texts for the page of `dump --format=html` and for `utrail show`: quoted strings, and the texts
 * of marks. A mark stands for an event, or for a gap where records were lost.
 */
#ifndef UTRAIL_EXPORT_PAGE_MARKS_H
#define UTRAIL_EXPORT_PAGE_MARKS_H

#include "utils/base/containers/strbuf.h"
#include "utils/base/escape.h"
#include "utils/view/values/eventtext.h"

/*
 * Append @text between quotes. With MEDIUM_SCRIPT, the text is for a script element, and is escaped
 * so that it cannot end the element. With MEDIUM_JSON, the text is for an answer of `utrail show`.
 * Hidden characters are made visible here, because the page shows its data unchanged.
 */
void page_put_string(struct strbuf *out, enum medium medium, const char *text);

/*
 * Append the name of the event's kind to @kind. Append the event's whole text to @text, for example
 * "app:start (x=1)". In @text, only the part in parentheses is escaped (MEDIUM_TERMINAL). @event is
 * an EVENT_POINT or EVENT_LOST. The caller must check @kind and @text for lack of memory.
 */
void mark_put(struct event_texts *texts, const struct task *task, const struct event *event,
	      struct strbuf *kind, struct strbuf *text);

#endif
