/*
 * Shows progress on the terminal while a recording is read. Ctrl-C ends the reading early. Most
 * commands then show only the records that were read before Ctrl-C.
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

/* The exit status after SIGINT, 128 + SIGINT, as in shells. */
#define STATUS_INTERRUPTED 130

/*
 * The display of progress, from read_progress_begin() to read_progress_end().
 *
 * @thread: shows the progress, and waits for @signal
 * @began_ns: the time when reading began, by the monotonic clock
 * @signal: SIGINT. If a pager takes SIGINT, @signal is SIGURG, which no other process sends.
 *         read_progress_end() ends @thread by sending @signal
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
 * Call this function before the recording @dir is opened. After a second, a line on stderr says
 * "opening '...'", if stderr is a terminal and the command shows progress. `live` shows no line,
 * because the recorded program may have left an incomplete line on the terminal.
 *
 * The line stays until read_progress_opened(), read_progress_begin() or the first output to that
 * terminal.
 */
void read_progress_opening(const struct opts *opts, const char *dir);

/*
 * Remove the line of read_progress_opening(), if it is shown. Call this function after the
 * recording was opened, or could not be opened.
 */
void read_progress_opened(void);

/*
 * Begin to read. SIGINT makes @pipe end as if there were no more records. Another SIGINT kills the
 * process. If stderr is a terminal that no other output uses, a line shows progress and remaining
 * time, but not in the first second.
 *
 * @prints_at_end: the command writes nothing while it reads
 */
void read_progress_begin(struct read_progress *progress, const struct opts *opts,
			 struct pipeline *pipe, bool prints_at_end);

/*
 * End the reading. If it was interrupted and @status is CMD_DONE, prints a warning and returns
 * STATUS_INTERRUPTED. Otherwise returns @status.
 */
int read_progress_end(struct read_progress *progress, const struct opts *opts, int status);

/*
 * Like read_progress_end(), for a recording that is compared with others. The warning says that
 * parts of recordings are not compared. If this function returns STATUS_INTERRUPTED, the command
 * prints no comparison.
 */
int read_progress_end_compared(struct read_progress *progress, const struct opts *opts, int status);

/*
 * Append the remaining time, for example ", about 12 s left". The estimate assumes the average
 * speed of the first @done bytes. Appends nothing when the remaining time is unknown.
 *
 * @done, @all: bytes
 * @took_ns: the time for @done bytes
 */
void read_progress_add_left(struct strbuf *out, uint64_t done, uint64_t all, uint64_t took_ns);

#endif
