/*
 * A task with many records, split into pieces for several threads. For
 * utils/pipeline/sources/parallel.c.
 */
#ifndef UTRAIL_PIPELINE_SPLIT_H
#define UTRAIL_PIPELINE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/pipeline/pipeline.h"

/*
 * The state to begin at @start_offset of the file as if everything before it had been read.
 *
 * @end_offset: end of the piece, UINT64_MAX: to the end of the file
 * @other_at, @other_end: its part of the lane's queue
 * @calls: its frames and its counts of open calls belong to the piece
 * @path: the open calls that the stages show, the outermost first
 * @record_ns: time of the record before it
 */
struct piece {
	struct piece *next;
	uint64_t start_offset;
	uint64_t end_offset;
	size_t other_at;
	size_t other_end;
	struct stg_calls calls;
	struct lane *lane; /* the lane of the whole task */
	const struct func **path;
	size_t nr_path;
	uint64_t record_ns;
};
void piece_destroy(struct piece *piece);

/*
 * True when the lane's records can be read in pieces. False when stages before the view have more
 * state than open calls (filters, a time range, a duration). Also false when the file has the other
 * byte order.
 */
bool lane_can_split(const struct lane *lane);

/*
 * Split the first @bytes of the records of a fresh lane. After that the lane may only be closed.
 * Pieces of about @piece_bytes go to @take in their order, and belong to it; the rest goes to
 * @last, which the caller owns. Splitting is about three times as fast as reading.
 *
 * The rest begins earlier where the open calls are uncertain: the task began within calls, records
 * were lost, or a return belongs to no call. 0, or negative with @err.
 */
int lane_split(struct lane *lane, uint64_t bytes, uint64_t piece_bytes,
	       void (*take)(void *arg, struct piece *piece), void *arg, struct piece **last,
	       struct uft_err *err);

/* Read a piece, as lane_run() reads a task. @reader: as for lane_set_reader(). */
int piece_run(struct piece *piece, unsigned reader, const struct view *view, struct uft_err *err);

#endif
