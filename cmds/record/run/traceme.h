/*
 * Children of the recorder that have asked it to trace them (PTRACE_TRACEME). They stay stopped
 * until the recorder lets them go on.
 */
#ifndef UTRAIL_CMDS_RECORD_RUN_TRACEME_H
#define UTRAIL_CMDS_RECORD_RUN_TRACEME_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmds/terminal/msg.h"

/*
 * The first task that made the recorder its tracer, and that the recorder released.
 *
 * @tid: 0 when there was no such task
 * @sig: the signal at which the task was stopped
 * @was_passed_on: the signal was passed to the task. False if it was only meant for a tracer
 */
struct traceme {
	pid_t tid;
	int sig;
	bool was_passed_on;
};

/*
 * Release all stopped processes whose tracer is the recorder. Call it after a SIGCHLD, in the
 * thread that has started the program. Tracees of other threads are not released.
 */
void traceme_let_go(struct traceme *seen);

void traceme_warn(const struct traceme *seen, const struct msg *msg);

#endif
