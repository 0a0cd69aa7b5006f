/* The tasks of a trace of the kernel (see kernel_tasks.h). */
#include "cmds/import/kernel_tasks.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/import/tasks.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/strmap.h"
#include "utils/base/containers/vec.h"
#include "utils/format/task_txt.h"

/* The name that trace-cmd writes for a task whose name is unknown. */
#define UNKNOWN_NAME "<...>"

void kernel_trace_tasks_deinit(struct kernel_trace_tasks *tasks)
{
	for (size_t i = 0; i < tasks->nr; i++)
		free(tasks->all[i]);
	free(tasks->all);
	free(tasks->text);
	intmap_deinit(&tasks->by_tid);
	intmap_deinit(&tasks->names);
}

int kernel_trace_tasks_name(struct kernel_trace_tasks *tasks, struct text cmdlines)
{
	char *at = text_dup(&cmdlines);
	char *end = at ? at + strlen(at) : NULL;

	tasks->text = at;
	if (!at)
		return -ENOMEM;
	while (at < end) {
		size_t len = strcspn(at, "\n");
		struct text line = text_of(at, len);
		int32_t tid;

		at[len] = '\0';
		/*
		 * '/' becomes '-', as in "kworker-1:2", because readers show only the part of a
		 * path after its last '/'.
		 */
		for (char *slash = at; (slash = strchr(slash, '/'));)
			*slash = '-';
		if (text_i32(&line, &tid) && tid > 0 && text_word(&line, " ") && text_left(&line) &&
		    intmap_put(&tasks->names, tid, (char *)line.at) < 0)
			return -ENOMEM;
		at += len + 1;
	}
	return 0;
}

static int add_kernel_task(struct kernel_trace_tasks *tasks, int32_t number, int32_t tid,
			   uint32_t cpu, uint64_t time_ns)
{
	struct kernel_trace_task **all = vec_grow(tasks->all, tasks->nr, sizeof(*all));
	struct kernel_trace_task *task = calloc(1, sizeof(*task));

	if (all)
		tasks->all = all;
	bool is_full = tasks->nr >= MIN(tasks->max, (size_t)IMPORT_TASKS_MAX);

	if (!all || !task || is_full) {
		free(task);
		return all && is_full ? -E2BIG : -ENOMEM;
	}
	*task = (struct kernel_trace_task){
		.tid = number,
		.cpu = tid ? -1 : (int32_t)cpu,
		.first_ns = time_ns,
		.name = tid ? intmap_get(&tasks->names, tid) : NULL,
	};
	all[tasks->nr++] = tasks->last = task;
	return intmap_put(&tasks->by_tid, number, task);
}

int kernel_trace_tasks_see(struct kernel_trace_tasks *tasks, int32_t tid, uint32_t cpu,
			   uint64_t time_ns, int32_t *number)
{
	struct kernel_trace_task *task = tasks->last;
	int32_t wanted = tid ? tid : IMPORT_TID_MADE + (int32_t)cpu;

	*number = wanted;
	if (!task || task->tid != wanted)
		task = intmap_get(&tasks->by_tid, wanted);
	if (!task)
		return add_kernel_task(tasks, wanted, tid, cpu, time_ns);
	/*
	 * The records of one CPU are read after those of another CPU, so a record that is read
	 * later may have an earlier time.
	 */
	task->first_ns = MIN(task->first_ns, time_ns);
	tasks->last = task;
	return 0;
}

/*
 * Writes the session of a task. Tasks with the same name share a session. The session's id contains
 * kernel_trace_task.tid of the first task with this name.
 */
static int put_session(const struct kernel_trace_task *task, const char *name,
		       struct strmap *sessions, struct store *store, struct strbuf *text,
		       struct uft_err *err)
{
	struct kernel_trace_task *first = strmap_get(sessions, name);
	struct task_line line = {
		.type = TASK_LINE_SESSION,
		.time_ns = task->first_ns,
		.pid = task->tid,
		.tid = task->tid,
		.path = name,
		.path_len = strlen(name),
	};
	char map[NAME_MAX];

	snprintf(line.sid, sizeof(line.sid), "1%015x", (unsigned)(first ? first : task)->tid);
	task_line_encode(&line, text);
	if (first)
		return 0;
	if (strmap_put(sessions, name, (void *)task) < 0)
		return err_set_errno(err, -ENOMEM, "cannot write 'task.txt'");
	snprintf(map, sizeof(map), "sid-%s.map", line.sid);
	/* uftrace needs a map file, but the file may be empty. */
	return store_publish(store, map, "", 0, err);
}

/* Writes the task's file of records, which is empty. uftrace expects such a file for each task. */
static int put_records(const struct kernel_trace_task *task, struct store *store,
		       struct uft_err *err)
{
	char name[NAME_MAX];

	snprintf(name, sizeof(name), "%d.dat", task->tid);
	return store_publish(store, name, "", 0, err);
}

static int compare_tasks(const void *a, const void *b)
{
	const struct kernel_trace_task *x = *(struct kernel_trace_task *const *)a;
	const struct kernel_trace_task *y = *(struct kernel_trace_task *const *)b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

int kernel_trace_tasks_write(const struct kernel_trace_tasks *tasks, struct store *store,
			     struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct strmap sessions cleanup(strmap_deinit) = { 0 };
	int ret = 0;

	qsort(tasks->all, tasks->nr, sizeof(*tasks->all), compare_tasks);
	for (size_t i = 0; ret == 0 && i < tasks->nr; i++) {
		const struct kernel_trace_task *task = tasks->all[i];
		const struct task_line line = { .type = TASK_LINE_TASK,
						.time_ns = task->first_ns,
						.pid = task->tid,
						.tid = task->tid };
		const char *name = task->cpu >= 0 ? "<idle>"
				   : task->name	  ? task->name
						  : UNKNOWN_NAME;

		ret = put_session(task, name, &sessions, store, &text, err);
		task_line_encode(&line, &text);
		if (ret == 0)
			ret = put_records(task, store, err);
	}
	if (ret == 0 && strbuf_oom(&text))
		ret = err_set_errno(err, -ENOMEM, "cannot write 'task.txt'");
	return ret < 0 ? ret : store_publish(store, "task.txt", strbuf_str(&text), text.len, err);
}
