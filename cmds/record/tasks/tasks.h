/*
 * Writes task.txt, which lists the sessions, processes and threads of a recording. Gives each ring
 * the id under which its records are stored.
 */
#ifndef UTRAIL_CMDS_RECORD_TASKS_TASKS_H
#define UTRAIL_CMDS_RECORD_TASKS_TASKS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "cmds/record/store/store.h"
#include "cmds/record/tasks/process.h"
#include "cmds/record/tasks/session.h"
#include "utils/base/err.h"
#include "utils/base/containers/intmap.h"
#include "utils/format/probe/control.h"

struct too_deep {
	int32_t tid;
	uint64_t nr;
};

/*
 * All tasks. Any thread may call the functions below. @lock protects the members after it, and the
 * @announced flags of sessions and processes.
 *
 * @stream: task.txt
 * @tids: ids of all tasks with records, some more than once
 * @owners: the process of each task
 * @nr_stack_tids: number of ids given to stacks
 * @map_error: the first error of writing a session's map
 * @too_deep: for each task that had calls without a frame, their number
 * @nr_too_deep: the sum of these numbers
 */
struct tasks {
	struct store *store;
	pthread_mutex_t lock;
	int stream;
	int32_t *tids;
	size_t nr_tids;
	size_t cap_tids;
	struct intmap owners;
	int32_t nr_stack_tids;
	struct uft_err map_error;
	struct too_deep *too_deep;
	size_t nr_deep_tasks;
	size_t cap_deep_tasks;
	uint64_t nr_too_deep;
};

/* Begin task.txt. Ends with tasks_close(), also after a failure, or when @tasks is { 0 }. */
int tasks_open(struct tasks *tasks, struct store *store, struct uft_err *err);
void tasks_close(struct tasks *tasks);

/*
 * Returns the id, in the recorder's namespace, for the records of a ring that claims to be task
 * @tid of @proc; 0: impossible. If the task is no thread of @proc, as far as known, it gets a new
 * id: no process can add to the records of another.
 */
int32_t tasks_claim(struct tasks *tasks, struct process *proc, int32_t tid);

/*
 * Like tasks_claim(), for a vfork(2) child of @proc, which runs in the memory of @proc. The child
 * is a task of its own.
 */
int32_t tasks_claim_child(struct tasks *tasks, struct process *proc, int32_t tid);

/* Before a task's first records: put the task, its process and its session into task.txt. */
void tasks_announce(struct tasks *tasks, struct process *proc, int32_t tid, uint64_t time_ns);
void tasks_announce_child(struct tasks *tasks, struct process *proc, int32_t tid, uint64_t time_ns);

/* Note that @nr calls of task @tid were too deep to record. Without memory only in the sum. */
void tasks_note_too_deep(struct tasks *tasks, int32_t tid, uint64_t nr);

/* Write a line about a library that @proc has loaded late. */
void tasks_dlopen(struct tasks *tasks, const struct process *proc, const struct control_module *m);

/*
 * For long flight recordings: forget ended threads and forked processes. The tasks in @kept, which
 * have a file, and their parents stay. @kept is sorted here. A failed write is the store's error.
 */
void tasks_clear(struct tasks *tasks, int32_t *kept, size_t nr_kept);

#endif
