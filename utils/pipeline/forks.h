/* The calls within which forked children begin, for filters. */
#ifndef UTRAIL_PIPELINE_FORKS_H
#define UTRAIL_PIPELINE_FORKS_H

#include "utils/pipeline/pipeline.h"

/*
 * For each forked child, find the state that its parent's filter had at the fork, and keep it in
 * pipe->at_fork for lane_open(). The parents' records are read once more for that.
 *
 * - Only the parent's first thread is followed: children of its other threads begin without a
 *   state.
 * - A time range with a beginning needs no states, since the children's first records are not read.
 * - A growing recording is not supported.
 *
 * Returns 0, or negative with @err.
 */
int forks_find(struct pipeline *pipe, struct uft_err *err);
void forks_forget(struct pipeline *pipe);

#endif
