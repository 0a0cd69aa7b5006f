/* The plan in force: an image in the form that hooks use, and its replacement while threads run. */
#ifndef UTRAIL_LIBMCOUNT_PLANS_H
#define UTRAIL_LIBMCOUNT_PLANS_H

#include "libmcount/plan/live_plan.h"

/* The largest number of replaced plans that calls may still need. */
#define PLANS_RETIRED_MAX 256

/*
 * COLD. The image in memfd @fd becomes the plan. 0 or a negative errno: -EINVAL when it is no good
 * image, -ENOMEM.
 *
 *   plans_begin     the first plan, which sets the process up: probe.plan and what depends on it
 *   plans_extend    adds functions with their rules and captures, library calls and points to the
 *                   plan in force (dlopen)
 *   plans_replace   replaces functions, rules, captures, variables to watch, and the settings that
 *                   are not fixed (PLANS_FIXED_FLAGS and below). Library calls and points are only
 *                   added: the image lists the new ones. From then on no calls are `plain`. -EBUSY:
 *                   PLANS_RETIRED_MAX. The caller is in no hook: a message of the recorder has
 *                   brought the plan
 */
int plans_begin(int fd);
int plans_extend(int fd);
int plans_replace(int fd);

/*
 * COLD, called by a thread that the recorder has stopped (utils/format/probe/attach.h,
 * ATTACH_ADOPT). Makes stubs for the patches of an image that has nothing else; the text does not
 * change. -EAGAIN: another thread, or this one, is adding modules.
 */
int plans_add_patches(const void *image, uint64_t bytes);

/*
 * Properties of the process from its first plan, which no later plan can change. Clock, clock_id
 * and max_stack are fixed, too.
 */
#define PLANS_FIXED_FLAGS                                                                          \
	((uint32_t)(PLAN_DROP | PLAN_FLIGHT | PLAN_CRASH_REPORT | PLAN_ESTIMATE | PLAN_STEERABLE | \
		    PLAN_REPLACE_ANY | PLAN_TELLS_DEPTH | PLAN_PATCHES_PROGRAM |                   \
		    PLAN_PATCHES_LIBPYTHON))

/*
 * COLD. Unmaps replaced plans that no thread needs any more. Returns the number of plans that are
 * left. Each replacement does this, too.
 */
unsigned plans_reclaim(void);

/* COLD, in a forked child. */
void plans_after_fork(void);

/* COLD. All plans are unmapped: no thread uses one any more. */
void plans_drop(void);

#endif
