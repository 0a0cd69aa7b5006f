/*
 * Exporter: writes a line of JSON for each event, for each place where records were lost, and for
 * each call when it ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/export/export.h"
#include "utils/export/payloads.h"
#include "utils/view/values/number.h"
#include "utils/view/texts.h"

#define SHORT_NAME (SINK_ROOM_MAX - 512)

/* @open: the arguments of each task's unfinished calls; task->index is the index */
struct jsonl {
	struct func_texts names;
	struct payloads *open;
	size_t nr_open;
	struct strbuf text;
};

static void configure_jsonl(struct pipeline_config *config)
{
	config->order = PIPELINE_BY_TIME;
	config->stages.wants = STAGE_WANTS_DEPTHS;
	config->stages.closes_open_calls = true;
}

static void make_name(const struct func *func, struct strbuf *out)
{
	escape_add(out, MEDIUM_JSON, func->name, func->name_len);
	strbuf_addstr(out, "\"");
}

static int begin_jsonl(struct export *ex, struct uft_err *err)
{
	struct jsonl *j = ex->state;

	j->names.make = make_name;
	j->nr_open = ex->pipe->data->nr_tasks;
	j->open = calloc(j->nr_open + 1, sizeof(*j->open));
	if (!j->open)
		return err_set_errno(err, -ENOMEM, "cannot export");
	return 0;
}

static char *put_text(char *to, const char *text)
{
	size_t len = strlen(text);

	memcpy(to, text, len);
	return to + len;
}

static char *put_head(char *to, const struct task *task, uint64_t time_ns)
{
	to = put_text(to, "{\"pid\":");
	to = put_dec(to, task->pid, 1);
	to = put_text(to, ",\"tid\":");
	to = put_dec(to, task->tid, 1);
	to = put_text(to, ",\"ts\":");
	return put_dec(to, time_ns, 1);
}

static char *put_signed(char *to, uint64_t v)
{
	if ((int64_t)v < 0)
		*to++ = '-';
	return put_dec(to, time_abs(v), 1);
}

static void put_member(struct export *ex, const char *name, const char *text, size_t len)
{
	sink_lit(ex->sink, ",\"");
	sink_str(ex->sink, name);
	sink_lit(ex->sink, "\":\"");
	sink_text(ex->sink, text, len);
	sink_lit(ex->sink, "\"");
}

/*
 * Keep the arguments of a call that begins. First drop the arguments of older calls that have ended
 * without a record of the end.
 */
static int note_arguments(struct export *ex, const struct task *task, const struct event *event)
{
	struct jsonl *j = ex->state;
	struct payloads *open = &j->open[task->index];

	if (open->nr)
		free(payloads_take(open, event->indent));
	if (likely(!event->data))
		return 0;
	strbuf_reset(&j->text);
	if (!export_put_payload(ex, task, event, &j->text))
		return 0;
	return payloads_put(open, event->indent, &j->text);
}

static void put_payload(struct export *ex, const struct task *task, const struct event *event)
{
	struct jsonl *j = ex->state;
	struct payloads *open = &j->open[task->index];
	char *arguments cleanup_free = open->nr ? payloads_take(open, event->indent) : NULL;

	/*
	 * If the beginning of this call was not recorded, the kept arguments are of another call.
	 */
	if (unlikely(arguments != NULL) && !(event->flags & EVENT_UNPAIRED))
		put_member(ex, "arguments", arguments, strlen(arguments));
	strbuf_reset(&j->text);
	if (unlikely(event->data != NULL) && export_put_payload(ex, task, event, &j->text))
		put_member(ex, "retval", strbuf_str(&j->text), j->text.len);
}

static int put_call(struct export *ex, const struct task *task, const struct event *event)
{
	struct jsonl *j = ex->state;
	const struct func_text *name = func_texts_get(&j->names, event->func);

	if (!name)
		return -ENOMEM;

	char *to = sink_room(ex->sink, SINK_ROOM_MAX);

	to = put_head(to, task, event->time_ns - event->total_ns);
	to = put_text(to, ",\"dur\":");
	to = put_signed(to, event->total_ns);
	to = put_text(to, ",\"self\":");
	to = put_signed(to, event->self_ns);
	to = put_text(to, ",\"depth\":");
	to = put_dec(to, event->indent, 1);
	if (event->flags & EVENT_UNFINISHED)
		to = put_text(to, ",\"unfinished\":true");
	to = put_text(to, ",\"name\":\"");
	if (likely(name->len < SHORT_NAME)) {
		to = copy_over(to, name->text, name->len);
	} else {
		sink_done(ex->sink, to);
		sink_put_raw(ex->sink, name->text, name->len);
		to = sink_room(ex->sink, 16);
	}
	sink_done(ex->sink, to);
	if (event->type == EVENT_EXIT)
		put_payload(ex, task, event);
	sink_lit(ex->sink, "}\n");
	return 0;
}

static int put_jsonl_point(struct export *ex, const struct task *task, const struct event *event)
{
	struct strbuf name cleanup_strbuf = { 0 };
	struct strbuf data cleanup_strbuf = { 0 };

	event_put_name(&ex->texts, event, &name);
	event_put_data(&ex->texts, task, event, &data);
	sink_done(ex->sink, put_head(sink_room(ex->sink, 256), task, event->time_ns));
	put_member(ex, "event", strbuf_str(&name), name.len);
	put_member(ex, "data", strbuf_str(&data), data.len);
	sink_lit(ex->sink, "}\n");
	return strbuf_oom(&name) || strbuf_oom(&data) ? -ENOMEM : 0;
}

static void put_lost(struct export *ex, const struct task *task, const struct event *event)
{
	sink_putf(ex->sink, "{\"pid\":%d,\"tid\":%d,\"lost\":%llu}\n", task->pid, task->tid,
		  (unsigned long long)event->addr);
}

static int put_jsonl_events(struct export *ex, const struct event_span *span, struct uft_err *err)
{
	const struct jsonl *j = ex->state;
	int ret = 0;

	for (size_t i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];
		bool is_outside = (event->flags & EVENT_OUTSIDE) && !ex->config->counts_outside;

		if (event->type == EVENT_ENTRY)
			ret |= note_arguments(ex, span->task, event);
		if (event->type == EVENT_EXIT || (event->type == EVENT_SCHED_IN &&
						  !(event->flags & EVENT_UNPAIRED) && !is_outside))
			ret |= put_call(ex, span->task, event);
		else if (event->type == EVENT_POINT)
			ret |= export_point(ex, span->task, event);
		else if (event->type == EVENT_LOST)
			put_lost(ex, span->task, event);
	}
	if (ret < 0 || strbuf_oom(&j->text))
		return err_set_errno(err, -ENOMEM, "cannot export");
	return 0;
}

static void deinit_jsonl(struct export *ex)
{
	struct jsonl *j = ex->state;

	func_texts_deinit(&j->names);
	for (size_t i = 0; j->open && i < j->nr_open; i++)
		payloads_deinit(&j->open[i]);
	free(j->open);
	strbuf_deinit(&j->text);
}

const struct exporter exp_jsonl = {
	.name = "jsonl",
	.medium = MEDIUM_JSON,
	.state_bytes = sizeof(struct jsonl),
	.configure = configure_jsonl,
	.begin = begin_jsonl,
	.events = put_jsonl_events,
	.deinit = deinit_jsonl,
	.point = put_jsonl_point,
};
