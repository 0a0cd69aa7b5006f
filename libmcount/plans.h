/*
 * The plan in force: what an image says, in the form that hooks look at, and how another one takes
 * its place while threads run.
 */
#ifndef UTRAIL_LIBMCOUNT_PLANS_H
#define UTRAIL_LIBMCOUNT_PLANS_H

#include "libmcount/probe.h"

/*
 * One function of a plan.
 *
 * @rule: NULL when it has none
 * @args, @result: the CAPTURE_HEAD of its program, where that takes arguments, or the return value;
 * else NULL
 */
struct live_func {
	uint64_t start;
	uint64_t end;
	const struct plan_rule *rule;
	const struct capture_step *args;
	const struct capture_step *result;
};

/*
 * A generation of the plan, in memory of its own. Nothing in it changes once it is published by
 * probe.live; doc/internals/plans.md says who may look at it, and when it is unmapped.
 *
 * @bytes: of all
 * @serial: no other plan of the process has or had it
 * @era: the serial of the plan that it extends, or its own: within an era what is said of a
 * function does not change
 * @older: of those that were replaced and may still be in use
 * @funcs: sorted by start
 */
struct live_plan {
	uint64_t bytes;
	uint64_t serial;
	uint64_t era;
	struct live_plan *older;
	struct plan settings;
	struct live_func *funcs;
	struct plan_rule *rules;
	struct plan_cond *conds;
	struct capture_step *steps;
	uint32_t nr_funcs;
	uint32_t nr_rules;
	uint32_t nr_conds;
	uint32_t nr_steps;
	uint32_t nr_watches;
	struct plan_watch watches[PLAN_WATCHES_MAX];
};

/* Replacements may leave this many plans that calls still need. */
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
 * COLD, called by a thread that the recorder has stopped (utils/format/attach.h, ATTACH_ADOPT):
 * stubs for the patches of an image that has nothing else; nothing of the text changes. -EAGAIN:
 * another thread, or this one, is adding modules.
 */
int plans_add_patches(const void *image, uint64_t bytes);

/*
 * The properties that the process was set up for at its start, which no later plan can change; nor
 * can it clock, clock_id and max_stack.
 */
#define PLANS_FIXED_FLAGS                                                                          \
	((uint32_t)(PLAN_DROP | PLAN_FLIGHT | PLAN_CRASH_REPORT | PLAN_ESTIMATE | PLAN_STEERABLE | \
		    PLAN_REPLACE_ANY | PLAN_TELLS_DEPTH))

/*
 * COLD. Unmap plans that nobody needs any more. Returns the number that are left. Each replacement
 * does it.
 */
unsigned plans_reclaim(void);

/* COLD, in a forked child. */
void plans_after_fork(void);

/* HOT, when the address was not seen lately. NULL: it is not listed. */
static inline const struct live_func *plans_find(const struct live_plan *plan, uint64_t addr)
{
	uint32_t low = 0;
	uint32_t high = plan->nr_funcs;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (plan->funcs[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < plan->nr_funcs && plan->funcs[low].start <= addr)
		return &plan->funcs[low];
	return NULL;
}

/* COLD. All plans are given back: nobody goes by one any more. */
void plans_drop(void);

#endif
