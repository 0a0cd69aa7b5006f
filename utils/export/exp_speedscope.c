/* Exporter: speedscope (JSON), a profile with exact times for each task. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/export/export.h"
#include "utils/export/nest.h"
#include "utils/view/number.h"
#include "utils/view/texts.h"
#include "utils/view/titles.h"

/*
 * @task: whose profile is being written
 * @frames: of the file, in the order in which they were first seen; by function id in @numbers,
 *          plus one
 * @last_ns: of the task, since the start of the recording
 */
struct speedscope {
	struct nest nest;
	const struct task *task;
	const struct func **frames;
	size_t nr_frames;
	uint32_t *numbers;
	size_t nr_numbers;
	uint64_t first_ns;
	uint64_t last_ns;
	bool has_event;
};

static void configure(struct pipeline_config *config)
{
	config->order = PIPELINE_BY_TASK;
	nest_configure(config);
}

static void put_text(struct export *ex, const char *text)
{
	struct strbuf json cleanup_strbuf = { 0 };

	text_put_json(&json, text, strlen(text));
	sink_put(ex->sink, strbuf_str(&json), json.len);
}

static int begin(struct export *ex, struct uft_err *err)
{
	struct speedscope *s = ex->state;

	sink_puts(ex->sink, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			    "\"exporter\":\"");
	put_text(ex, ex->config->tool);
	sink_puts(ex->sink, "\",\n\"name\":\"");
	put_text(ex, title_recording(ex->pipe->data));
	sink_puts(ex->sink, "\",\n\"profiles\":[");
	return nest_init(&s->nest, ex->pipe->data, err);
}

static int grow_numbers(struct speedscope *s, size_t id)
{
	size_t nr = MAX(id + 1, s->nr_numbers * 2);
	uint32_t *numbers = reallocarray(s->numbers, nr, sizeof(*numbers));

	if (!numbers)
		return -ENOMEM;
	memset(numbers + s->nr_numbers, 0, (nr - s->nr_numbers) * sizeof(*numbers));
	s->numbers = numbers;
	s->nr_numbers = nr;
	return 0;
}

/* The number of a frame plus one; 0 when memory is short. */
static uint32_t number_of(struct speedscope *s, const struct func *func)
{
	if (unlikely(func->id >= s->nr_numbers) && grow_numbers(s, func->id) < 0)
		return 0;
	if (unlikely(!s->numbers[func->id])) {
		const struct func **frames = reallocarray(s->frames, s->nr_frames + 1,
							  sizeof(struct func *));

		if (!frames)
			return 0;
		s->frames = frames;
		frames[s->nr_frames++] = func;
		s->numbers[func->id] = s->nr_frames;
	}
	return s->numbers[func->id];
}

static int put_edge(struct export *ex, const struct nest_edge *edge)
{
	static const char begin_text[] = ",\n{\"type\":\"O\",\"frame\":";
	static const char end_text[] = ",\n{\"type\":\"C\",\"frame\":";
	struct speedscope *s = ex->state;
	uint32_t number = number_of(s, edge->func);

	if (!number)
		return -ENOMEM;

	char *to = sink_room(ex->sink, 128);
	size_t skip = !s->has_event; /* the comma */

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

	s->task = task;
	s->first_ns = MIN(ex->pipe->first_ns, time_ns);
	s->last_ns = time_ns - s->first_ns;
	s->has_event = false;
	sink_puts(ex->sink, "\n{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":\"");
	put_text(ex, task_name_at(task, UINT64_MAX));
	sink_putf(ex->sink, " (%d)", task->pid);
	if (task->tid != task->pid)
		sink_putf(ex->sink, " / %d", task->tid);
	sink_putf(ex->sink, "\",\"startValue\":%llu,\"events\":[", (unsigned long long)s->last_ns);
}

/* Calls that never returned end where the records end: the format wants it so. */
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

static int events(struct export *ex, const struct event_span *span, struct uft_err *err)
{
	struct speedscope *s = ex->state;
	struct nest_task *open = &s->nest.tasks[span->task->index];
	struct nest_edge edge;
	int ret = 0;

	if (span->task != s->task) {
		if (s->task) {
			ret = end_task(ex);
			sink_puts(ex->sink, ",");
		}
		begin_task(ex, span->task, span->events[0].time_ns);
	}
	for (size_t i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];

		if (event->time_ns > s->first_ns)
			s->last_ns = MAX(s->last_ns, event->time_ns - s->first_ns);
		while (nest_next(&s->nest, open, event, &edge))
			ret |= put_edge(ex, &edge);
	}
	if (ret < 0 || s->nest.is_oom)
		return err_set_errno(err, -ENOMEM, "cannot export");
	return 0;
}

static int end(struct export *ex, struct uft_err *err)
{
	struct speedscope *s = ex->state;

	if (s->task && end_task(ex) < 0)
		return err_set_errno(err, -ENOMEM, "cannot export");
	sink_puts(ex->sink, "\n],\n\"shared\":{\"frames\":[");
	for (size_t i = 0; i < s->nr_frames; i++) {
		sink_puts(ex->sink, i ? ",\n{\"name\":\"" : "\n{\"name\":\"");
		put_text(ex, s->frames[i]->name);
		sink_puts(ex->sink, "\"}");
	}
	sink_puts(ex->sink, "\n]}}\n");
	return 0;
}

static void deinit(struct export *ex)
{
	struct speedscope *s = ex->state;

	nest_deinit(&s->nest);
	free(s->frames);
	free(s->numbers);
}

const struct exporter exp_speedscope = {
	.name = "speedscope",
	.state_bytes = sizeof(struct speedscope),
	.configure = configure,
	.begin = begin,
	.events = events,
	.end = end,
	.deinit = deinit,
};
