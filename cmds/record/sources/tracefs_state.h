/*
 * Saves the former text of the tracefs files that the recorder changes. The text is restored even
 * if the recorder dies.
 */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_TRACEFS_STATE_H
#define UTRAIL_CMDS_RECORD_SOURCES_TRACEFS_STATE_H

#include <stddef.h>
#include <sys/types.h>

#include "utils/base/err.h"

/*
 * The kernel has one function_graph tracer for all users. A helper process, the keeper, saves the
 * former settings of the tracer. When the recorder dies, or has finished its use of the tracer, the
 * keeper writes the settings back. The struct starts as TRACEFS_STATE_NONE.
 *
 * @pipe: the keeper writes the settings back when the recorder closes this pipe
 * @done: a pipe from the keeper. The keeper writes a byte when it can restore the settings, and
 *         closes the pipe when it ends
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
 * Read the files that will be changed, and start the keeper. The keeper can restore these files.
 * The calling thread must be allowed to fork. Returns 0, or a negative errno with @err. -EBUSY:
 * another program is tracing. -EAGAIN: the keeper could not be started.
 */
int tracefs_state_keep(struct tracefs_state *state, int tracefs_fd, struct uft_err *err);

/* Restore all files, and wait until this is done. The recorder must not use tracefs afterwards. */
void tracefs_state_restore(struct tracefs_state *state);

#endif
