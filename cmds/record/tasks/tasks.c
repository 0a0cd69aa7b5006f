/* task.txt: which sessions, processes and threads a recording has, in the order they had something to say. */
#include "cmds/record/run/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/task_txt.h"

/* One write(2) per line, so that a reader never sees half of one. */
static void write_line(struct recorder *rec, const struct task_line *line)
{
	struct strbuf text cleanup_strbuf = { 0 };

	task_line_encode(line, &text);

	int ret = strbuf_oom(&text)
			  ? -ENOMEM
			  : store_append(rec->store, rec->task_stream, text.data, text.len);

	store_note_error(rec->store, ret);
}

static void note_tid(struct recorder *rec, int32_t tid)
{
	if (rec->nr_tids == rec->cap_tids) {
		size_t cap = rec->cap_tids ? rec->cap_tids * 2 : 64;
		int32_t *tids = realloc(rec->tids, cap * sizeof(*tids));

		if (!tids)
			return; /* the task list of `info` lacks one; the records are there */
		rec->tids = tids;
		rec->cap_tids = cap;
	}
	rec->tids[rec->nr_tids++] = tid;
}

static void write_task(struct recorder *rec, pid_t pid, int32_t tid, uint64_t time_ns)
{
	struct task_line line = {
		.type = TASK_LINE_TASK,
		.time_ns = time_ns,
		.pid = pid,
		.tid = tid,
	};

	write_line(rec, &line);
}

static void announce_session(struct recorder *rec, struct session *s)
{
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
	memcpy(line.sid, s->sid, sizeof(s->sid));
	write_line(rec, &line);
	write_task(rec, s->pid, s->pid, s->time_ns);
}

static void announce_one(struct recorder *rec, struct process *proc)
{
	proc->announced = true;
	announce_session(rec, proc->session);
	if (proc->is_fork) {
		struct task_line line = {
			.type = TASK_LINE_FORK,
			.time_ns = proc->time_ns,
			.pid = proc->pid,
			.ppid = proc->ppid,
		};

		write_line(rec, &line);
	}
}

/* A child is nothing without its parents: the eldest that is not announced comes first. A chain of forks may be of any length. */
static void announce_process(struct recorder *rec, struct process *proc)
{
	struct process *next = NULL;

	for (; proc && !proc->announced; proc = proc->parent) {
		proc->next_told = next;
		next = proc;
	}
	for (; next; next = next->next_told)
		announce_one(rec, next);
}

/* Whether task @tid is to be taken for one of @proc, which is what the kernel says of it. */
static bool is_own_task(struct recorder *rec, const struct process *proc, int32_t tid,
			enum peer_task task)
{
	const struct process *owner = intmap_get(&rec->task_owners, tid);

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

int32_t tasks_claim(struct recorder *rec, struct process *proc, int32_t tid)
{
	enum peer_task task = PEER_TASK_OTHERS;

	if (tid <= 0 && tid != RING_TID_STACK)
		return 0;
	if (tid == proc->pid && proc->pid == proc->os_pid)
		task = PEER_TASK_OWN; /* as was seen when it reported itself */
	else if (tid > 0 && tid < RING_FIRST_STACK_TID)
		task = peer_task(proc->os_pid, proc->pid, tid);

	pthread_mutex_lock(&rec->task_lock);
	if (is_own_task(rec, proc, tid, task))
		intmap_put(&rec->task_owners, tid, proc);
	else if (rec->nr_stack_tids == INT32_MAX - RING_FIRST_STACK_TID)
		tid = 0;
	else
		tid = RING_FIRST_STACK_TID + rec->nr_stack_tids++;
	pthread_mutex_unlock(&rec->task_lock);
	return tid;
}

void tasks_announce(struct recorder *rec, struct process *proc, int32_t tid, uint64_t time_ns)
{
	pthread_mutex_lock(&rec->task_lock);
	announce_process(rec, proc);
	if (tid != proc->pid)
		write_task(rec, proc->pid, tid, time_ns);
	note_tid(rec, tid);
	pthread_mutex_unlock(&rec->task_lock);
}

void tasks_dlopen(struct recorder *rec, struct session *s, const struct control_module *m)
{
	struct task_line line = {
		.type = TASK_LINE_DLOPEN,
		.time_ns = m->time_ns,
		.tid = m->tid,
		.base = m->start,
		.path = m->path,
		.path_len = strlen(m->path),
	};

	pthread_mutex_lock(&rec->task_lock);
	announce_session(rec, s);
	memcpy(line.sid, s->sid, sizeof(s->sid));
	write_line(rec, &line);
	pthread_mutex_unlock(&rec->task_lock);
}
