/*
 * Keeps all lines that pass the filters, in a file without a name. A line depends on all calls
 * before it, so one pass makes all lines. The pass has a thread of its own.
 */
#ifndef UTRAIL_CMDS_TUI_REPLAY_KEPT_H
#define UTRAIL_CMDS_TUI_REPLAY_KEPT_H

#include <pthread.h>
#include <stdatomic.h>

#include "cmds/tui/replay/replay_pass.h"

/*
 * A block of the file replay_kept.fd. The block has @nr consecutive lines. The first of these lines
 * has the number @line. The block begins at @offset, with one struct replay_line for each line. The
 * text of the lines follows these structs, and takes @bytes bytes.
 */
struct kept_block {
	uint64_t line;
	uint64_t offset;
	size_t nr;
	size_t bytes;
};

/*
 * The caller initialises a struct replay_kept as { 0 }, and calls replay_kept_start(). At the end,
 * the caller calls replay_kept_stop().
 *
 * @fresh: lines that are not in the file yet; only @thread uses them
 * @has_begun: @pass is open
 * @lock: protects the members after it
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

/*
 * Start a thread that begins or continues to make lines of @source. If @kept already had a thread,
 * that thread must have ended.
 * @source must outlive @kept. Returns 0 or a negative error with @err.
 */
int replay_kept_start(struct replay_kept *kept, const struct replay_source *source,
		      struct uft_err *err);

/*
 * Returns the number of lines that are in the file by now.
 *
 * @is_done: set to false while the thread runs, otherwise to true. After the thread has ended
 *         without a failure, the file has the lines of all records up to source->until_ns
 * @err: if the thread has failed, the first call after the thread's end stores the failure here
 */
uint64_t replay_kept_look(struct replay_kept *kept, bool *is_done, struct uft_err *err);

/*
 * Load the block that contains line @number into @lines. The line must exist, and @lines must be
 * empty. Returns 0 or a negative errno.
 *
 * @first: gets the number of the block's first line
 */
int replay_kept_load(struct replay_kept *kept, uint64_t number, struct replay_lines *lines,
		     uint64_t *first);

void replay_kept_stop(struct replay_kept *kept);

#endif
