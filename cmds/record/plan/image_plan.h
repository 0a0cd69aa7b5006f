/*
 * Makes the whole plan of a process image (struct image). The first plan is made when the image
 * starts. Later plans are made after changes by `utrail control`.
 */
#ifndef UTRAIL_CMDS_RECORD_PLAN_IMAGE_PLAN_H
#define UTRAIL_CMDS_RECORD_PLAN_IMAGE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "cmds/record/plan/plan.h"

/*
 * Set those members of @plan that `utrail control` may change. The values come from @settings.
 *
 * @is_on: recording is switched on. If false, the plan forbids the recording of new calls, but has
 *         all other settings
 */
void image_plan_choose(struct plan *plan, const struct record_settings *settings, bool is_on);

/*
 * Make the plan for the @nr modules of a process image. The first module is the program.
 *
 * @plan: the settings of the plan. Flags that depend on the modules are added
 * @is_fresh: the image has just started, and gets its first plan. If false, the image has already
 *            had a full plan. The new plan then lacks the parts that `utrail control` cannot change
 */
void image_plan_make(struct planner *planner, struct plan plan,
		     struct control_module *const *modules, size_t nr, bool is_fresh,
		     struct plan_entries *out);

#endif
