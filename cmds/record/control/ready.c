/* Handles the messages MODULE and READY (see ready.h). */
#include "cmds/record/control/ready.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cmds/record/base/numbers.h"
#include "cmds/record/base/rights.h"
#include "cmds/record/control/steering.h"
#include "cmds/record/control/talk.h"
#include "cmds/record/plan/image_plan.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/vec.h"

/* Limits that are far above the needs of probes. */
#define MODULES_MAX	 65536
#define MODULE_BYTES_MAX (16UL << 20) /* for one conversation */
#define ALL_MODULE_BYTES (64UL << 20) /* for all open conversations */

static bool is_too_much(const struct control *ctl, const struct conversation *talk, size_t len)
{
	return talk->nr_modules >= MODULES_MAX || talk->module_bytes + len > MODULE_BYTES_MAX ||
	       ctl->talks.module_bytes + len > ALL_MODULE_BYTES;
}

/*
 * Handles a report on a module. Modules beyond the limit are left out, but the process is still
 * traced. After the recording, a warning tells how many modules were left out.
 */
unsigned ready_take_module(void *context, const void *message, size_t len)
{
	struct conversation *talk = context;
	struct control *ctl = talk->served.owner;

	if (is_too_much(ctl, talk, len)) {
		ctl->talks.nr_modules_left_out++;
		return TALK_REPORTING;
	}

	struct control_module *copy = malloc(len);

	if (!copy)
		return TALK_OVER;
	memcpy(copy, message, len);

	struct control_module **modules = vec_room(talk->modules, talk->nr_modules,
						   &talk->cap_modules, sizeof(*modules));

	if (!modules) {
		free(copy);
		return TALK_OVER;
	}
	talk->modules = modules;
	modules[talk->nr_modules++] = copy;
	talk->module_bytes += len;
	ctl->talks.module_bytes += len;
	return TALK_REPORTING;
}

static void note_plan(struct process *proc, size_t nr_modules, const struct plan_entries *plan)
{
	proc->nr_modules += nr_modules;
	for (unsigned kind = 0; kind < PLAN_KINDS; kind++)
		proc->planned[kind] += plan_entries_nr(plan, kind);
}

/* Makes the plan of a new image, as a memfd. */
static int plan_for(struct control *ctl, struct conversation *talk, struct process *proc)
{
	struct plan_entries entries cleanup_plan_entries = { 0 };

	image_plan_make(ctl->planner, ctl->plan, talk->modules, talk->nr_modules,
			/* is_fresh= */ true, &entries);
	note_plan(proc, talk->nr_modules, &entries);
	return plan_memfd(&entries);
}

/* Answers a new process. A forked child gets no plan, because it has the plan of its parent. */
static bool welcome(struct control *ctl, struct conversation *talk, struct process *proc,
		    int arena_fd)
{
	struct control_welcome msg = { 0 };
	int plan_fd cleanup_fd = talk->hello.kind == CONTROL_EXEC ? plan_for(ctl, talk, proc) : -1;
	int fds[CONTROL_FD_MAX] = { ctl->page_fd, arena_fd, plan_fd };

	memcpy(msg.token, proc->token, sizeof(msg.token));
	return talk_answer(talk, CONTROL_WELCOME, &msg, sizeof(msg), fds, plan_fd >= 0 ? 3 : 2);
}

static void note_save_error(struct control *ctl, const struct uft_err *err)
{
	if (err->code && !ctl->save_error.code)
		ctl->save_error = *err;
}

/*
 * Makes a session with its modules, for a new image. The files of the session are written later.
 * The map file, which lists the modules, is written just before the first record. The symbol files
 * are written after the recorder has allowed the program to go on.
 */
static struct image *begin_session(struct control *ctl, struct conversation *talk)
{
	const char *exe = talk->nr_modules ? talk->modules[0]->path : "";
	struct image *s = image_create(ctl->sessions, talk->peer.pid, exe);

