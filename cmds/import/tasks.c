/* Tasks of logs (see tasks.h). */
#include "cmds/import/tasks.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/hash.h"
#include "utils/base/containers/vec.h"
#include "utils/format/datadir.h"
#include "utils/format/event_data.h"
#include "utils/format/record.h"

static void free_task(struct import_task *task)
{
	strbuf_deinit(&task->records);
	strbuf_deinit(&task->payloads);
	free(task);
}

void import_tasks_deinit(struct import_tasks *tasks)
{
	for (size_t i = 0; i < tasks->nr; i++)
		free_task(tasks->all[i]);
	free(tasks->all);
	intmap_deinit(&tasks->by_origin);
	intmap_deinit(&tasks->tids);
	intmap_deinit(&tasks->pids);
}

int import_tasks_know(struct import_tasks *tasks, int32_t pid, int32_t tid)
{
	if (tid >= tasks->next_made && tid < INT32_MAX)
		tasks->next_made = tid + 1;
	/* The maps are used as sets. Their values are never read. */
	if (intmap_put(&tasks->tids, tid, tasks) < 0)
		return -ENOMEM;
	return intmap_put(&tasks->pids, pid, tasks);
}

static bool is_of(const struct import_task *task, const struct fst_origin *origin, size_t log)
{
	return task->origin.pid == origin->pid && task->origin.has_thread == origin->has_thread &&
	       task->origin.thread == origin->thread && (origin->pid || task->log == log);
}

static uint64_t key_of(const struct fst_origin *origin, size_t log)
{
	uint64_t pid = origin->pid ? (uint64_t)origin->pid : (uint64_t)log << 32;

	return ((uint64_t)hash_number(origin->thread + origin->has_thread, hash_seed()) << 32) +
	       pid;
}

/*
 * Chooses the tid of a new task. The first choice is the thread number of @origin if this number is
 * from 1 to FST_PID_LIMIT, and the process number otherwise. If the first choice is 0 or in use,
 * returns a number that no task of Linux has, or 0 when no such number is left.
 */
static int32_t choose_tid(struct import_tasks *tasks, const struct fst_origin *origin)
{
	bool is_own = origin->has_thread && origin->thread && origin->thread <= FST_PID_LIMIT;
	int32_t tid = is_own ? (int32_t)origin->thread : origin->pid;

	if (tid && !intmap_get(&tasks->tids, tid))
		return tid;
	return tasks->next_made < INT32_MAX ? tasks->next_made++ : 0;
}

/*
 * Adds @task to the list and the maps of @tasks. Returns 0 or -ENOMEM. In both cases, @tasks owns
 * @task, and import_tasks_deinit() will free @task.
 */
static int enter_task(struct import_tasks *tasks, struct import_task *task, uint64_t key)
{
	tasks->all[tasks->nr++] = task;
	task->next = intmap_get(&tasks->by_origin, key);
	task->is_new_process = !intmap_get(&tasks->pids, task->pid);
	if (intmap_put(&tasks->tids, task->tid, task) < 0 ||
	    intmap_put(&tasks->pids, task->pid, task) < 0)
		return -ENOMEM;
	return intmap_put(&tasks->by_origin, key, task);
}

static struct import_task *add_log_task(struct import_tasks *tasks, const struct fst_origin *origin,
					size_t log, bool *is_full)
{
	struct import_task **all = vec_grow(tasks->all, tasks->nr, sizeof(struct import_task *));
	int32_t tid = choose_tid(tasks, origin);
	struct import_task *task;

	if (all)
		tasks->all = all;
	*is_full = tasks->nr == IMPORT_TASKS_MAX || !tid;
	if (!all || *is_full)
		return NULL;
	task = calloc(1, sizeof(*task));
	if (!task)
		return NULL;
	task->origin = *origin;
	task->log = log;
	task->tid = tid;
	task->pid = origin->pid ? origin->pid : tid;
	return enter_task(tasks, task, key_of(origin, log)) == 0 ? task : NULL;
}

struct import_task *import_tasks_get(struct import_tasks *tasks, const struct fst_origin *origin,
				     size_t log, bool *is_full)
{
	struct import_task *task = tasks->last;

	*is_full = false;
	if (task && is_of(task, origin, log))
		return task;
	task = intmap_get(&tasks->by_origin, key_of(origin, log));
	while (task && !is_of(task, origin, log))
		task = task->next;
	return tasks->last = task ? task : add_log_task(tasks, origin, log, is_full);
}

