/*
 * Chooses declared events while programs run: `utrail control ... trace-include RE trace-exclude
 * RE`.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_STEERING_EVENTS_H
#define UTRAIL_CMDS_RECORD_CONTROL_STEERING_EVENTS_H

#include "cmds/record/control/steering.h"

/*
 * A change of the choice that is being made. Starts as { 0 }; rechoosing_undo() or
 * rechoosing_write() ends it.
 *
 * @before: the choice that was in force
 */
struct rechoosing {
	bool is_wanted;
	uint32_t flags; /* the change's enum steer_flags */
	struct steering_ids before;
};

/*
 * Put the new choice into force for events that programs declare from now on. Returns 0, or
 * negative with a text; then nothing has changed.
 */
int rechoosing_choose(struct rechoosing *r, struct steering *steer,
		      const struct steer_change *change, struct uft_err *err);

/* Put the former choice into force again. */
void rechoosing_undo(struct rechoosing *r, struct steering *steer);

/*
 * Tell all processes that have declared events. Returns 0, or negative with a text when a process
 * cannot be told: then all processes have their former choice.
 */
int rechoosing_write(struct rechoosing *r, struct steering *steer, struct strbuf *out,
		     struct uft_err *err);

#endif
