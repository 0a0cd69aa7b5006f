/* Calls that forked children begin within, for filters. */
#ifndef UTRAIL_TRACE_FORKS_H
#define UTRAIL_TRACE_FORKS_H

#include "utils/trace/pipeline.h"

/*
 * Find the filter's state of each forked child's parent at the fork, and keep it in pipe->at_fork,
 * from which lane_open() takes it. Reads the parents' records once more, up to their last fork.
 * Nothing is done without filters, without forks, with the beginning of a time range (the child's
 * first record is not seen then), and of a recording that grows.
 *
 * Only acts of the process's first thread are known. The depth does not fit for a child that
 * another thread forked: it begins as if nothing was known. 0, or negative with @err.
 */
int forks_find(struct pipeline *pipe, struct uft_err *err);
void forks_forget(struct pipeline *pipe);

#endif
