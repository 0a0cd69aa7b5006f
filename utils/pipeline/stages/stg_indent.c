/* Stage: counts the depth that is shown. A call that another stage has dropped does not count. */
#include "utils/pipeline/stages/stage.h"
#include "utils/pipeline/stages/stg_filter.h"

/*
 * Returns the number of calls around @event that have no recorded entry. @event is the task's first
 * event that is shown.
 */
static size_t nr_unseen(const struct stg_calls *calls, const struct event *event)
{
	size_t nr = event->indent > event->depth ? event->indent - event->depth : 0;

	return MIN(nr, (size_t)calls->inherited_depth);
}

/*
 * Set the depth of a task. At the task's first call, the depth is the number of shown calls that
 * are already open. After LOST, the next record tells the depth.
 */
static void resync_depth(struct stg_indent *stage, const struct event *event)
{
	const struct stg_filter *filter = stage->filter;
	bool is_exit = event->type == EVENT_EXIT;
	size_t unseen = nr_unseen(stage->calls, event);

	/* The depth in the record of a kernel call does not count the calls of the program. */
	if (event->type > EVENT_EXIT || event_is_kernel_call(event))
		return;
	if (stage->wants_depth)
		stage->depth = event->indent + is_exit;
	else if (unseen < filter->nr_levels)
		stage->depth = filter->levels[unseen] + is_exit;
	else if (stage->starts_at_margin)
		stage->depth = 0;
	else
		stage->depth = unseen + is_exit;
	stage->depth = MIN(stage->depth, stage->calls->config->depth);
	stage->wants_depth = false;
	stage->has_first = true;
}

void stg_indent_init(struct stg_indent *stage, const struct stg_calls *calls,
		     const struct stg_filter *filter)
{
	*stage = (struct stg_indent){
		.calls = calls,
		.filter = filter,
		.exec_ns = task_next_exec_ns(calls->task, 0),
	};
}

void stg_indent_more(struct stg_indent *stage, uint64_t last_ns)
{
	stage->exec_ns = task_next_exec_ns(stage->calls->task, last_ns);
}

/*
 * Drop ENTRY and EXIT events with EVENT_OFF. The depths of the kept events already count the
 * dropped calls. Returns the number of kept events.
 */
static size_t drop_off(struct event *events, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (events[i].type <= EVENT_EXIT && (events[i].flags & EVENT_OFF))
			continue;
		if (kept != i)
			events[kept] = events[i];
		kept++;
	}
	return kept;
}

size_t stg_indent(struct stg_indent *stage, struct event *events, size_t nr)
{
	bool drops_margin = stage->drops_margin;
	bool drops_off = stage->drops_off;
	uint32_t depth = stage->depth;
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		struct event *event = &events[i];

		if (unlikely(event->time_ns >= stage->exec_ns)) {
			stage->exec_ns = task_next_exec_ns(stage->calls->task, event->time_ns);
			depth = 0;
		}
		if (unlikely(!stage->has_first || stage->wants_depth)) {
			stage->depth = depth;
			resync_depth(stage, event);
			depth = stage->depth;
		}
		/*
		 * There is no branch here, since a CPU cannot predict the order of ENTRYs and
		 * EXITs.
		 */
		depth -= (event->type == EVENT_EXIT) & (depth > 0);
		event->indent = depth < UINT16_MAX ? depth : UINT16_MAX;
		depth += event->type == EVENT_ENTRY;
		if (unlikely(event->type > EVENT_EXIT)) {
			stage->wants_depth |= event->type == EVENT_LOST &&
					      !(event->flags & EVENT_KERNEL_LOST);
			if (depth == 0 && drops_margin && event->type != EVENT_LOST)
				continue;
		}
		if (unlikely(kept != i))
			events[kept] = *event;
		kept++;
	}
	stage->depth = depth;
	return drops_off ? drop_off(events, kept) : kept;
}
