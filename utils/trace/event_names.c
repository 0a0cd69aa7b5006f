/* What events are called (see event_names.h). */
#include "utils/trace/event_names.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "utils/base/fd.h"
#include "utils/base/strbuf.h"
#include "utils/base/vec.h"
#include "utils/format/text.h"
#include "utils/trace/event.h"

#define EVENTS_FILE_MAX_BYTES (16UL << 20)

static int add_name(struct event_names *names, struct text line)
{
	uint64_t id;

	if (!text_word(&line, "EVENT: ") || !text_dec(&line, &id) || !text_word(&line, " ") ||
	    !text_left(&line))
		return -EINVAL;

	struct event_name *grown = vec_grow(names->names, names->nr, sizeof(*grown));
	char *name = text_dup(&line);

	if (grown)
		names->names = grown;
	if (!grown || !name) {
		free(name);
		return -ENOMEM;
	}
	grown[names->nr++] = (struct event_name){ id, name };
	return 0;
}

static int read_names(struct event_names *names, const char *path, struct uft_err *err)
{
	struct strbuf content cleanup_strbuf = { 0 };
	int ret = file_read_all(path, EVENTS_FILE_MAX_BYTES, &content, err);
	struct text in = text_of(content.data, content.len);
	struct text line;
	bool whole;

	for (size_t nr = 1; ret == 0 && text_line(&in, &line, &whole); nr++) {
		if (line.at == line.end)
			continue;
		/* Somebody is still writing it. */
		if (!whole && names->data->growth)
			break;
		ret = add_name(names, line);
		if (ret < 0)
			err_set(err, ret,
				"cannot read '%s': line %zu: expected 'EVENT: <id> <name>'", path,
				nr);
	}
	return ret;
}

int event_names_load(struct event_names *names, const struct trace_data *data, struct uft_err *err)
{
	char path[PATH_MAX];

	*names = (struct event_names){ .data = data };
	snprintf(path, sizeof(path), "%s/events.txt", data->dir);
	/* The header of a recording that grows does not know yet. */
	if (data->growth ? access(path, F_OK) < 0 : !(data->header.feat_mask & FEAT_EVENT))
		return 0;

	int ret = read_names(names, path, err);

	if (ret < 0)
		event_names_deinit(names);
	return ret;
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

const char *event_builtin_name(uint64_t id)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++) {
		if (builtins[i].id == id)
			return builtins[i].name;
	}
	return NULL;
}

static const char *find_user(const struct event_names *names, uint64_t id)
{
	for (size_t i = 0; i < names->nr; i++) {
		if (names->names[i].id == id)
			return names->names[i].name;
	}
	return NULL;
}

const char *event_names_find(struct event_names *names, uint64_t id)
{
	const char *name = event_builtin_name(id);
	const struct trace_data *data = names->data;

	if (!name)
		name = find_user(names, id);
	if (name || id < EVENT_ID_USER || !data || !data->growth)
		return name;
	event_names_deinit(names);
	if (event_names_load(names, data, NULL) < 0)
		*names = (struct event_names){ .data = data };
	return find_user(names, id);
}

void event_names_each(const struct event_names *names,
		      void (*fn)(void *self, enum event_origin origin, const char *name),
		      void *self)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++)
		fn(self, EVENT_OF_PROGRAM, builtins[i].name);
	for (size_t i = 0; i < names->nr; i++)
		fn(self, EVENT_OF_PROGRAM, names->names[i].name);
}
