/*
 * Keeps the former text of the tracefs files that the recorder changes, and restores it even if the
 * recorder dies.
 */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_TRACEFS_STATE_H
#define UTRAIL_CMDS_RECORD_SOURCES_TRACEFS_STATE_H

#include <stddef.h>
#include <sys/types.h>

#include "utils/base/err.h"

/*
 * The kernel has one function_graph tracer for all users. A helper process, the keeper, holds its
 * former settings until the recorder releases them or dies, and writes them back. Starts as
 * TRACEFS_STATE_NONE.
 *
 * @pipe: when the recorder closes it, the keeper writes the settings back
 * @done: gets a byte when the keeper is ready; the keeper closes it when it ends
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
 * Read the files that will be changed, and start the keeper, in a thread that may fork. Returns 0,
 * or negative errno with @err: -EBUSY: another program is tracing; -EAGAIN: there is no keeper.
 */
int tracefs_state_keep(struct tracefs_state *state, int tracefs_fd, struct uft_err *err);

/* Restore everything, and wait for that. Then the recorder may not use tracefs any more. */
void tracefs_state_restore(struct tracefs_state *state);

#endif
