/* Stage: counts the depth to show, over the calls that the other stages have left. */
#include "utils/trace/stage.h"

/*
 * A forked child goes on where its parent was; after LOST nobody knows but the record. In all
 * other cases what was entered unseen is not shown, and its EXITs stand at the margin.
 */
static void resync(struct stg_indent *stage, const struct event *event)
{
	size_t depth = event->depth + (event->type == EVENT_EXIT);

	if (event->type > EVENT_EXIT)
		return;
	if (stage->wants_depth || (!stage->has_first && stage->task->is_fork))
		stage->depth = depth;
	stage->wants_depth = false;
	stage->has_first = true;
}

void stg_indent(struct stg_indent *stage, struct event *events, size_t nr)
{
	uint32_t depth = stage->depth;

	for (size_t i = 0; i < nr; i++) {
		struct event *event = &events[i];

		if (unlikely(!stage->has_first || stage->wants_depth)) {
			stage->depth = depth;
			resync(stage, event);
			depth = stage->depth;
		}
		if (unlikely(event->flags & EVENT_RESTART))
			depth = 0;
		if (event->type == EVENT_ENTRY) {
			event->indent = MIN(depth, (uint32_t)UINT16_MAX);
			depth++;
		} else if (event->type == EVENT_EXIT) {
			depth -= depth > 0;
			event->indent = MIN(depth, (uint32_t)UINT16_MAX);
		} else {
			event->indent = MIN(depth, (uint32_t)UINT16_MAX);
			if (event->type == EVENT_LOST)
				stage->wants_depth = true;
		}
	}
	stage->depth = depth;
}
