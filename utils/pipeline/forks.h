/* Finds the state with which the filter of each forked child begins. */
#ifndef UTRAIL_PIPELINE_FORKS_H
#define UTRAIL_PIPELINE_FORKS_H

#include "utils/pipeline/pipeline.h"

/*
 * For each forked child, find the state that the parent's filter had at the fork. For this purpose,
 * the records of all parents are read once more. lane_open() takes the states from pipe->at_fork.
 *
 * - The child gets the state of the parent's first thread, even if another thread has forked the
 *   child. stg_filter() drops a state whose depth differs from the depth of the child's first
 *   record.
 * - If the time range has a beginning, the function finds no states. Children then begin without
 *   the state of their parent's filter.
 * - A growing recording is not supported.
 *
 * Returns 0, or a negative errno with @err.
 */
int forks_find(struct pipeline *pipe, struct uft_err *err);
void forks_forget(struct pipeline *pipe);

#endif
