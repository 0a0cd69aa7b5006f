/* The types of the kernel's events about tasks and the scheduler (see src_perf.h). */
#include <string.h>

#include "utils/format/event_ids.h"
#include "utils/pipeline/kinds/event_kind.h"

static const struct event_field comm[] = {
	{ "comm", FIELD_TEXT },
};

enum event_id event_id_of_perf(enum perf_record_type type)
{
	static const enum event_id ids[] = {
		[PERF_REC_OTHER] = 0,
		[PERF_REC_SCHED_IN] = EVENT_ID_SCHED_IN,
		[PERF_REC_SCHED_OUT] = EVENT_ID_SCHED_OUT,
		[PERF_REC_SCHED_OUT_PREEMPT] = EVENT_ID_SCHED_OUT_PREEMPT,
		[PERF_REC_TASK_NEW] = EVENT_ID_TASK_NEW,
		[PERF_REC_TASK_EXIT] = EVENT_ID_TASK_EXIT,
		[PERF_REC_TASK_NAME] = EVENT_ID_TASK_NAME,
	};

	return ids[type];
}

/* Get the name of the event's task. The event's payload does not contain this name. */
static bool get_comm(const struct event_kind *kind, const struct event_context *context,
		     size_t index, struct event_value *out)
{
	const char *name = context->task ? task_name_at(context->task, context->event->time_ns)
					 : NULL;

	if (!name)
		return false;
	*out = (struct event_value){ .type = FIELD_TEXT, .text = text_of(name, strlen(name)) };
	return true;
}

static const struct event_kind rows[] = {
	{ EVENT_ID_SCHED_IN, "linux:sched-in" },
	{ EVENT_ID_SCHED_OUT, "linux:sched-out" },
	{ EVENT_ID_SCHED_BOTH, "linux:schedule" },
	{ EVENT_ID_TASK_NEW, "linux:task-new" },
	{ EVENT_ID_TASK_EXIT, "linux:task-exit" },
	{ EVENT_ID_TASK_NAME, "linux:task-name", EVENT_FIELDS(comm), .get = get_comm },
	{ EVENT_ID_SCHED_OUT_PREEMPT, "linux:sched-out (pre-empted)" },
	{ EVENT_ID_SCHED_BOTH_PREEMPT, "linux:schedule (pre-empted)" },
};

const struct event_rows event_rows_linux = { rows, ARRAY_SIZE(rows) };
