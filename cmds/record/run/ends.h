/* Tells how processes end that are no children of ours: those that are attached to. */
#ifndef UTRAIL_CMDS_RECORD_RUN_ENDS_H
#define UTRAIL_CMDS_RECORD_RUN_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cmds/record/base/loop.h"
#include "cmds/terminal/msg.h"

/*
 * One of them. Starts with ends_watch().
 *
 * @pidfd: -1: its end was seen, or could not be watched
 * @status: of wait(2), if @is_known
 */
struct end {
	pid_t pid;
	int pidfd;
	bool has_ended;
	bool is_known;
	int status;
	struct loop *loop;
	struct served served;
};

/* From here on its end is seen by @loop. */
void ends_watch(struct end *end, pid_t pid, struct loop *loop);

/*
 * The same, and say what it was. The status as of waitpid(2) of one that a signal has ended, 0 of
 * any other that has ended, or -1: it goes on, or nobody can say.
 */
int ends_tell(struct end *end, const struct msg *msg);

#endif
