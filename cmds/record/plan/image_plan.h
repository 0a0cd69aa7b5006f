/* The whole plan of an image: at its start, and later ones when the recording is steered. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_IMAGE_PLAN_H
#define UTRAIL_CMDS_RECORD_PLAN_IMAGE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "cmds/record/plan/plan.h"

/*
 * Set the members of @plan that steering may change, as @settings have them. @is_on: false: it is
 * switched off, and what would be let in when on is in @settings still.
 */
void image_plan_choose(struct plan *plan, const struct record_settings *settings, bool is_on);

/*
 * Everything that the @nr modules, of which the first is the program, are told, with @plan as a
 * base. @is_fresh: their program has just begun; else it gets what may change.
 */
void image_plan_make(struct planner *planner, struct plan plan,
		     struct control_module *const *modules, size_t nr, bool is_fresh,
		     struct plan_entries *out);

#endif
