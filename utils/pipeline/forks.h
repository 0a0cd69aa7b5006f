/* The calls within which forked children begin, for filters. */
#ifndef UTRAIL_PIPELINE_FORKS_H
#define UTRAIL_PIPELINE_FORKS_H

#include "utils/pipeline/pipeline.h"

/*
 * For each forked child, find the state that its parent's filter had at the fork, by reading the
 * parents' records once more. lane_open() takes the states from pipe->at_fork.
 *
 * - If another thread of the parent than the first has forked the child, the child still gets the
 *   first thread's state. stg_filter() drops a state whose depth is not that of the first record.
 * - No states are needed for a time range with a beginning: the children's first records are not
 *   read.
 * - A growing recording is not supported.
 *
 * Returns 0, or a negative errno with @err.
 */
int forks_find(struct pipeline *pipe, struct uft_err *err);
void forks_forget(struct pipeline *pipe);

#endif
