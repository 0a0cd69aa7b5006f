/* Exporters: selection and execution (see export.h). */
#include "utils/export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/fd.h"
#include "utils/view/values/argtext.h"

#define COPY_BYTES (64 << 10)

#define EXPORTER_DECLARE(name, word) extern const struct exporter exp_##name;
EXPORTERS(EXPORTER_DECLARE)
PAGE_EXPORTER(EXPORTER_DECLARE)
#undef EXPORTER_DECLARE

const struct exporter *exporter_by_number(enum export_number number)
{
#define EXPORTER_ROW(name, word) [EXPORT_##name] = &exp_##name,
	static const struct exporter *const exporters[] = { EXPORTERS(EXPORTER_ROW)
								    PAGE_EXPORTER(EXPORTER_ROW) };
#undef EXPORTER_ROW

	return exporters[number];
}

bool export_put_payload(const struct export *ex, const struct task *task, const struct event *event,
			struct strbuf *out)
{
	const struct argtext text = { .data = ex->pipe->data };

	if (!event->data || !ex->config->shows_args)
		return false;
	if (event->type == EVENT_ENTRY)
		return argtext_put_args(&text, task, event, out);
	return event->type == EVENT_EXIT && argtext_put_retval(&text, task, event, out);
}

int export_nest_init(const struct export *ex, struct nest *nest, struct uft_err *err)
{
	int ret = nest_init(nest, ex->pipe->data, err);

	nest->counts_outside = ex->config->counts_outside;
	return ret;
}

bool export_begins_process(const struct pipeline *pipe, size_t lane)
{
	for (size_t i = 0; i < lane; i++) {
		if (pipe->lanes[i].task->pid == pipe->lanes[lane].task->pid)
			return false;
	}
	return true;
}

int export_copy_file(const struct export *ex, int fd)
{
	char *bytes cleanup_free = malloc(COPY_BYTES);
	uint64_t at = 0;
	ssize_t len = bytes ? 1 : -ENOMEM;

	for (; len > 0 && !ex->sink->failed; at += len > 0 ? len : 0) {
		len = fd_pread_full(fd, bytes, COPY_BYTES, at);
		if (len > 0)
			sink_put_raw(ex->sink, bytes, len);
	}
	return MIN(len, 0);
}

static int pass_events(void *self, const struct event_span *span, struct uft_err *err)
{
	struct export *ex = self;
	int ret = ex->exporter->events(ex, span, err);

	return ret < 0 ? ret : ex->sink->failed;
}

int export_point(struct export *ex, const struct task *task, const struct event *event)
{
	if (ex->exporter->point)
		return ex->exporter->point(ex, task, event);
	ex->nr_dropped++;
	return 0;
}

size_t export_point_json(struct export *ex, const struct task *task, const struct event *event,
			 struct strbuf *out)
{
	const struct event_kind *kind = event_kinds_find(&ex->texts.kinds, event->id);
	const struct event_context context = { ex->pipe->data, task, event, false };
	struct strbuf text cleanup_strbuf = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < kind->nr_fields; i++) {
		struct event_value value;

		if (!event_kind_get(kind, &context, i, &value))
			continue;
		strbuf_addf(out, "%s\"%s\":", nr ? "," : "", kind->fields[i].name);
		event_value_put(&value, VALUE_JSON, out);
		nr++;
	}
	if (kind->nr_fields)
		return nr;
	event_put_data(&ex->texts, task, event, &text);
	out->oom |= strbuf_oom(&text);
	if (!text.len)
		return 0;
	strbuf_addstr(out, "\"data\":\"");
	escape_add(out, MEDIUM_JSON, strbuf_str(&text), text.len);
	strbuf_addch(out, '"');
	return 1;
}

static int run_stream(struct export *ex, struct uft_err *err)
{
	const struct exporter *exporter = ex->exporter;
	const struct view view = { pass_events, ex };
	int ret = exporter->begin ? exporter->begin(ex, err) : 0;

	if (ret == 0)
		ret = pipeline_run(ex->pipe, &view, err);
	if (ret == 0 && exporter->end)
		ret = exporter->end(ex, err);
	return ret;
}

static int run_tree(struct export *ex, struct uft_err *err)
{
	struct tree tree cleanup_tree = { 0 };
	int ret = tree_init(&tree, ex->pipe, err);

	if (ret < 0)
		return ret;
	tree.counts_outside = ex->config->counts_outside;
	tree.counts_inherited = true;
	tree.kinds = ex->exporter->points_as_calls ? &ex->texts.kinds : NULL;
	tree.wants_counters = true;

	ret = tree_run(&tree, ex->pipe, ex->config->threads, err);
	ex->nr_dropped = tree.nr_dropped;
	return ret < 0 ? ret : ex->exporter->show(ex, &tree, err);
}

void export_configure(const struct exporter *exporter, struct pipeline_config *stages)
{
	if (exporter->configure)
		exporter->configure(stages);
	else
		tree_configure(stages);
	/*
	 * Exporters of call trees do not need the unfinished calls that a forked child inherits:
	 * the tree itself places the child's calls below the fork in the parent.
	 */
	stages->stages.opens_inherited = exporter->events;
	if (time_range_is_set(&stages->range)) {
		stages->stages.opens_at_start = true;
		stages->stages.closes_open_calls = true;
	}
}

int export_run(const struct exporter *exporter, const struct export_config *config,
	       struct pipeline *pipe, struct sink *sink, uint64_t *nr_dropped, struct uft_err *err)
{
	struct export ex = {
		.exporter = exporter,
		.config = config,
		.pipe = pipe,
		.sink = sink,
		.state = calloc(1, exporter->state_bytes + 1),
	};

	if (!ex.state)
		return err_set_errno(err, -ENOMEM, "cannot export");
	sink->medium = exporter->medium;

	int ret = event_texts_load(&ex.texts, pipe->data, err);

	if (ret == 0)
		ret = exporter->show ? run_tree(&ex, err) : run_stream(&ex, err);
	if (exporter->deinit)
		exporter->deinit(&ex);
	event_texts_deinit(&ex.texts);
	*nr_dropped = ex.nr_dropped;
	free(ex.state);
	return ret;
}
