/* The text of an event that is not a call (see eventtext.h). */
#include "utils/view/values/eventtext.h"

#include "utils/view/values/kerneltext.h"

int event_texts_load(struct event_texts *texts, const struct trace_data *data, struct uft_err *err)
{
	*texts = (struct event_texts){ .kernel = kerneltext_create(&data->kernel, data->dir) };

	int ret = event_kinds_load(&texts->kinds, data, err);

	if (ret < 0)
		event_texts_deinit(texts);
	return ret;
}

void event_texts_deinit(struct event_texts *texts)
{
	event_kinds_deinit(&texts->kinds);
	kerneltext_destroy(texts->kernel);
	*texts = (struct event_texts){ 0 };
}

void event_put_name(struct event_texts *texts, const struct event *event, struct strbuf *out)
{
	event_kind_put_name(event_kinds_find(&texts->kinds, event->id), event->id, out);
}

static void put_data(struct event_texts *texts, const struct task *task, const struct event *event,
		     bool is_raw, struct strbuf *out)
{
	const struct event_kind *kind = event_kinds_find(&texts->kinds, event->id);
	const struct event_context context = { texts->kinds.data, task, event, is_raw };

	/* libtraceevent makes the text of the kernel's events (kerneltext.h). */
	if (kind->origin == EVENT_OF_KERNEL && event->data)
		kerneltext_put_fields(texts->kernel, kind->id, event->data, event->data_len, out);
	else
		event_kind_put(kind, &context, out);
}

void event_put_data(struct event_texts *texts, const struct task *task, const struct event *event,
		    struct strbuf *out)
{
	put_data(texts, task, event, false, out);
}

void event_put_raw_data(struct event_texts *texts, const struct task *task,
			const struct event *event, struct strbuf *out)
{
	put_data(texts, task, event, true, out);
}