	if (!s)
		return NULL;
	s->time_ns = settings_now_ns(ctl->settings);
	for (size_t i = 0; i < talk->nr_modules; i++) {
		if (image_add_module(s, talk->modules[i]) < 0)
			return NULL;
	}
	image_identify_modules(ctl->sessions, s);
	return s;
}

/*
 * Set the session and the parent of the new process @proc, which was forked. @origin is an ancestor
 * of @proc: @proc has inherited the token (process.token) of @origin. If the real parent has not
 * reported itself, or belongs to another session, @origin becomes the parent.
 */
static void find_parent(struct control *ctl, struct process *proc, struct process *origin)
{
	bool is_elsewhere = proc->pid != proc->os_pid;
	pid_t ppid = is_elsewhere ? numbers_of_parent(proc->os_pid) : proc->ppid;
	struct process *named = process_find_os(ctl->processes, ppid);

	proc->session = origin->session;
	proc->parent = named && named->session == origin->session ? named : origin;
	if (named || is_elsewhere)
		proc->ppid = proc->parent->os_pid;
}

/*
 * Makes a process for the peer that has sent HELLO. Returns NULL when the process has ended,
 * when memory is short, or when the process cannot be added.
 *
 * @arena_fd: gets the descriptor of the arena
 */
static struct process *begin_process(struct control *ctl, struct conversation *talk, int *arena_fd)
{
	int pidfd cleanup_fd = peer_pidfd(talk->fd, &talk->peer);
	struct process *former = process_find_os(ctl->processes, talk->peer.pid);

	/*
	 * If the process of @talk has ended, no probe waits for an answer. The process was killed,
	 * or another process now holds the connection.
	 */
	if (pidfd == -ESRCH || (pidfd >= 0 && peer_has_ended(pidfd, 0)))
		return NULL;
	/* If exec has replaced an image, write the records of the old image first. */
	if (former)
		process_retire(ctl->processes, former);
	if (talk->hello.kind == CONTROL_EXEC)
		writer_drain_child(ctl->writers, talk->hello.pid);

	struct process *proc = process_create(ctl->processes, &talk->hello, talk->peer.pid,
					      arena_fd);

	if (!proc) {
		if (!ctl->nr_without_arena++)
			ctl->why_no_arena = errno;
		return NULL;
	}
	proc->pidfd = pidfd < 0 ? -1 : take_fd(&pidfd);
	proc->peer = talk->peer;
	if (talk->hello.kind == CONTROL_EXEC)
		proc->session = begin_session(ctl, talk);
	else
		find_parent(ctl, proc, talk->origin);
	if (!proc->session) {
		process_destroy(proc);
		return NULL;
	}
	process_publish(ctl->processes, proc);
	return proc;
}

/* Adds the process of @talk, and sends this process an answer. Returns false on failure. */
static bool serve_process(struct control *ctl, struct conversation *talk)
{
	int arena_fd cleanup_fd = -1;
	struct process *proc = begin_process(ctl, talk, &arena_fd);
	struct uft_err err = { 0 };

	if (!proc)
		return false;

	bool is_told = welcome(ctl, talk, proc, arena_fd);

	proc->plan_generation = ctl->steering->generation;
	if (ctl->settings->is_steerable && talk->hello.kind == CONTROL_FORK)
		process_inherit_modules(ctl->processes, proc, talk->origin);
	talk->origin = proc;

	if (talk->hello.kind == CONTROL_EXEC) {
		image_save_symbols(ctl->sessions, proc->session, &err);
		note_save_error(ctl, &err);
	}
	return is_told;
}

