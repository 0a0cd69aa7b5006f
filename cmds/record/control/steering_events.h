/*
 * Chooses the declared events that processes record. Users change the choice during a recording:
 * `utrail control ... trace-include RE trace-exclude RE`.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_STEERING_EVENTS_H
#define UTRAIL_CMDS_RECORD_CONTROL_STEERING_EVENTS_H

#include "cmds/record/control/steering.h"

/*
 * An unfinished change of the chosen events. The caller sets the struct to { 0 } first, and
 * calls rechoosing_undo() or rechoosing_write() last.
 *
 * @before: the choice that was in force before the change
 */
struct rechoosing {
	bool is_wanted;
	uint32_t flags; /* enum steer_flags of the change */
	struct steering_ids before;
};

/*
 * Put the new choice into force for events that are declared later. Returns 0, or a negative error
 * with its text in @err. After an error nothing has changed.
 */
int rechoosing_choose(struct rechoosing *r, struct steering *steer,
		      const struct steer_change *change, struct uft_err *err);

/* Put the former choice of events into force again. */
void rechoosing_undo(struct rechoosing *r, struct steering *steer);

/*
 * Tell the new choice to all processes that have declared events. If telling one process fails, put
 * the former choice into force again, and begin a second round, which tells the former choice to
 * the processes in the same order. A failure ends the second round, and is not reported. Returns 0,
 * or the negative error of the first round, with the text of this error in @err.
 */
int rechoosing_write(struct rechoosing *r, struct steering *steer, struct strbuf *out,
		     struct uft_err *err);

#endif
