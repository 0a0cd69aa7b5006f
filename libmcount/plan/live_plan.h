/* A plan in the form that hooks use. */
#ifndef UTRAIL_LIBMCOUNT_LIVE_PLAN_H
#define UTRAIL_LIBMCOUNT_LIVE_PLAN_H

#include "libmcount/hot/probe.h"

/*
 * One function of a plan.
 *
 * @rule: NULL: the function has none
 * @args: the CAPTURE_HEAD of the capture program for arguments; NULL: none
 * @result: the CAPTURE_HEAD of the capture program for the return value; NULL: none
 */
struct live_func {
	uint64_t start;
	uint64_t end;
	const struct plan_rule *rule;
	const struct capture_step *args;
	const struct capture_step *result;
};

/*
 * One generation of the plan, in memory of its own. This memory does not change after probe.live
 * points to it. doc/internals/plans.md tells which threads may read the memory, and when the memory
 * is freed.
 *
 * @bytes: the size of the whole memory
 * @serial: a number that is unique among the plans of the process
 * @era: the serial of the first plan in a series. Each later plan of the series only adds functions
 * @older: in a replaced plan: the next element of the list of replaced plans
 * @has_depths: there is a rule with PLAN_DEPTH
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
	bool has_depths;
	struct plan_watch watches[PLAN_WATCHES_MAX];
};

/*
 * HOT (libmcount/hot/probe.h). Hooks call this function when @addr is not in their cache (struct
 * planned_known). Returns the plan's function that contains @addr, or NULL when there is none.
 */
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

#endif
