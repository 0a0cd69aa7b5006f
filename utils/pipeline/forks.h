/* The calls within which forked children begin, for filters. */
#ifndef UTRAIL_PIPELINE_FORKS_H
#define UTRAIL_PIPELINE_FORKS_H

#include "utils/pipeline/pipeline.h"

/*
 * For each forked child, find the state that its parent's filter had at the fork. Keep it in
 * pipe->at_fork, from which lane_open() takes it. For that, the parents' records are read once
 * more, up to the last fork. Without filters or forks, nothing is done. If the time range has a
 * beginning, nothing is done either: the children's first records are not read then.
 *
 * Only the parent's first thread is followed. A child that another thread has forked begins without
 * a state. 0, or negative with @err. Not for a growing recording.
 */
int forks_find(struct pipeline *pipe, struct uft_err *err);
void forks_forget(struct pipeline *pipe);

#endif
