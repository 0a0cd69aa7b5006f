/*
 * Children that asked their parent, which we are, to trace them (PTRACE_TRACEME): they stay stopped
 * until we let them go on.
 */
#ifndef UTRAIL_CMDS_RECORD_RUN_TRACEME_H
#define UTRAIL_CMDS_RECORD_RUN_TRACEME_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmds/terminal/msg.h"

/*
 * The first one that was released.
 *
 * @tid: 0: none asked
 * @sig: the signal that it was stopped at
 * @was_passed_on: false: the signal was meant for a tracer only
 */
struct traceme {
	pid_t tid;
	int sig;
	bool was_passed_on;
};

/*
 * Release all processes that are stopped for us as their tracer; they run untraced afterwards. To
 * be called after a SIGCHLD by the thread that has started the program, which is the tracer.
 * Tracees of other threads in this process are left alone.
 */
void traceme_let_go(struct traceme *seen);

void traceme_warn(const struct traceme *seen, const struct msg *msg);

#endif
