/* Writes task.txt: sessions, processes and threads, in the order of their first records. */
#include "cmds/record/tasks/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/record/base/numbers.h"
#include "cmds/record/base/peer.h"
#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"
#include "utils/format/task_txt.h"

int tasks_open(struct tasks *tasks, struct store *store, struct uft_err *err)
{
	*tasks = (struct tasks){ .store = store };
	pthread_mutex_init(&tasks->lock, NULL);
	tasks->stream = store_open(store, "task.txt");
	return tasks->stream < 0 ? err_set_errno(err, tasks->stream, "cannot create 'task.txt'")
				 : 0;
}

void tasks_close(struct tasks *tasks)
{
	if (!tasks->store) /* task.txt was never opened */
		return;
	if (tasks->stream >= 0)
		store_close(tasks->store, tasks->stream);
	tasks->stream = -1;
	free(tasks->tids);
	free(tasks->stacks);
	free(tasks->too_deep);
	intmap_deinit(&tasks->owners);
	pthread_mutex_destroy(&tasks->lock);
}

/* Writes a line with a single write, so that a reader never sees half a line. */
static void write_line(struct tasks *tasks, const struct task_line *line)
{
	struct strbuf text cleanup_strbuf = { 0 };

	task_line_encode(line, &text);

	int ret = strbuf_oom(&text)
			  ? -ENOMEM
			  : store_append(tasks->store, tasks->stream, text.data, text.len);

	store_note_error(tasks->store, ret);
}

static void note_tid(struct tasks *tasks, int32_t tid)
{
	int32_t *tids = vec_room(tasks->tids, tasks->nr_tids, &tasks->cap_tids, sizeof(*tids));

	if (!tids)
		return; /* the task is missing in the list of `info`, but no records are lost */
	tasks->tids = tids;
	tids[tasks->nr_tids++] = tid;
}

static void write_task(struct tasks *tasks, pid_t pid, int32_t tid, uint64_t time_ns)
{
	struct task_line line = {
		.type = TASK_LINE_TASK,
		.time_ns = time_ns,
		.pid = pid,
		.tid = tid,
	};

	write_line(tasks, &line);
}

/*
 * Saves the map of the session. Call this function before the session's line is written to
 * task.txt. A reader that finds the line needs the map.
 */
static void save_map(struct tasks *tasks, const struct process *proc)
{
	struct image *s = proc->session;
	struct uft_err err = { 0 };

	image_note_stack(s, proc->os_pid, proc->pidfd);
	image_save_map(s, tasks->store, &err);
	if (err.code && !tasks->map_error.code)
		tasks->map_error = err;
}

static void announce_session(struct tasks *tasks, const struct process *proc)
{
	struct image *s = proc->session;
	struct task_line line = {
		.type = TASK_LINE_SESSION,
		.time_ns = s->time_ns,
		.pid = s->pid,
		.path = s->exe,
		.path_len = strlen(s->exe),
	};

	if (s->announced)
		return;
	s->announced = true;
	save_map(tasks, proc);
	memcpy(line.sid, s->sid, sizeof(s->sid));
	write_line(tasks, &line);
	write_task(tasks, s->pid, s->pid, s->time_ns);
}

static void write_fork(struct tasks *tasks, pid_t pid, pid_t ppid, uint64_t time_ns)
{
	struct task_line line = {
		.type = TASK_LINE_FORK,
		.time_ns = time_ns,
		.pid = pid,
		.ppid = ppid,
	};

	write_line(tasks, &line);
}

static void announce_one(struct tasks *tasks, struct process *proc)
{
	proc->announced = true;
	announce_session(tasks, proc);
	if (!proc->is_fork)
		return;
	write_fork(tasks, proc->os_pid, proc->ppid, proc->time_ns);
	proc->next_fork = tasks->forks;
	tasks->forks = proc;
}

/*
 * Announce a process and its ancestors. The line of a parent must come before the lines of its
 * children, so the oldest ancestor is announced first. The function is not recursive, because a
 * chain of forks may be too long for recursion.
 */
static void announce_process(struct tasks *tasks, struct process *proc)
{
	struct process *next = NULL;

	for (; proc && !proc->announced; proc = proc->parent) {
		proc->next_told = next;
		next = proc;
	}
	for (; next; next = next->next_told)
		announce_one(tasks, next);
}

/*
 * True when task @tid belongs to @proc. Also true when the task has ended, and no process other
 * than @proc owns the task in tasks->owners.
 */
static bool is_own_task(struct tasks *tasks, const struct process *proc, int32_t tid,
			enum peer_task task)
{
	const struct process *owner = intmap_get(&tasks->owners, tid);

	switch (task) {
	case PEER_TASK_OWN:
		return true;
	case PEER_TASK_GONE:
		return !owner || owner->os_pid == proc->os_pid;
	case PEER_TASK_OTHERS:
		break;
	}
	return false;
}

/* Returns an id that no task has, or 0 when there is none, or when memory is short. */
static int32_t make_id(struct tasks *tasks)
{
	int32_t *stacks = vec_room(tasks->stacks, tasks->nr_stacks, &tasks->cap_stacks,
				   sizeof(*stacks));

	if (stacks)
		tasks->stacks = stacks;
	if (!stacks || tasks->nr_stack_tids == INT32_MAX - RING_FIRST_STACK_TID)
		return 0;
	/* Each new id is greater than all earlier ids, so tasks->stacks stays sorted. */
	return stacks[tasks->nr_stacks++] = RING_FIRST_STACK_TID + tasks->nr_stack_tids++;
}

