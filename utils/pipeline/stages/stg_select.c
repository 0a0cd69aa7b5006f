/*
 * Stage: drops calls that are too deep, calls of functions with too little code (--size-filter),
 * library calls, and unwanted events. In some views, the stage also drops calls that are too short.
 */
#include "utils/pipeline/kinds/event_kind.h"
#include "utils/pipeline/stages/stage.h"

bool stg_select_is_needed(const struct stage_config *config)
{
	return config->is_off || config->depth <= UINT16_MAX || config->size_filter ||
	       !config->show_libcalls ||
	       (config->wants == STAGE_WANTS_ENDS && config->time_filter_ns);
}

/*
 * For views that get no ENTRY events: true when an EXIT or SCHED_IN is dropped because its duration
 * is too short. Such views do not need stg_time.
 */
static bool is_too_short(const struct stage_config *config, const struct event *event)
{
	return config->wants == STAGE_WANTS_ENDS && event->type != EVENT_ENTRY &&
	       time_abs(event->total_ns) < config->time_filter_ns &&
	       !(event->flags & (EVENT_UNFINISHED | EVENT_UNPAIRED));
}

static bool keeps_func(const struct stage_config *config, const struct func *func)
{
	if (!config->show_libcalls && func->is_libcall)
		return false;
	return !config->size_filter || !func->sym || func->sym->size >= config->size_filter;
}

static bool keeps_call(const struct stage_config *config, const struct event *event)
{
	/* If the ENTRY was not recorded, the depth is in the record of the EXIT (@indent). */
	if ((event->flags & EVENT_UNPAIRED) && event->indent >= config->depth)
		return false;
	if (event->depth >= config->depth || is_too_short(config, event))
		return false;
	return keeps_func(config, event->func);
}

bool stg_select_keeps_open(const struct stage_config *config, const struct func *func, size_t depth)
{
	return !config->is_off && depth < config->depth && keeps_func(config, func);
}

static bool is_of_trigger(const struct event *event)
{
	return event->type == EVENT_POINT &&
	       (event_kind_fixed(event->id)->flags & EVENT_KIND_OF_TRIGGER);
}

/* True for events that the user does not want to see. */
static bool is_hidden(const struct stage_config *config, const struct event *event)
{
	if ((!config->show_events && !is_of_trigger(event)) ||
	    (config->choice && !event_choice_has(config->choice, event)))
		return true;
	if (event->type == EVENT_POINT)
		return false;
	return config->sched == STAGE_SCHED_NONE ||
	       (config->sched == STAGE_SCHED_WILLING && (event->flags & EVENT_PREEMPTED));
}

static bool keeps_event(const struct stage_config *config, struct event *event)
{
	if (event->type == EVENT_LOST || event->type == EVENT_ON_CPU)
		return true;
	if (event->depth > config->depth - 1)
		return false;
	if ((event->flags & EVENT_OUTSIDE) && !config->show_outside)
		return false;
	if (is_hidden(config, event)) {
		event->type = EVENT_HIDDEN;
		return config->wants == STAGE_WANTS_DEPTHS;
	}
	return event->type != EVENT_SCHED_IN || !is_too_short(config, event);
}

size_t stg_select(const struct stage_config *config, struct event *events, size_t nr)
{
	size_t kept = 0;

	if (config->is_off)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		struct event *event = &events[i];
		bool keeps = event->type <= EVENT_EXIT ? keeps_call(config, event)
						       : keeps_event(config, event);

		if (!keeps && !stage_keeps_cpu(config->wants_cpus, event))
			continue;
		if (kept != i)
			events[kept] = *event;
		kept++;
	}
	return kept;
}
