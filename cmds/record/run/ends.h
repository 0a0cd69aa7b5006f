/* Reports how attached processes end, which are not children of the recorder. */
#ifndef UTRAIL_CMDS_RECORD_RUN_ENDS_H
#define UTRAIL_CMDS_RECORD_RUN_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cmds/record/base/loop.h"
#include "cmds/terminal/msg.h"

/*
 * An attached process. Starts with ends_watch().
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

/* Watch for the end of process @pid with @loop. */
void ends_watch(struct end *end, pid_t pid, struct loop *loop);

/*
 * Stop watching, and report how the process has ended. Returns the status as of waitpid(2) if a
 * signal has ended it; 0: another end; -1: it runs, or its end is unknown.
 */
int ends_tell(struct end *end, const struct msg *msg);

#endif
