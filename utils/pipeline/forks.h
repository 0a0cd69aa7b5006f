/* The calls within which forked children begin, for filters. */
#ifndef UTRAIL_PIPELINE_FORKS_H
#define UTRAIL_PIPELINE_FORKS_H

#include "utils/pipeline/pipeline.h"

/*
 * Find the filter's state of each forked child's parent at the fork, and keep it in pipe->at_fork,
 * from which lane_open() takes it. Reads the parents' records once more, up to their last fork.
 * Does nothing without filters or forks, and for a growing recording. Does nothing either for a
 * time range with a beginning: then the child's first record is not read.
 *
 * Only forks of a process's first thread are known. A child that another thread has forked has
 * another depth, and begins without a state. 0, or negative with @err.
 */
int forks_find(struct pipeline *pipe, struct uft_err *err);
void forks_forget(struct pipeline *pipe);

#endif
