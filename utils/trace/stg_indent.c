/* Stage: counts the depth to show, over the calls that the other stages have left. */
#include "utils/trace/stage.h"

/*
 * A forked child leaves fork(2) where its parent entered it; after LOST nobody knows but the
 * record. In all other cases what was entered unseen is not shown, and its EXITs stand at the
 * margin.
 */
static void resync(struct stg_indent *stage, const struct event *event)
{
	bool is_fork_exit = !stage->has_first && stage->task->is_fork && event->type == EVENT_EXIT;

	if (event->type > EVENT_EXIT)
		return;
	if (stage->wants_depth || is_fork_exit)
		stage->depth = event->indent + (event->type == EVENT_EXIT);
	stage->wants_depth = false;
	stage->has_first = true;
}

/* The first session that is not there from the start begins with an exec; then the next one. */
static uint64_t next_exec_ns(const struct task *task, uint64_t now_ns)
{
	for (size_t i = 1; i < task->nr_refs; i++) {
		if (task->refs[i].start_ns > now_ns)
			return task->refs[i].start_ns;
	}
	return UINT64_MAX;
}

void stg_indent_init(struct stg_indent *stage, const struct task *task)
{
	*stage = (struct stg_indent){ .task = task, .exec_ns = next_exec_ns(task, 0) };
}

void stg_indent(struct stg_indent *stage, struct event *events, size_t nr)
{
	uint32_t depth = stage->depth;

	for (size_t i = 0; i < nr; i++) {
		struct event *event = &events[i];

		if (unlikely(event->time_ns >= stage->exec_ns)) {
			stage->exec_ns = next_exec_ns(stage->task, event->time_ns);
			depth = 0;
		}
		if (unlikely(!stage->has_first || stage->wants_depth)) {
			stage->depth = depth;
			resync(stage, event);
			depth = stage->depth;
		}
		/* No branches: whether a call comes or goes is what a CPU guesses worst. */
		depth -= (event->type == EVENT_EXIT) & (depth > 0);
		event->indent = depth < UINT16_MAX ? depth : UINT16_MAX;
		depth += event->type == EVENT_ENTRY;
		if (unlikely(event->type == EVENT_LOST))
			stage->wants_depth = true;
	}
	stage->depth = depth;
}
