/* What events are called (see event_names.h). */
#include "utils/trace/event_names.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/base/order.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/format/text.h"
#include "utils/trace/event.h"

#define EVENTS_FILE_MAX_BYTES (16UL << 20)

/* @name is of the heap, and taken. */
static int take_name(struct event_names *names, uint64_t id, char *name)
{
	struct event_name *grown = vec_grow(names->names, names->nr, sizeof(*grown));

	if (grown)
		names->names = grown;
	if (!grown || !name) {
		free(name);
		return -ENOMEM;
	}
	grown[names->nr++] = (struct event_name){ id, name };
	return 0;
}

static int add_line(struct event_names *names, struct text line)
{
	uint64_t id;

	if (!text_word(&line, "EVENT: ") || !text_dec(&line, &id) || !text_word(&line, " ") ||
	    !text_left(&line))
		return -EINVAL;
	return take_name(names, id, text_dup(&line));
}

static int read_file(struct event_names *names, struct uft_err *err)
{
	struct strbuf content cleanup_strbuf = { 0 };
	const struct trace_data *data = names->data;
	char path[PATH_MAX];
	struct text line;
	bool whole;

	snprintf(path, sizeof(path), "%s/events.txt", data->dir);
	/* The header of a recording that grows does not know yet. */
	if (data->growth ? access(path, F_OK) < 0 : !(data->header.feat_mask & FEAT_EVENT))
		return 0;

	int ret = file_read_all(path, EVENTS_FILE_MAX_BYTES, &content, err);
	struct text in = text_of(content.data, content.len);

	for (size_t nr = 1; ret == 0 && text_line(&in, &line, &whole); nr++) {
		if (line.at == line.end)
			continue;
		/* Somebody is still writing it. */
		if (!whole && data->growth)
			break;
		ret = add_line(names, line);
		if (ret < 0)
			err_set(err, ret,
				"cannot read '%s': line %zu: expected 'EVENT: <id> <name>'", path,
				nr);
	}
	return ret;
}

/* What was found in kernel_header. */
static int add_kernel_names(struct event_names *names)
{
	const struct kernel_formats *kernel = &names->data->kernel;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < kernel->nr_types; i++) {
		const struct kernel_event_type *type = &kernel->types[i];
		struct strbuf name cleanup_strbuf = { 0 };

		strbuf_add(&name, type->system.at, text_left(&type->system));
		strbuf_addch(&name, ':');
		strbuf_add(&name, type->event.at, text_left(&type->event));
		ret = take_name(names, type->id, strdup(strbuf_str(&name)));
	}
	return ret;
}

static int compare_names(const void *a, const void *b)
{
	const struct event_name *x = a;
	const struct event_name *y = b;

	return order_u64(&x->id, &y->id);
}

int event_names_load(struct event_names *names, const struct trace_data *data, struct uft_err *err)
{
	*names = (struct event_names){ .data = data };

	int ret = add_kernel_names(names);

	if (ret == 0)
		ret = read_file(names, err);
	if (ret < 0) {
		event_names_deinit(names);
		return err_set_errno(err, ret, "cannot read the names of events");
	}
	if (names->nr)
		qsort(names->names, names->nr, sizeof(*names->names), compare_names);
	return 0;
}

void event_names_deinit(struct event_names *names)
{
	for (size_t i = 0; i < names->nr; i++)
		free(names->names[i].name);
	free(names->names);
	*names = (struct event_names){ 0 };
}

static const struct {
	enum event_id id;
	const char *name;
} builtins[] = {
	{ EVENT_ID_READ_STATM, "read:proc/statm" },
	{ EVENT_ID_READ_PAGE_FAULT, "read:page-fault" },
	{ EVENT_ID_DIFF_STATM, "diff:proc/statm" },
	{ EVENT_ID_DIFF_PAGE_FAULT, "diff:page-fault" },
	{ EVENT_ID_READ_PMU_CYCLE, "read:pmu-cycle" },
	{ EVENT_ID_DIFF_PMU_CYCLE, "diff:pmu-cycle" },
	{ EVENT_ID_READ_PMU_CACHE, "read:pmu-cache" },
	{ EVENT_ID_DIFF_PMU_CACHE, "diff:pmu-cache" },
	{ EVENT_ID_READ_PMU_BRANCH, "read:pmu-branch" },
	{ EVENT_ID_DIFF_PMU_BRANCH, "diff:pmu-branch" },
	{ EVENT_ID_WATCH_CPU, "watch:cpu" },
	{ EVENT_ID_WATCH_VAR, "watch:var" },
	{ EVENT_ID_CALLSITE, "callsite" },
	{ EVENT_ID_SCHED_IN, "linux:sched-in" },
	{ EVENT_ID_SCHED_OUT, "linux:sched-out" },
	{ EVENT_ID_SCHED_BOTH, "linux:schedule" },
	{ EVENT_ID_TASK_NEW, "linux:task-new" },
	{ EVENT_ID_TASK_EXIT, "linux:task-exit" },
	{ EVENT_ID_TASK_NAME, "linux:task-name" },
	{ EVENT_ID_SCHED_OUT_PREEMPT, "linux:sched-out (pre-empted)" },
	{ EVENT_ID_SCHED_BOTH_PREEMPT, "linux:schedule (pre-empted)" },
	{ EVENT_ID_EXTERN_DATA, "external-data" },
};

static const char *builtin_name(uint64_t id)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++) {
		if (builtins[i].id == id)
			return builtins[i].name;
	}
	return NULL;
}

static const char *find(const struct event_names *names, uint64_t id)
{
	const struct event_name key = { .id = id };
	const struct event_name *found = NULL;

	if (names->nr)
		found = bsearch(&key, names->names, names->nr, sizeof(key), compare_names);
	return found ? found->name : NULL;
}

const char *event_names_find(struct event_names *names, uint64_t id)
{
	const char *name = builtin_name(id);
	const struct trace_data *data = names->data;

	if (!name)
		name = find(names, id);
	if (name || id < EVENT_ID_USER || !data || !data->growth)
		return name;
	event_names_deinit(names);
	if (event_names_load(names, data, NULL) < 0)
		*names = (struct event_names){ .data = data };
	return find(names, id);
}

int event_names_each(const struct event_names *names,
		     int (*fn)(void *self, uint64_t id, const char *name), void *self)
{
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < ARRAY_SIZE(builtins); i++)
		ret = fn(self, builtins[i].id, builtins[i].name);
	for (size_t i = 0; ret >= 0 && i < names->nr; i++)
		ret = fn(self, names->names[i].id, names->names[i].name);
	return MIN(ret, 0);
}
