/* Reports how processes end that are not our children: the attached ones. */
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
 * The same, and report the reason. Returns the status as of waitpid(2) if a signal has ended it, 0
 * for any other end, or -1: it runs, or that is not known.
 */
int ends_tell(struct end *end, const struct msg *msg);

#endif
