/*
 * Static probes with arguments. Each argument is an integer or a floating-point number. Any
 * argument may be missing in a payload (utils/format/event_data.h).
 */
#ifndef UTRAIL_PIPELINE_DECLARED_PROBE_H
#define UTRAIL_PIPELINE_DECLARED_PROBE_H

#include "utils/pipeline/kinds/declared.h"

/*
 * Set the fields "arg1" ... of @event, which takes ownership of @types.
 *
 * @types: a word for each argument: "-4", "8", "8f", ...; "?" is an unknown type
 *
 * Returns 0, -EINVAL if words are invalid or too many, or -ENOMEM.
 */
int declared_probe_set_types(struct declared_event *event, char *types);

/* The functions for event_kind.get and event_kind.put. */
bool declared_probe_get(const struct event_kind *kind, const struct event_context *context,
			size_t index, struct event_value *out);
void declared_probe_put(const struct event_kind *kind, const struct event_context *context,
			struct strbuf *out);

#endif
