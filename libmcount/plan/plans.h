/*
 * The plan in force. The recorder sends a plan as an image in a memfd (utils/format/probe/plan.h).
 * The probe converts the image to a struct live_plan, which the hooks read. Another plan can
 * replace the plan in force while threads run.
 */
#ifndef UTRAIL_LIBMCOUNT_PLANS_H
#define UTRAIL_LIBMCOUNT_PLANS_H

#include "libmcount/plan/live_plan.h"

/* plans_replace() fails when at least this many replaced plans are still in use. */
#define PLANS_RETIRED_MAX 256

/*
 * These functions are COLD (libmcount/hot/probe.h explains COLD and SLOW). plans_replace() is SLOW
 * as well, because hooks call it (plan_update.c). The caller of plans_replace() holds the module
 * lock. Each function installs a plan, or a part of a plan, from the image in memfd @fd. Each
 * returns 0, -EINVAL for a bad image, -ENOMEM, or the error of mmap(2).
 *
 *   plans_begin     installs the first plan. Sets probe.plan, and the members of `probe` that
 *                   depend on probe.plan
 *   plans_extend    adds functions (with their rules and captures), library calls, and patches, for
 *                   example after dlopen(3)
 *   plans_replace   replaces functions, rules, captures, watches, and settings that are not fixed.
 *                   Adds library calls and patches, and removes none. On success, probe.plain
 *                   becomes false. Returns -EINVAL when a fixed setting differs, and -EBUSY when
 *                   PLANS_RETIRED_MAX replaced plans are still in use
 */
int plans_begin(int fd);
int plans_extend(int fd);
int plans_replace(int fd);

/*
 * COLD, in a thread that the recorder has stopped (utils/format/probe/attach.h, ATTACH_ADOPT).
 * Makes stubs for the patches in @image, a plan image with patches only. Does not change the
 * program's code. Returns -EAGAIN when a thread holds the module lock or the lock of the plans.
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
 * plans that threads still need. plans_replace() also unmaps unneeded plans. plans_extend() does
 * so only if its image contains functions.
 */
unsigned plans_reclaim(void);

/* COLD, in a forked child. Initializes the lock of the plans again. */
void plans_after_fork(void);

/* COLD. Unmaps all plans. Call this function when no thread uses a plan any more. */
void plans_drop(void);

#endif
