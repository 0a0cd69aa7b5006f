/* The traced tasks. Some of them must wait until their parent is known. */
#ifndef UTRAIL_CMDS_RECORD_PROC_TRACEES_H
#define UTRAIL_CMDS_RECORD_PROC_TRACEES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmds/record/proc/tracer_cpu.h"
#include "cmds/record/proc/stopped.h"
#include "utils/base/containers/intmap.h"

enum tracee_state {
	TRACEE_NONE, /* no traced task has @tid now */
	TRACEE_LIVE, /* the parent of the task is known */
	/* the task has stopped for the first time, and waits until its parent is known */
	TRACEE_HELD,
	TRACEE_ENDED, /* the task ended before its parent was known */
};

/*
 * A task.
 *
 * @status: the wait(2) status, when the task has ended
 * @held_ns: the time at which it began to wait (CLOCK_MONOTONIC)
 * @call: its current system call
 * @place: its last known CPU
 */
struct tracee {
	pid_t tid;
	pid_t pid;
	enum tracee_state state;
	int status;
	uint64_t held_ns;
	struct traced_call call;
	struct tracer_cpu_place place;
};

/* All tasks, by tid. The struct starts as { 0 }. */
struct tracees {
	struct intmap by_tid;
	size_t nr_held;
};

void tracees_deinit(struct tracees *tracees);

/*
 * Returns the tracee @tid. If @tracees does not contain this tracee, adds it with TRACEE_NONE.
 * Returns NULL when memory is short.
 */
struct tracee *tracees_get(struct tracees *tracees, pid_t tid);

/* Returns the tracee @tid, or NULL when there is none. */
struct tracee *tracees_find(const struct tracees *tracees, pid_t tid);

void tracees_set(struct tracees *tracees, struct tracee *tracee, enum tracee_state state);

#endif
