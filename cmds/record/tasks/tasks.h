/*
 * Writes task.txt, which lists the sessions, processes and threads of a recording. Chooses the id
 * under which the records of a ring are stored.
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
 * @tids: the ids of all tasks with records. An id may be in the list more than once
 * @owners: the process of each task. tasks_clear() removes the ended tasks that have no files any
 *          more
 * @forks: the forked processes whose FORK lines are in task.txt, linked by @next_fork
 * @nr_stack_tids: the number of ids that the recorder has made up. Each stack that a program has
 *                 made gets a made-up id. A task that is not known to be a thread of its process
 *                 gets a made-up id, too
 * @stacks: the made-up ids whose rings are in use, in ascending order
 * @map_error: the first error of writing a session's map
 * @too_deep: for each task with calls that were too deep to be recorded, the number of these calls
 * @nr_too_deep: the sum of the numbers in @too_deep
 */
struct tasks {
	struct store *store;
	pthread_mutex_t lock;
	int stream;
	int32_t *tids;
	size_t nr_tids;
	size_t cap_tids;
	struct intmap owners;
	struct process *forks;
	int32_t nr_stack_tids;
	int32_t *stacks;
	size_t nr_stacks;
	size_t cap_stacks;
	struct uft_err map_error;
	struct too_deep *too_deep;
	size_t nr_deep_tasks;
	size_t cap_deep_tasks;
	uint64_t nr_too_deep;
};

/*
 * Create task.txt. The caller must call tasks_close() at the end, even if tasks_open() has failed.
 * If @tasks is { 0 }, tasks_close() does nothing.
 */
int tasks_open(struct tasks *tasks, struct store *store, struct uft_err *err);
void tasks_close(struct tasks *tasks);

/*
 * Returns the id for the records of a ring. The ring names task @tid of @proc as its owner.
 *
 * - If the task is a thread of @proc, the id is the task's tid in the recorder's pid namespace.
 * - An ended task keeps @tid as its id if @proc is in the recorder's pid namespace, and no other
 *   process has claimed @tid.
 * - Any other task gets a new id, because a process must not add records to another process's task.
 * - A stack that the program has made (RING_TID_STACK) gets a new id.
 * - The result is 0 if @tid is invalid, if memory is short, or if there are no more new ids.
 *
 * Call tasks_release() when the ring is not in use any more.
 */
int32_t tasks_claim(struct tasks *tasks, struct process *proc, int32_t tid);

/*
 * Like tasks_claim(), for a vfork(2) child of @proc. The child runs in the memory of @proc, but is
 * a task of its own.
 */
int32_t tasks_claim_child(struct tasks *tasks, struct process *proc, int32_t tid);

/*
 * Note that the ring of task @tid is not in use any more. If @tid is a new id (tasks_claim()),
 * tasks_clear() may forget @tid after this call. For other ids, and for an id that was already
 * released, tasks_release() does nothing.
 */
void tasks_release(struct tasks *tasks, int32_t tid);

/*
 * Called before the first records of a task are stored. Write the line of the task, and the lines
 * of its process and its session that task.txt does not have yet.
 */
void tasks_announce(struct tasks *tasks, struct process *proc, int32_t tid, uint64_t time_ns);
void tasks_announce_child(struct tasks *tasks, struct process *proc, int32_t tid, uint64_t time_ns);

/*
 * For flight recordings: true when tasks_clear() has removed the lines of task @tid, although the
 * task's ring is still in use. The lines must be written again before the next file of the task is
 * written.
 */
bool tasks_is_forgotten(struct tasks *tasks, int32_t tid);

/* Note that @nr calls of task @tid were too deep to be recorded. */
void tasks_note_too_deep(struct tasks *tasks, int32_t tid, uint64_t nr);

/* Write the line for library @m, which @proc has loaded after the start of the process. */
void tasks_dlopen(struct tasks *tasks, const struct process *proc, const struct control_module *m);

/*
 * For long flight recordings: forget ended threads and ended forked processes. If tasks_claim() has
 * made an id, and tasks_release() has released this id, also forget the id. The tasks in @kept
 * stay, because these tasks have files. If a task stays, its parent also stays. During the call, no
 * other thread may add a file of a task to the recording. When tasks_announce() is called for a
 * forgotten process, the process's line is written to task.txt again. The function sorts @kept. An
 * error is noted in the store.
 */
void tasks_clear(struct tasks *tasks, int32_t *kept, size_t nr_kept);

#endif
