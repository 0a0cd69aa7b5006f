/*
 * Makes the whole plan of an image. The first plan is made when the image starts, and later plans
 * when the recording is steered.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_IMAGE_PLAN_H
#define UTRAIL_CMDS_RECORD_PLAN_IMAGE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "cmds/record/plan/plan.h"

/*
 * Set those members of @plan that steering may change. The values come from @settings.
 *
 * @is_on: recording is switched on. While recording is off, the plan opts in no function, but has
 *         all other settings
 */
void image_plan_choose(struct plan *plan, const struct record_settings *settings, bool is_on);

/*
 * Make the plan for the @nr modules of an image. The first module is the program.
 *
 * @plan: the settings of the plan. Flags that depend on the modules are added
 * @is_fresh: the program has just begun. Otherwise the plan only has the parts that may change
 */
void image_plan_make(struct planner *planner, struct plan plan,
		     struct control_module *const *modules, size_t nr, bool is_fresh,
		     struct plan_entries *out);

#endif
