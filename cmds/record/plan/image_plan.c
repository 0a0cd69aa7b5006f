/* Makes the whole plan of an image (see image_plan.h). */
#include "cmds/record/plan/image_plan.h"

#include "cmds/record/plan/counters.h"
#include "cmds/record/plan/watches.h"
#include "utils/base/compiler.h"

#define OPT_IN_ALL ((uint32_t)(PLAN_OPT_IN_FILTER | PLAN_OPT_IN_CALLER | PLAN_OPT_IN_LOCATION))

static uint32_t opt_in_flags(const struct filters *filters)
{
	uint32_t kinds = filters_opt_in(filters);

	return (kinds & TRIGGER_FILTER ? PLAN_OPT_IN_FILTER : 0) |
	       (kinds & TRIGGER_CALLER ? PLAN_OPT_IN_CALLER : 0) |
	       (kinds & TRIGGER_LOCATION ? PLAN_OPT_IN_LOCATION : 0);
}

void image_plan_choose(struct plan *plan, const struct record_settings *settings, bool is_on)
{
	plan->threshold_ns = settings->threshold_ns;
	plan->size_filter = MIN(settings->size_filter, (uint64_t)UINT32_MAX);
	/* If plan->depth is UINT16_MAX, only --max-stack limits the depth of calls. */
	plan->depth = settings->tells_depth && settings->depth >= settings->max_stack
			      ? UINT16_MAX
			      : settings->depth;
	/*
	 * With PLAN_OPT_IN_FILTER, the probe records a call only if a rule of the plan permits the
	 * call. When recording is off, the plan has no such rule, so no new call is recorded. The
	 * ends of open calls are still recorded.
	 */
	plan->flags &= ~(OPT_IN_ALL | PLAN_TRACE_OFF);
	plan->flags |= (is_on ? opt_in_flags(settings->filters) : PLAN_OPT_IN_FILTER) |
		       (settings->trace_on ? 0 : PLAN_TRACE_OFF);
}

/* True when functions of the image may have records: hooks were compiled in, or are patched in. */
static bool has_hooks(struct planner *planner, struct control_module *const *modules, size_t nr,
		      const struct plan_entries *entries)
{
	for (size_t i = 0; i < nr; i++) {
		const struct known_module *known = known_module_get(&planner->modules,
								    modules[i]->path);

		if (!known ? modules[i]->has_text : known->has_functions)
			return true;
	}
	return plan_entries_nr(entries, PLAN_PATCHES) != 0;
}

void image_plan_make(struct planner *planner, struct plan plan,
		     struct control_module *const *modules, size_t nr, bool is_fresh,
		     struct plan_entries *out)
{
	const struct record_settings *settings = planner->settings;

	for (size_t i = 0; i < nr; i++) {
		const struct known_module *known = known_module_get(&planner->modules,
								    modules[i]->path);

		if (known && known->switches_stacks)
			plan.flags |= PLAN_STACKS;
	}
	if (is_fresh) {
		plan_make(planner, modules, nr, true, out);
		if (!has_hooks(planner, modules, nr, out))
			plan.flags |= PLAN_BEGINS_LATE;
	} else
		plan_make_functions(planner, modules, nr, out);
	/*
	 * A spec may clear the filter of an earlier spec. All functions have now been matched with
	 * all specs, so the cleared filters are known. Compute the flags of OPT_IN_ALL again, from
	 * the filters that remain.
	 */
	if (!planner->is_off && settings->filters->clears) {
		plan.flags &= ~OPT_IN_ALL;
		plan.flags |= opt_in_flags(settings->filters);
	}
	strbuf_add(&out->lists[PLAN_SETTINGS], &plan, sizeof(plan));
	if (nr)
		watches_bind(settings, modules[0], out);
	counters_bind(settings, out);
}
