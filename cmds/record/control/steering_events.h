/*
 * Chooses declared events while programs run: `utrail control ... trace-include RE trace-exclude
 * RE`.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_STEERING_EVENTS_H
#define UTRAIL_CMDS_RECORD_CONTROL_STEERING_EVENTS_H

#include "cmds/record/control/steering.h"

/*
 * A change of the chosen events, while it is being made. The struct starts as { 0 } and ends with
 * rechoosing_undo() or rechoosing_write().
 *
 * @before: the choice that was in force before
 */
struct rechoosing {
	bool is_wanted;
	uint32_t flags; /* enum steer_flags of the change */
	struct steering_ids before;
};

/*
 * Put the new choice into force for events that are declared later. Returns 0, or a negative error
 * with a text. After an error nothing has changed.
 */
int rechoosing_choose(struct rechoosing *r, struct steering *steer,
		      const struct steer_change *change, struct uft_err *err);

/* Put the former choice into force again. */
void rechoosing_undo(struct rechoosing *r, struct steering *steer);

/*
 * Inform all processes that have declared events. Returns 0, or a negative error with a text when a
 * process cannot be informed. After an error, the processes get their former choice where possible.
 */
int rechoosing_write(struct rechoosing *r, struct steering *steer, struct strbuf *out,
		     struct uft_err *err);

#endif
