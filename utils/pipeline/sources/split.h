/* A task with many records, split into pieces for the threads of parallel.c. */
#ifndef UTRAIL_PIPELINE_SPLIT_H
#define UTRAIL_PIPELINE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/pipeline/pipeline.h"

/*
 * A part of a task's file, with the state of the reader at @start_offset.
 *
 * @end_offset: the offset at which the piece ends; UINT64_MAX: the end of the file
 * @other_at, @other_end: the piece contains the events [@other_at, @other_end) of lane->queued
 * @calls: the state of stg_calls(); the piece owns calls.frames and calls.open
 * @lane: the lane of the whole task
 * @path: the functions of the calls that are open at the beginning of the piece, the outermost
 *        first. Calls that the stages hide are left out
 * @record_ns: the time of the record before the piece
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
 * True when the lane's records can be read in pieces. Two of the conditions are: the stages have no
 * state except the open calls, and the task's file has this machine's byte order.
 */
bool lane_can_split(const struct lane *lane);

/*
 * Split the first @bytes of the records of a fresh lane. Afterwards, the lane may only be closed.
 * Splitting is about three times as fast as reading.
 *
 * @take: gets one piece after the other, in the order of reading, and owns the pieces; a piece has
 *         about @piece_bytes
 * @last: gets the last piece, which has the rest of the file. The caller owns this piece
 *
 * No further piece begins after the open calls become uncertain. The open calls are uncertain if
 * calls were open before the task's first ENTRY or EXIT (as in a forked child), if records were
 * lost, if times go backwards, or if an EXIT does not end the innermost call. Returns 0, or a
 * negative errno with @err.
 */
int lane_split(struct lane *lane, uint64_t bytes, uint64_t piece_bytes,
	       void (*take)(void *arg, struct piece *piece), void *arg, struct piece **last,
	       struct uft_err *err);

/* Read a piece, as lane_run() reads a task. @reader: as for lane_set_reader(). */
int piece_run(struct piece *piece, unsigned reader, const struct view *view, struct uft_err *err);

#endif
