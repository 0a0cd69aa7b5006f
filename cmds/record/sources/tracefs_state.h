/*
 * The text of files of tracefs before we changed them, and the way in which they get it back,
 * whoever dies.
 */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_TRACEFS_STATE_H
#define UTRAIL_CMDS_RECORD_SOURCES_TRACEFS_STATE_H

#include <stddef.h>
#include <sys/types.h>

#include "utils/base/err.h"

/*
 * The kernel has one function_graph tracer for everybody: what it is to trace stands in files that
 * are nobody's own. A helper process (the keeper) holds what was in them, waits until the recorder
 * lets go, be it that it was killed, and writes it back.
 *
 * @pipe: the recorder's end, at whose end the keeper begins; @done: ends when the keeper does
 *
 * Starts as TRACEFS_STATE_NONE.
 */
struct tracefs_state {
	int pipe;
	int done;
};

#define TRACEFS_STATE_NONE             \
	{                              \
		.pipe = -1, .done = -1 \
	}

/*
 * Read the files that we are going to change, and start the keeper. Nothing has been changed then.
 * For the thread that may fork. 0, or negative errno with @err: -EBUSY when somebody else is
 * tracing.
 */
int tracefs_state_keep(struct tracefs_state *state, int tracefs_fd, struct uft_err *err);

/*
 * Have everything put back, and wait until it is. Nothing of tracefs may be in use by us any more.
 */
void tracefs_state_restore(struct tracefs_state *state);

#endif