static bool late_modules(struct control *ctl, struct conversation *talk)
{
	struct image *s = talk->origin->session;
	struct control_plan msg = { 0 };
	struct plan_entries plan cleanup_plan_entries = { 0 };
	struct uft_err err = { 0 };

	plan_make(ctl->planner, talk->modules, talk->nr_modules, false, &plan);

	int plan_fd cleanup_fd = plan_memfd(&plan);

	note_plan(talk->origin, talk->nr_modules, &plan);

	bool is_told = talk_answer(talk, CONTROL_PLAN, &msg, sizeof(msg), &plan_fd, plan_fd >= 0);

	for (size_t i = 0; i < talk->nr_modules; i++) {
		if (!talk->modules[i]->has_text)
			continue;
		talk->modules[i]->tid = talk_number(talk, talk->modules[i]->tid);
		tasks_dlopen(ctl->tasks, talk->origin, talk->modules[i]);
		image_save_late(ctl->sessions, s, talk->modules[i], &err);
	}
	note_save_error(ctl, &err);
	return is_told;
}

static bool steer_process(struct control *ctl, struct conversation *talk)
{
	struct control_set_plan msg = { 0 };
	int plan_fd cleanup_fd = steering_plan(ctl->steering, talk->origin);

	return plan_fd >= 0 && talk_answer(talk, CONTROL_SET_PLAN, &msg, sizeof(msg), &plan_fd, 1);
}

static bool serve_ready(struct control *ctl, struct conversation *talk)
{
	switch (talk->hello.kind) {
	case CONTROL_DLOPEN:
		return late_modules(ctl, talk);
	case CONTROL_STEER:
		return steer_process(ctl, talk);
	}
	return serve_process(ctl, talk);
}

/*
 * Tell the waiting peer that the answer takes longer. The recorder needs much time for large files
 * or on a slow machine. If the socket has no room for this message, the message is dropped: the
 * recorder does not wait.
 */
void control_tick(void *arg)
{
	struct control *ctl = arg;
	struct conversation *talk = ctl->served;
	uint64_t now = talk ? clock_now_ns(CLOCK_MONOTONIC) / 1000000 : 0;
	struct control_working working = { 0 };

	if (!talk || now - ctl->told_ms < ctl->working_ms)
		return;
	ctl->told_ms = now;
	control_stamp(&working, CONTROL_WORKING, CONTROL_OPTIONAL, sizeof(working), talk->seq);
	send(talk->fd, &working, sizeof(working), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/*
 * Until rights_leave(@before), let this thread open files with the rights of the peer. A peer that
 * has just started its program as root has all rights. For such a peer, this thread keeps its own
 * rights, and the function does not call rights_enter(), which would read /proc.
 */
static int enter_rights(const struct conversation *talk, struct rights *before)
{
	if (talk->hello.kind != CONTROL_EXEC || talk->peer.uid != 0)
		return rights_enter(&talk->peer, before);
	*before = (struct rights){ 0 };
	return 0;
}

/*
 * Called for the last report of the peer. Sends an answer to the peer. To make the answer, opens
 * files with the rights of the peer.
 */
unsigned ready_take_ready(void *context, const void *message, size_t len)
{
	struct conversation *talk = context;
	struct control *ctl = talk->served.owner;
	struct rights before;
	bool is_served = false;

	if (enter_rights(talk, &before) == 0) {
		ctl->planner->modules.reads_as_peer = before.is_changed;
		ctl->served = talk;
		ctl->told_ms = clock_now_ns(CLOCK_MONOTONIC) / 1000000;
		is_served = serve_ready(ctl, talk);
		ctl->served = NULL;
	}
	rights_leave(&before);
	ctl->planner->modules.reads_as_peer = false;
	/* Modules that a child has loaded before its first report do not belong to its parent. */
	if (is_served && ctl->settings->is_steerable && talk->origin->os_pid == talk->peer.pid)
		process_keep_modules(ctl->processes, talk->origin, talk->modules, talk->nr_modules);
	talk_free_modules(ctl, talk);
	if (is_served)
		return TALK_SERVED;
	talk_say_error(talk, message, CONTROL_FAILED);
	return TALK_OVER;
}
