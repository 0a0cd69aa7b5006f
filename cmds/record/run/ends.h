/* Reports the ends of attached processes, which are not children of the recorder. */
#ifndef UTRAIL_CMDS_RECORD_RUN_ENDS_H
#define UTRAIL_CMDS_RECORD_RUN_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cmds/record/base/loop.h"
#include "cmds/terminal/msg.h"

/*
 * An attached process. ends_watch() fills the struct.
 *
 * @pidfd: -1: the end was seen, or could not be watched
 * @status: the wait(2) status, if @is_known
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

/* Let @loop watch for the end of process @pid. */
void ends_watch(struct end *end, pid_t pid, struct loop *loop);

/*
 * Stop watching, and report how the process has ended. Returns the waitpid(2) status if a signal
 * has ended the process, 0 for another end, or -1 when the process still runs or its end is
 * unknown.
 */
int ends_tell(struct end *end, const struct msg *msg);

#endif
