/* The calls within which forked children begin, for filters. */
#ifndef UTRAIL_PIPELINE_FORKS_H
#define UTRAIL_PIPELINE_FORKS_H

#include "utils/pipeline/pipeline.h"

/*
 * Find the filter's state of each forked child's parent at the fork, and keep it in pipe->at_fork,
 * from which lane_open() takes it. Reads the parents' records once more, up to their last fork.
 * Does nothing without filters, without forks, with a beginning of a time range (the child's first
 * record is not read then), and for a growing recording.
 *
 * Only the process's first thread is known. The depth does not match for a child forked by another
 * thread: it begins without any state. 0, or negative with @err.
 */
int forks_find(struct pipeline *pipe, struct uft_err *err);
void forks_forget(struct pipeline *pipe);

#endif
