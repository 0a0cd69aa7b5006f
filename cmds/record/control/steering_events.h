/*
 * Declared events that are chosen while programs run: `utrail control ... trace-include RE
 * trace-exclude RE`.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_STEERING_EVENTS_H
#define UTRAIL_CMDS_RECORD_CONTROL_STEERING_EVENTS_H

#include "cmds/record/control/steering.h"

/*
 * A change of what is chosen, on its way. Starts as { 0 }; rechoosing_undo() or rechoosing_write()
 * ends it.
 *
 * @before: what was in force
 */
struct rechoosing {
	bool is_wanted;
	uint32_t flags; /* of the change: enum steer_flags */
	struct steering_ids before;
};

/*
 * New choices are in force for what programs declare from now on. 0, or negative with a text, and
 * then nothing has changed.
 */
int rechoosing_choose(struct rechoosing *r, struct steering *steer,
		      const struct steer_change *change, struct uft_err *err);

/* The former choice is in force again. */
void rechoosing_undo(struct rechoosing *r, struct steering *steer);

/*
 * Tell all processes that have declared events. 0, or negative with a text when one cannot be told:
 * then all have what they had before.
 */
int rechoosing_write(struct rechoosing *r, struct steering *steer, struct strbuf *out,
		     struct uft_err *err);

#endif
