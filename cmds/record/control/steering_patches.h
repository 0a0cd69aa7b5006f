/*
 * Hooks that a user puts into processes that are recorded, and takes out: the part of a change
 * (steering.h) that is about these.
 */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_STEERING_PATCHES_H
#define UTRAIL_CMDS_RECORD_CONTROL_STEERING_PATCHES_H

#include "cmds/record/control/steering.h"

/*
 * Starts as { 0 }: no change is about hooks. After repatching_choose() it ends with
 * repatching_undo() or repatching_write().
 *
 * @rules: to take them back
 */
struct repatching {
	bool is_wanted;
	struct patch_rules_change rules;
	struct patches_turned turned;
};

/* Offer the names of the functions of @proc, each with its NUL. */
void steering_offer_names(const struct steering *steer, const struct process *proc,
			  struct strbuf *names);

/*
 * The rules of @change are added to those that there are, and what they choose is found out; no
 * process changes yet. -ERR_USAGE, -ENOENT.
 */
int repatching_choose(struct repatching *r, struct steering *steer,
		      const struct steer_change *change, struct uft_err *err);

void repatching_undo(struct repatching *r, struct steering *steer);

/*
 * Have all processes changed; what came of it goes to @out. When one of them cannot be, all are as
 * they were before, as far as they let themselves be changed, and so are the rules.
 */
int repatching_write(struct repatching *r, struct steering *steer, struct strbuf *out,
		     struct uft_err *err);

#endif
