/*
 * Removes lines from task.txt of a flight recording. A server may start millions of threads during
 * the recording, and most of them leave nothing but a line.
 */
#include "cmds/record/tasks/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"
#include "utils/format/probe/ring.h"
#include "utils/format/task_txt.h"

/* A line of task.txt. @stays: the line is not removed */
struct entry {
	struct task_line line;
	struct text text;
	bool stays;
};

struct log {
	struct strbuf text;
	struct entry *entries;
	size_t nr;
};

static int read_log(struct tasks *tasks, struct log *log)
{
	int ret = store_read(tasks->store, "task.txt", SIZE_MAX, &log->text);

	if (ret < 0)
		return ret;

	struct text rest = text_of(strbuf_str(&log->text), log->text.len);
	size_t cap = 0;

	for (;;) {
		struct entry *entries = vec_room(log->entries, log->nr, &cap, sizeof(*entries));

		if (!entries)
			return -ENOMEM;
		log->entries = entries;

		struct entry *e = &log->entries[log->nr];

		e->text.at = rest.at;
		ret = task_txt_next(&rest, &e->line, NULL);
		if (ret <= 0)
			return ret;
		e->text.end = rest.at;
		log->nr++;
	}
}

static bool is_in(const int32_t *tids, size_t nr, int32_t tid)
{
	return nr && bsearch(&tid, tids, nr, sizeof(*tids), order_i32);
}

/*
 * True when the task may make more records. Each thread has a directory /proc/TID, which a listing
 * of /proc does not show. A stack that the program has made (for example for a coroutine) also has
 * an id, but /proc has no directory for this id. Such a stack may make more records as long as its
 * ring is in use, because any thread may switch to the stack.
 */
static bool is_alive(const struct tasks *tasks, int32_t tid)
{
	char path[32];

	if (tid >= RING_FIRST_STACK_TID)
		return is_in(tasks->stacks, tasks->nr_stacks, tid);
	snprintf(path, sizeof(path), "/proc/%d", tid);
	return access(path, F_OK) == 0;
}

/* Marks the lines that stay. If the line of a child stays, the line of its parent stays, too. */
static int choose_lines(const struct tasks *tasks, struct log *log, const int32_t *kept,
			size_t nr_kept)
{
	int32_t *parents cleanup_free = malloc((log->nr + 1) * sizeof(*parents));
	size_t nr_marked = 0;
	size_t nr_before;

	if (!parents)
		return -ENOMEM;
	for (size_t i = 0; i < log->nr; i++) {
		struct entry *e = &log->entries[i];
		bool is_thread = e->line.type == TASK_LINE_TASK && e->line.tid != e->line.pid;
		int32_t tid = is_thread ? e->line.tid : e->line.pid;

		e->stays = (!is_thread && e->line.type != TASK_LINE_FORK) ||
			   is_in(kept, nr_kept, tid) || is_alive(tasks, tid);
		nr_marked += e->stays;
	}
	do {
		size_t nr = 0;

		nr_before = nr_marked;
		for (size_t i = 0; i < log->nr; i++) {
			const struct task_line *line = &log->entries[i].line;

			if (log->entries[i].stays && line->type == TASK_LINE_FORK)
				parents[nr++] = line->ppid;
			else if (log->entries[i].stays && line->type == TASK_LINE_TASK)
				parents[nr++] = line->pid;
		}
		qsort(parents, nr, sizeof(*parents), order_i32);
		for (size_t i = 0; i < log->nr; i++) {
			struct entry *e = &log->entries[i];

			if (!e->stays && e->line.type == TASK_LINE_FORK &&
			    is_in(parents, nr, e->line.pid)) {
				e->stays = true;
				nr_marked++;
			}
		}
	} while (nr_marked > nr_before);
	return 0;
}

/* Writes a new task.txt with the lines that stay. Later lines are appended to the new file. */
static int replace_log(struct tasks *tasks, const struct log *log)
{
	struct strbuf text cleanup_strbuf = { 0 };

	for (size_t i = 0; i < log->nr; i++) {
		const struct text *line = &log->entries[i].text;

		if (log->entries[i].stays)
			strbuf_add(&text, line->at, line->end - line->at);
	}

	const struct iovec part = { text.data, text.len };

	return strbuf_oom(&text)
		       ? -ENOMEM
		       : store_publish_parts(tasks->store, "task.txt", &part, 1, &tasks->stream);
}

/*
 * For each ended task that is not in @kept: forgets the process that owns the task. When memory is
 * short, nothing is forgotten.
 */
static void forget_owners(struct tasks *tasks, const int32_t *kept, size_t nr_kept)
{
	struct intmap owners = { 0 };

	for (size_t i = 0; i < tasks->owners.nr_slots; i++) {
		const struct intmap_slot *slot = &tasks->owners.slots[i];
		bool stays = slot->value &&
			     (is_in(kept, nr_kept, slot->key) || is_alive(tasks, slot->key));

		if (stays && intmap_put(&owners, slot->key, slot->value) < 0) {
			intmap_deinit(&owners);
			return;
		}
	}
	intmap_deinit(&tasks->owners);
	tasks->owners = owners;
}

/*
 * Notes which processes have no FORK line any more. When such a process is announced again, its
 * FORK line is written again. When memory is short, no process is noted.
 */
static void forget_forks(struct tasks *tasks, const struct log *log)
{
	int32_t *gone cleanup_free = malloc((log->nr + 1) * sizeof(*gone));
	size_t nr = 0;

	if (!gone)
		return;
	for (size_t i = 0; i < log->nr; i++) {
		const struct entry *e = &log->entries[i];

		if (!e->stays && e->line.type == TASK_LINE_FORK)
			gone[nr++] = e->line.pid;
	}
	qsort(gone, nr, sizeof(*gone), order_i32);
	for (struct process **p = &tasks->forks; *p;) {
		struct process *proc = *p;

		if (!is_in(gone, nr, proc->os_pid)) {
			p = &proc->next_fork;
			continue;
		}
		proc->announced = false;
		*p = proc->next_fork;
	}
}

static void forget_tids(struct tasks *tasks, const int32_t *kept, size_t nr_kept)
{
	size_t nr = 0;

	for (size_t i = 0; i < tasks->nr_tids; i++) {
		int32_t tid = tasks->tids[i];

		if (is_in(kept, nr_kept, tid) || is_alive(tasks, tid))
			tasks->tids[nr++] = tid;
	}
	tasks->nr_tids = nr;
	forget_owners(tasks, kept, nr_kept);
}

void tasks_clear(struct tasks *tasks, int32_t *kept, size_t nr_kept)
{
	struct log log = { 0 };

	qsort(kept, nr_kept, sizeof(*kept), order_i32);
	pthread_mutex_lock(&tasks->lock);

	int ret = read_log(tasks, &log);

	if (ret == 0)
		ret = choose_lines(tasks, &log, kept, nr_kept);
	if (ret == 0)
		ret = replace_log(tasks, &log);
	if (ret == 0) {
		forget_forks(tasks, &log);
		forget_tids(tasks, kept, nr_kept);
	}
	pthread_mutex_unlock(&tasks->lock);
	strbuf_deinit(&log.text);
	free(log.entries);
	store_note_error(tasks->store, ret);
}
