/*
 * Events that are known only from lines of a log (`utrail events import`). The payload of an event
 * has the time of the line, and the text after the event's name. If this text has a word
 * "KEY=value", the event's field KEY is "value".
 */
#ifndef UTRAIL_PIPELINE_DECLARED_LINE_H
#define UTRAIL_PIPELINE_DECLARED_LINE_H

#include "utils/pipeline/kinds/declared.h"

/* Returns the number of words in @text, at least 1 and at most @max. Blanks separate the words. */
size_t declared_line_words(const char *text, size_t max);

/*
 * Set the fields of @event, one for each of @keys, which are separated by blanks. Returns 0 or
 * -ENOMEM.
 */
int declared_line_set_keys(struct declared_event *event, const char *keys);

/* The functions for event_kind.get and event_kind.put. */
bool declared_line_get(const struct event_kind *kind, const struct event_context *context,
		       size_t index, struct event_value *out);
void declared_line_put(const struct event_kind *kind, const struct event_context *context,
		       struct strbuf *out);

#endif
