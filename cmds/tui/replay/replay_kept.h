/*
 * All lines that filters leave, kept in a file without a name. Filters depend on all that was
 * before, so one pass makes them all, in a thread of its own.
 */
#ifndef UTRAIL_CMDS_TUI_REPLAY_KEPT_H
#define UTRAIL_CMDS_TUI_REPLAY_KEPT_H

#include <pthread.h>
#include <stdatomic.h>

#include "cmds/tui/replay/replay_pass.h"

/* Lines in a row, at @offset of the file: their struct replay_line, then @bytes of text. */
struct kept_block {
	uint64_t line;
	uint64_t offset;
	size_t nr;
	size_t bytes;
};

/*
 * Starts as { 0 } with replay_kept_start(), ends with replay_kept_stop().
 *
 * @fresh: lines that are not in the file yet; the thread's
 * @blocks: may only be read with the @lock
 * @has_begun: @pass is open
 */
struct replay_kept {
	struct replay_pass pass;
	struct replay_lines fresh;
	int fd;
	bool has_begun;
	pthread_t thread;
	bool runs;
	atomic_bool is_done;
	atomic_bool stops;
	uint64_t flushed_ns;
	uint64_t offset;
	int status;
	struct uft_err err;

	pthread_mutex_t lock;
	struct kept_block *blocks;
	size_t nr_blocks;
	uint64_t nr_lines;
};

/* Go on to make lines of @source, which must outlive it. No thread runs. Negative with @err. */
int replay_kept_start(struct replay_kept *kept, const struct replay_source *source,
		      struct uft_err *err);

/* The number of lines so far; @is_done: there are no more of what is complete by now. */
uint64_t replay_kept_look(struct replay_kept *kept, bool *is_done, struct uft_err *err);

/*
 * The lines among which line @number is, which is below that number, go to @lines, which are empty;
 * the number of the first of them to @first. 0 or a negative errno.
 */
int replay_kept_load(struct replay_kept *kept, uint64_t number, struct replay_lines *lines,
		     uint64_t *first);

void replay_kept_stop(struct replay_kept *kept);

#endif
