/*
 * Stage: without show_kernel_outside, drops the kernel's calls while no program function is open.
 * With show_kernel_only, drops the program's calls.
 */
#include "utils/pipeline/stages/stage.h"

static bool is_kernel(const struct event *event)
{
	return event->type <= EVENT_EXIT && event->func->is_kernel;
}

/*
 * A call of the kernel is an outside call if it began while no program function was open. True when
 * @event is the ENTRY or EXIT of an outside call, or when @event lies within an outside call.
 * stage->depth is the number of open outside calls.
 */
static bool is_in_outside(struct stg_kernel *stage, const struct event *event)
{
	bool is_in = stage->depth;

	if (!is_kernel(event))
		return is_in;
	if (event->type == EVENT_EXIT) {
		stage->depth -= is_in;
		return is_in;
	}
	stage->depth += is_in || (event->flags & EVENT_OUTSIDE);
	return stage->depth;
}

size_t stg_kernel(struct stg_kernel *stage, struct event *events, size_t nr)
{
	const struct stage_config *config = stage->config;
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		struct event *event = &events[i];
		bool is_outside = is_in_outside(stage, event);

		if (is_outside && !config->show_kernel_outside) {
			if (event->type <= EVENT_EXIT)
				continue;
			/*
			 * The kernel's calls around the event are dropped. So the event is outside
			 * of functions.
			 */
			event->flags |= EVENT_OUTSIDE;
			event->depth = event->indent = 0;
		}
		if (config->show_kernel_only && event->type <= EVENT_EXIT && !is_kernel(event))
			continue;
		if (kept != i)
			events[kept] = *event;
		kept++;
	}
	return kept;
}
