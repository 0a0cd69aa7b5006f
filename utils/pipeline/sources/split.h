/* A task with many records, split into pieces for the threads of parallel.c. */
#ifndef UTRAIL_PIPELINE_SPLIT_H
#define UTRAIL_PIPELINE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/pipeline/pipeline.h"

/*
 * A part of a task's file, with the state to begin at @start_offset as if everything before it had
 * been read.
 *
 * @end_offset: end of the piece, UINT64_MAX: the end of the file
 * @other_at, @other_end: the piece's part of the lane's queue
 * @calls: its frames and its counts of open calls belong to the piece
 * @lane: the lane of the whole task
 * @path: the calls open at the beginning that stages show, the outermost first
 * @record_ns: time of the record before the piece
 */
struct piece {
	struct piece *next;
	uint64_t start_offset;
	uint64_t end_offset;
	size_t other_at;
	size_t other_end;
	struct stg_calls calls;
	struct lane *lane;
	const struct func **path;
	size_t nr_path;
	uint64_t record_ns;
};
void piece_destroy(struct piece *piece);

/*
 * True when the lane's records can be read in pieces: the stages have no state but the open calls
 * (filters, a time range or a duration have more), and the file has the byte order of this machine.
 */
bool lane_can_split(const struct lane *lane);

/*
 * Split the first @bytes of the records of a fresh lane. After that the lane may only be closed.
 * Pieces of about @piece_bytes go to @take in their order, and belong to it. The rest of the file
 * goes to *@last, which the caller owns. Splitting is about three times as fast as reading.
 *
 * If the open calls become uncertain, the rest begins at that place. They are uncertain when the
 * task began within calls, records were lost, or a return belongs to no call. 0, or negative with
 * @err.
 */
int lane_split(struct lane *lane, uint64_t bytes, uint64_t piece_bytes,
	       void (*take)(void *arg, struct piece *piece), void *arg, struct piece **last,
	       struct uft_err *err);

/* Read a piece, as lane_run() reads a task. @reader: as for lane_set_reader(). */
int piece_run(struct piece *piece, unsigned reader, const struct view *view, struct uft_err *err);

#endif
