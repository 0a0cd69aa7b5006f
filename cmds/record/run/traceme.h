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
 * Some tasks make the recorder their tracer (PTRACE_TRACEME). This struct describes the first such
 * task that the recorder has released.
 *
 * @tid: 0 when there was no such task
 * @sig: the signal at which the task was stopped; 0: the whole process was stopped
 * @was_passed_on: the signal was passed to the task. False if the signal was meant for a tracer
 */
struct traceme {
	pid_t tid;
	int sig;
	bool was_passed_on;
};

/*
 * Release the stopped children whose tracer is the calling thread. Children that another thread
 * traces are not released. The thread that has started the program must call this function when a
 * child may have stopped, for example after SIGCHLD.
 */
void traceme_let_go(struct traceme *seen);

void traceme_warn(const struct traceme *seen, const struct msg *msg);

#endif
