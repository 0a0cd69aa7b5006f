/*
 * Exporter: speedscope (JSON), with a profile for each task. The profile has the times at which
 * calls begin and end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/export/export.h"
#include "utils/export/nest.h"
#include "utils/export/numbers.h"
#include "utils/view/values/number.h"
#include "utils/view/texts.h"
#include "utils/view/values/titles.h"

/*
 * @task: the task whose profile is being written
 * @numbers: the functions, which the file calls frames
 * @first_ns: the origin of the profile's times: the first time in the recording, or the time of the
 *         task's first event if this event is earlier. An event with the time 0 does not count
 * @last_ns: the time of the task's last event, relative to @first_ns
 */
struct speedscope {
	struct nest nest;
	const struct task *task;
	struct func_numbers numbers;
	uint64_t first_ns;
	uint64_t last_ns;
	bool has_event;
};

static int begin_speedscope(struct export *ex, struct uft_err *err)
{
	struct speedscope *s = ex->state;

	sink_lit(ex->sink, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			   "\"exporter\":");
	sink_quoted(ex->sink, ex->config->tool);
	sink_lit(ex->sink, ",\n\"name\":");
	sink_quoted(ex->sink, title_recording(ex->pipe->data));
	sink_lit(ex->sink, ",\n\"profiles\":[");
	return export_nest_init(ex, &s->nest, err);
}

static int put_edge(struct export *ex, const struct nest_edge *edge)
{
	static const char begin_text[] = ",\n{\"type\":\"O\",\"frame\":";
	static const char end_text[] = ",\n{\"type\":\"C\",\"frame\":";
	struct speedscope *s = ex->state;
	uint32_t number = func_number(&s->numbers, edge->func);

	if (!number)
		return -ENOMEM;

	char *to = sink_room(ex->sink, 128);
	size_t skip = !s->has_event; /* 1 leaves out the comma */

	memcpy(to, (edge->is_begin ? begin_text : end_text) + skip, sizeof(begin_text) - 1 - skip);
	to = put_dec(to + sizeof(begin_text) - 1 - skip, number - 1, 1);
	memcpy(to, ",\"at\":", 6);
	to = put_dec(to + 6, s->last_ns, 1);
	*to++ = '}';
	sink_done(ex->sink, to);
	s->has_event = true;
	return 0;
}

static void begin_task(struct export *ex, const struct task *task, uint64_t time_ns)
{
	struct speedscope *s = ex->state;
	struct strbuf name cleanup_strbuf = { 0 };

	s->task = task;
	s->first_ns = time_ns ? MIN(ex->pipe->first_ns, time_ns) : ex->pipe->first_ns;
	s->last_ns = time_ns > s->first_ns ? time_ns - s->first_ns : 0;
	s->has_event = false;
	sink_lit(ex->sink, "\n{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":");
	strbuf_addf(&name, "%s (%d)", task_name_at(task, UINT64_MAX), task->pid);
	if (task->tid != task->pid)
		strbuf_addf(&name, " / %d", task->tid);
	s->nest.is_oom |= strbuf_oom(&name);
	sink_quoted(ex->sink, strbuf_str(&name));
	sink_putf(ex->sink, ",\"startValue\":%llu,\"events\":[", (unsigned long long)s->last_ns);
}

/*
 * The format requires an end for each call. So calls that never returned end at the time of the
 * task's last event.
 */
static int end_task(struct export *ex)
{
	struct speedscope *s = ex->state;
	struct nest_edge edge;
	int ret = 0;

	while (nest_end(&s->nest.tasks[s->task->index], &edge))
		ret |= put_edge(ex, &edge);
	sink_putf(ex->sink, "],\"endValue\":%llu}", (unsigned long long)s->last_ns);
	return ret;
}

static int put_speedscope_events(struct export *ex, const struct event_span *span,
				 struct uft_err *err)
{
	struct speedscope *s = ex->state;
	struct nest_task *open = &s->nest.tasks[span->task->index];
	struct nest_edge edge;
	int ret = 0;

	if (span->task != s->task) {
		if (s->task) {
			ret = end_task(ex);
			sink_lit(ex->sink, ",");
		}
		begin_task(ex, span->task, span->events[0].time_ns);
	}
	for (size_t i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];

		if (event->time_ns > s->first_ns)
			s->last_ns = MAX(s->last_ns, event->time_ns - s->first_ns);
		while (nest_next(&s->nest, open, event, &edge))
			ret |= put_edge(ex, &edge);
		if (unlikely(event->type == EVENT_POINT))
			ret |= export_point(ex, span->task, event);
	}
	if (ret < 0 || s->nest.is_oom)
		return err_set_errno(err, -ENOMEM, "cannot export");
	return 0;
}

static int end_speedscope(struct export *ex, struct uft_err *err)
{
	struct speedscope *s = ex->state;

	if (s->task && end_task(ex) < 0)
		return err_set_errno(err, -ENOMEM, "cannot export");
	sink_lit(ex->sink, "\n],\n\"shared\":{\"frames\":[");
	for (size_t i = 0; i < s->numbers.nr; i++) {
		sink_either(ex->sink, i, ",\n{\"name\":", "\n{\"name\":");
		sink_quoted(ex->sink, s->numbers.funcs[i]->name);
		sink_lit(ex->sink, "}");
	}
	sink_lit(ex->sink, "\n]}}\n");
	return 0;
}

static void deinit_speedscope(struct export *ex)
{
	struct speedscope *s = ex->state;

	nest_deinit(&s->nest);
	func_numbers_deinit(&s->numbers);
}

const struct exporter exp_speedscope = {
	.name = "speedscope",
	.medium = MEDIUM_JSON,
	.state_bytes = sizeof(struct speedscope),
	.configure = nest_configure_by_task,
	.begin = begin_speedscope,
	.events = put_speedscope_events,
	.end = end_speedscope,
	.deinit = deinit_speedscope,
	.drops_points = "its profiles have calls only, which take time",
};