static int32_t claim_tid(struct tasks *tasks, struct process *proc, int32_t tid,
			 enum peer_task task)
{
	pthread_mutex_lock(&tasks->lock);
	if (is_own_task(tasks, proc, tid, task))
		intmap_put(&tasks->owners, tid, proc);
	else
		tid = make_id(tasks);
	pthread_mutex_unlock(&tasks->lock);
	return tid;
}

static bool is_of_kernel(int32_t tid)
{
	return tid > 0 && tid < RING_FIRST_STACK_TID;
}

/*
 * Notes again that @proc owns task @tid. tasks_claim() or tasks_claim_child() has noted this
 * owner, but tasks_clear() may have removed the owner afterwards.
 */
static void note_owner(struct tasks *tasks, struct process *proc, int32_t tid)
{
	if (is_of_kernel(tid))
		intmap_put(&tasks->owners, tid, proc);
}

bool tasks_is_forgotten(struct tasks *tasks, int32_t tid)
{
	pthread_mutex_lock(&tasks->lock);

	bool is_known = !is_of_kernel(tid) || intmap_get(&tasks->owners, tid);

	pthread_mutex_unlock(&tasks->lock);
	return !is_known;
}

static bool is_elsewhere(const struct process *proc)
{
	return proc->pid != proc->os_pid;
}

int32_t tasks_claim(struct tasks *tasks, struct process *proc, int32_t tid)
{
	if (tid <= 0 && tid != RING_TID_STACK)
		return 0;
	/* The recorder checked proc->pid when the process sent HELLO. */
	if (tid == proc->pid)
		return claim_tid(tasks, proc, proc->os_pid, PEER_TASK_OWN);
	if (!is_of_kernel(tid))
		return claim_tid(tasks, proc, tid, PEER_TASK_OTHERS);
	if (!is_elsewhere(proc))
		return claim_tid(tasks, proc, tid, peer_task(proc->os_pid, tid));

	pid_t ours = numbers_of_thread(proc->os_pid, tid);

	return claim_tid(tasks, proc, ours, ours ? PEER_TASK_OWN : PEER_TASK_OTHERS);
}

int32_t tasks_claim_child(struct tasks *tasks, struct process *proc, int32_t tid)
{
	if (!is_of_kernel(tid))
		return 0;

	pid_t ours = numbers_of_child(proc->os_pid, tid);

	if (ours)
		return claim_tid(tasks, proc, ours, PEER_TASK_OWN);
	return claim_tid(tasks, proc, tid,
			 is_elsewhere(proc) ? PEER_TASK_OTHERS : peer_task(proc->os_pid, tid));
}

void tasks_release(struct tasks *tasks, int32_t tid)
{
	if (tid < RING_FIRST_STACK_TID)
		return;
	pthread_mutex_lock(&tasks->lock);

	const size_t nr = tasks->nr_stacks;
	int32_t *at = nr ? bsearch(&tid, tasks->stacks, nr, sizeof(tid), order_i32) : NULL;

	if (at) {
		memmove(at, at + 1, (char *)(tasks->stacks + nr) - (char *)(at + 1));
		tasks->nr_stacks--;
	}
	pthread_mutex_unlock(&tasks->lock);
}

void tasks_announce_child(struct tasks *tasks, struct process *proc, int32_t tid, uint64_t time_ns)
{
	pthread_mutex_lock(&tasks->lock);
	announce_process(tasks, proc);
	write_fork(tasks, tid, proc->os_pid, time_ns);
	note_owner(tasks, proc, tid);
	note_tid(tasks, tid);
	pthread_mutex_unlock(&tasks->lock);
}

void tasks_announce(struct tasks *tasks, struct process *proc, int32_t tid, uint64_t time_ns)
{
	pthread_mutex_lock(&tasks->lock);
	announce_process(tasks, proc);
	if (tid != proc->os_pid)
		write_task(tasks, proc->os_pid, tid, time_ns);
	note_owner(tasks, proc, tid);
	note_tid(tasks, tid);
	pthread_mutex_unlock(&tasks->lock);
}

void tasks_dlopen(struct tasks *tasks, const struct process *proc, const struct control_module *m)
{
	struct task_line line = {
		.type = TASK_LINE_DLOPEN,
		.time_ns = m->time_ns,
		.tid = m->tid,
		.base = m->start,
		.path = m->path,
		.path_len = strlen(m->path),
	};

	pthread_mutex_lock(&tasks->lock);
	announce_session(tasks, proc);
	memcpy(line.sid, proc->session->sid, sizeof(proc->session->sid));
	write_line(tasks, &line);
	pthread_mutex_unlock(&tasks->lock);
}

static struct too_deep *too_deep_of(struct tasks *tasks, int32_t tid)
{
	for (size_t i = 0; i < tasks->nr_deep_tasks; i++) {
		if (tasks->too_deep[i].tid == tid)
			return &tasks->too_deep[i];
	}

	struct too_deep *all = vec_room(tasks->too_deep, tasks->nr_deep_tasks,
					&tasks->cap_deep_tasks, sizeof(*all));

	if (!all)
		return NULL;
	tasks->too_deep = all;
	all[tasks->nr_deep_tasks] = (struct too_deep){ .tid = tid };
	return &all[tasks->nr_deep_tasks++];
}

void tasks_note_too_deep(struct tasks *tasks, int32_t tid, uint64_t nr)
{
	pthread_mutex_lock(&tasks->lock);

	struct too_deep *task = too_deep_of(tasks, tid);

	if (task)
		task->nr += nr;
	tasks->nr_too_deep += nr;
	pthread_mutex_unlock(&tasks->lock);
}
