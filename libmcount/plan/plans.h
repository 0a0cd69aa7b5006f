/* The plan in force: an image in the form that hooks use, and its replacement while threads run. */
#ifndef UTRAIL_LIBMCOUNT_PLANS_H
#define UTRAIL_LIBMCOUNT_PLANS_H

#include "libmcount/plan/live_plan.h"

/* The number of replaced plans that calls may still need. */
#define PLANS_RETIRED_MAX 256

/*
 * COLD. The image in memfd @fd becomes the plan. 0 or a negative errno: -EINVAL when it is no good
 * image, -ENOMEM.
 *
 *   plans_begin     the first one, which sets the process up: probe.plan and what hangs on it
 *   plans_extend    adds functions with what they need, library calls and points to the plan that
 *                   there is (dlopen)
 *   plans_replace   puts it in the place of the one that there is: functions, rules, captures,
 *                   variables to watch, and the settings that PLANS_FIXED_FLAGS and the function
 *                   leave open. Library calls and points are added, and none is taken out: the
 *                   image lists those that are new. -EBUSY: PLANS_RETIRED_MAX. From then on no
 *                   calls are `plain`. This is what a message of the recorder that brings another
 *                   plan is to call, in a thread of the process that is in no hook
 */
int plans_begin(int fd);
int plans_extend(int fd);
int plans_replace(int fd);

/*
 * COLD, called by a thread that the recorder has stopped (utils/format/probe/attach.h,
 * ATTACH_ADOPT): makes stubs for the patches of an image that has nothing else; the text does not
 * change. -EAGAIN: another thread, or this one, is adding modules.
 */
int plans_add_patches(const void *image, uint64_t bytes);

/*
 * The properties that the process was set up with at its start, which no later plan can change;
 * clock, clock_id and max_stack are fixed, too.
 */
#define PLANS_FIXED_FLAGS                                                                          \
	((uint32_t)(PLAN_DROP | PLAN_FLIGHT | PLAN_CRASH_REPORT | PLAN_ESTIMATE | PLAN_STEERABLE | \
		    PLAN_REPLACE_ANY | PLAN_TELLS_DEPTH | PLAN_PATCHES_PROGRAM |                   \
		    PLAN_PATCHES_LIBPYTHON))

/*
 * COLD. Unmap plans that no thread needs any more. Returns the number of those that are left. Each
 * replacement does so.
 */
unsigned plans_reclaim(void);

/* COLD, in a forked child. */
void plans_after_fork(void);

/* COLD. All plans are unmapped: no thread uses one any more. */
void plans_drop(void);

#endif
