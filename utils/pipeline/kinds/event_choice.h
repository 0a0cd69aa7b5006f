/* The events that --Event shows. */
#ifndef UTRAIL_PIPELINE_EVENT_CHOICE_H
#define UTRAIL_PIPELINE_EVENT_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/spec/events.h"
#include "utils/pipeline/event.h"
#include "utils/pipeline/kinds/event_kinds.h"

/*
 * Starts as { 0 }, ends with event_choice_deinit().
 *
 * @rules: borrowed; NULL: all events are shown
 * @ids: ids of the selected events, ascending
 * @has_sched: SCHED_OUT and SCHED_IN are selected
 * @has_extern: lines of extern.dat are selected
 */
struct event_choice {
	const struct event_rules *rules;
	struct event_kinds kinds;
	uint64_t *ids;
	size_t nr;
	bool has_sched;
	bool has_extern;
};

/*
 * Select the events that @rules allow, or all events if @rules is NULL. Returns 0, or a negative
 * errno with @err.
 */
int event_choice_make(struct event_choice *choice, const struct event_rules *rules,
		      const struct trace_data *data, struct uft_err *err);
void event_choice_deinit(struct event_choice *choice);

/* HOT, any thread. True when @event, which is neither a call nor LOST, is selected. */
bool event_choice_has(struct event_choice *choice, const struct event *event);

#endif
