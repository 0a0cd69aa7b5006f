/*
 * The plan in force, in the form that hooks use. The recorder sends a plan as a memfd
 * (utils/format/probe/plan.h), and the probe makes the form for hooks from this memfd. Another plan
 * can replace the plan in force while threads run.
 */
#ifndef UTRAIL_LIBMCOUNT_PLANS_H
#define UTRAIL_LIBMCOUNT_PLANS_H

#include "libmcount/plan/live_plan.h"

/* plans_replace() fails while calls may still need this many replaced plans, or more. */
#define PLANS_RETIRED_MAX 256

/*
 * These functions are COLD. plans_replace() is also SLOW: a hook calls it with the module lock
 * (plan_update.c). They take a plan, or a part of it, from the image in memfd @fd. They return 0,
 * -EINVAL for a bad image, -ENOMEM, or the error of mmap(2).
 *
 *   plans_begin     takes the first plan: sets probe.plan and all that depends on it
 *   plans_extend    adds functions with their rules and captures, library calls, and patches, for
 *                   example after dlopen(3)
 *   plans_replace   replaces functions, rules, captures, watches, and settings that are not fixed.
 *                   Adds library calls and patches, and removes none. After the call probe.plain
 *                   is false. Returns -EINVAL when a fixed setting differs, and -EBUSY when
 *                   PLANS_RETIRED_MAX replaced plans are still in use
 */
int plans_begin(int fd);
int plans_extend(int fd);
int plans_replace(int fd);

/*
 * COLD, in a thread that the recorder has stopped (utils/format/probe/attach.h, ATTACH_ADOPT).
 * Makes stubs for an image of a plan that contains only patches. Does not change the program's
 * code. Returns -EAGAIN while a thread is adding modules.
 */
int plans_add_patches(const void *image, uint64_t bytes);

/*
 * The first plan of a process fixes some settings, which no later plan can change. The fixed
 * settings are the flags below, and the members clock, clock_id and max_stack of struct plan.
 */
#define PLANS_FIXED_FLAGS                                                                          \
	((uint32_t)(PLAN_DROP | PLAN_FLIGHT | PLAN_CRASH_REPORT | PLAN_ESTIMATE | PLAN_STEERABLE | \
		    PLAN_REPLACE_ANY | PLAN_TELLS_DEPTH | PLAN_PATCHES_PROGRAM |                   \
		    PLAN_PATCHES_LIBPYTHON))

/*
 * COLD. Unmaps the replaced plans that no thread needs any more. Returns the number of replaced
 * plans that are left. Each replacement of a plan also unmaps plans that no thread needs.
 */
unsigned plans_reclaim(void);

/* COLD, in a forked child. Initializes the lock of the plans again. */
void plans_after_fork(void);

/* COLD. Unmaps all plans. Call this function when no thread uses a plan any more. */
void plans_drop(void);

#endif
