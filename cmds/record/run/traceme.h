/*
 * Children that asked for tracing by their parent (PTRACE_TRACEME), which we are: nobody else would
 * let them go on.
 */
#ifndef UTRAIL_CMDS_RECORD_RUN_TRACEME_H
#define UTRAIL_CMDS_RECORD_RUN_TRACEME_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmds/terminal/msg.h"

/*
 * The first one that was let go.
 *
 * @tid: 0: nobody asked
 * @sig: at what signal it stood
 * @was_passed_on: false: the signal was meant for a tracer alone
 */
struct traceme {
	pid_t tid;
	int sig;
	bool was_passed_on;
};

/*
 * Let all go on that stand still for us as their tracer; they run untraced afterwards. To be called
 * by the thread that has started the program, which is the tracer, after a SIGCHLD. Those that
 * somebody else in this process traces are left alone.
 */
void traceme_let_go(struct traceme *seen);

void traceme_warn(const struct traceme *seen, const struct msg *msg);

#endif