int import_tasks_add(struct import_tasks *tasks, struct import_task *task, uint64_t time_ns,
		     uint32_t id, struct text head, struct text body)
{
	static const char zeros[8];
	const struct record record = { time_ns, record_data(RECORD_EVENT, 0, id) };
	const size_t len = text_left(&head) + text_left(&body);
	const struct event_data entry = { time_ns, id, 0, len };
	size_t before = task->records.len + task->payloads.len;

	if (!task->first_ns)
		task->first_ns = time_ns;
	strbuf_add(&task->records, &record, sizeof(record));
	strbuf_add(&task->payloads, &entry, sizeof(entry));
	strbuf_add(&task->payloads, head.at, text_left(&head));
	strbuf_add(&task->payloads, body.at, text_left(&body));
	strbuf_add(&task->payloads, zeros, -len % sizeof(zeros));
	tasks->buffered += task->records.len + task->payloads.len - before;
	return strbuf_oom(&task->records) || strbuf_oom(&task->payloads) ? -ENOMEM : 0;
}

/* @is_hidden: true for a name that readers ignore */
static void put_name(char name[static NAME_MAX], const struct import_task *task, const char *suffix,
		     bool is_hidden)
{
	snprintf(name, NAME_MAX, is_hidden ? DATADIR_TMP("%d%s") : "%d%s", task->tid, suffix);
}

/*
 * The suffixes of a task's files. The payloads come first, because a record's payload must exist
 * before the record.
 */
static const char *const suffixes[] = { DATADIR_EVENT_DATA_SUFFIX, ".dat" };

static int append_task_file(const struct import_tasks *tasks, const struct import_task *task,
			    struct store *store, const char *suffix, const struct strbuf *bytes)
{
	char name[NAME_MAX];

	put_name(name, task, suffix, tasks->hides);
	/* A previous import that was killed may have left a file with the name @name. */
	if (tasks->hides && !task->is_written)
		store_remove(store, name);

	int stream = store_open(store, name);
	int ret = stream < 0 ? stream : store_append(store, stream, bytes->data, bytes->len);

	if (stream >= 0)
		store_close(store, stream);
	return ret;
}

int import_tasks_flush(struct import_tasks *tasks, struct store *store, struct uft_err *err)
{
	for (size_t i = 0; i < tasks->nr; i++) {
		struct import_task *task = tasks->all[i];

		if (!task->records.len)
			continue;

		int ret = append_task_file(tasks, task, store, suffixes[0], &task->payloads);

		if (ret == 0)
			ret = append_task_file(tasks, task, store, suffixes[1], &task->records);
		task->is_written = true;
		if (ret < 0)
			return err_set_errno(err, ret, "cannot write the events of task %d",
					     task->tid);
		strbuf_deinit(&task->records);
		strbuf_deinit(&task->payloads);
	}
	tasks->buffered = 0;
	return 0;
}

int import_tasks_publish(const struct import_tasks *tasks, int dir_fd, struct uft_err *err)
{
	char hidden[NAME_MAX];
	char name[NAME_MAX];

	for (size_t i = 0; tasks->hides && i < tasks->nr * ARRAY_SIZE(suffixes); i++) {
		const struct import_task *task = tasks->all[i / ARRAY_SIZE(suffixes)];
		const char *suffix = suffixes[i % ARRAY_SIZE(suffixes)];

		put_name(hidden, task, suffix, true);
		put_name(name, task, suffix, false);
		if (renameat(dir_fd, hidden, dir_fd, name) < 0)
			return err_set_errno(err, -errno, "cannot write '%s'", name);
	}
	return 0;
}

void import_tasks_remove(struct import_tasks *tasks, struct store *store)
{
	char name[NAME_MAX];

	for (size_t i = 0; i < tasks->nr * ARRAY_SIZE(suffixes); i++) {
		const struct import_task *task = tasks->all[i / ARRAY_SIZE(suffixes)];
		const char *suffix = suffixes[i % ARRAY_SIZE(suffixes)];

		if (!task->is_written)
			continue;
		put_name(name, task, suffix, tasks->hides);
		store_remove(store, name);
		/*
		 * If import_tasks_publish() has renamed the file, remove the file by its final
		 * name. The recording had no file of this name before the import, because @task
		 * has a tid that was free.
		 */
		put_name(name, task, suffix, false);
		store_remove(store, name);
	}
}
