/*
 * Puts hooks into recorded processes, and takes hooks out. This is one part of a change of settings
 * (steering.h).
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_STEERING_PATCHES_H
#define UTRAIL_CMDS_RECORD_CONTROL_STEERING_PATCHES_H

#include "cmds/record/control/steering.h"

/*
 * A change of hooks. The struct starts as { 0 }. repatching_choose() begins the change.
 * repatching_write() completes the change, and repatching_undo() cancels it.
 *
 * @is_wanted: the change has begun, and is neither complete nor cancelled
 * @rules: the added rules, for repatching_undo()
 */
struct repatching {
	bool is_wanted;
	struct patch_rules_change rules;
	struct patches_turned turned;
};

/*
 * Append the names of the functions in @proc to @names, each with its NUL. The names come from the
 * files of the modules of @proc. These files are read with the rights of @proc.
 */
void steering_offer_names(const struct steering *steer, const struct process *proc,
			  struct strbuf *names);

/*
 * Add the rules of @change to the current rules, and find the functions that all rules together
 * choose. No process is changed yet. Returns 0, or a negative error: -ERR_USAGE for a wrong rule,
 * -ENOENT when a rule matches no function. After an error the caller must call repatching_undo().
 */
int repatching_choose(struct repatching *r, struct steering *steer,
		      const struct steer_change *change, struct uft_err *err);

void repatching_undo(struct repatching *r, struct steering *steer);

/*
 * Change the hooks of all processes. If a process cannot be changed, the rules that
 * repatching_choose() has added are removed, and the other processes get their former hooks where
 * possible.
 *
 * @out: gets messages for the user
 */
int repatching_write(struct repatching *r, struct steering *steer, struct strbuf *out,
		     struct uft_err *err);

#endif
