/*
 * Shows progress on the terminal while a recording is read. Takes Ctrl-C, after which the output
 * ends with the part that was read.
 */
#ifndef UTRAIL_CMDS_READ_PROGRESS_H
#define UTRAIL_CMDS_READ_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmds/opts.h"
#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/pipeline.h"

/* The exit status after SIGINT, as shells form it: 128 + SIGINT. */
#define STATUS_INTERRUPTED 130

/*
 * Begins with read_progress_begin(), ends with read_progress_end().
 *
 * @began_ns: the beginning of the reading, by the monotonic clock
 * @signal: the thread waits for this signal, which also ends it: SIGINT or, when a pager takes
 *         SIGINT, a signal that no process sends
 */
struct read_progress {
	struct pipeline *pipe;
	pthread_t thread;
	uint64_t began_ns;
	int signal;
	bool is_running;
	bool prints_at_end;
	bool shows_progress;
	atomic_bool is_done;
	atomic_bool is_interrupted;
};

/*
 * Call it before the recording @dir is opened. After a second, a line on stderr says "opening
 * '...'", if stderr is a terminal and the command shows progress. `live` shows no line: its program
 * may have left an incomplete one.
 *
 * The line stays until read_progress_opened(), read_progress_begin() or the first output to that
 * terminal.
 */
void read_progress_opening(const struct opts *opts, const char *dir);

/* Call it after the recording was opened, or could not be opened. May be called at any time. */
void read_progress_opened(void);

/*
 * Begin to read. SIGINT makes @pipe end as if there were no more records; a second SIGINT kills the
 * process. After a second, a line on stderr shows progress and remaining time, if stderr is a
 * terminal without other output.
 *
 * @prints_at_end: the command writes nothing while it reads
 */
void read_progress_begin(struct read_progress *progress, const struct opts *opts,
			 struct pipeline *pipe, bool prints_at_end);

/*
 * End the reading. Returns STATUS_INTERRUPTED, after a warning, when it was interrupted and @status
 * is CMD_DONE; otherwise @status.
 */
int read_progress_end(struct read_progress *progress, const struct opts *opts, int status);

/*
 * Append the remaining time, computed from the time so far: ", about 12 s left". Appends nothing
 * when it is unknown.
 *
 * @done, @all: bytes
 * @took_ns: the time for @done bytes
 */
void read_progress_add_left(struct strbuf *out, uint64_t done, uint64_t all, uint64_t took_ns);

#endif
