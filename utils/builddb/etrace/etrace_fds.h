/*
 * The open descriptors of processes. An etrace log has a line for each descriptor that
 * close_range(2) closes. Our recording has only the range, so this table is needed.
 */
#ifndef UTRAIL_BUILDDB_ETRACE_FDS_H
#define UTRAIL_BUILDDB_ETRACE_FDS_H

#include <stdint.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/intmap.h"

/* Starts as { 0 } and ends with etrace_fds_deinit(). Descriptors from 1048576 on are ignored. */
struct etrace_fds {
	struct intmap by_pid;
};

void etrace_fds_deinit(struct etrace_fds *fds);
#define cleanup_etrace_fds cleanup(etrace_fds_deinit)

/*
 * etrace_fds_open() marks @fd as open in the process @pid. etrace_fds_close() marks @fd as closed.
 * Each function returns 0 or -ENOMEM.
 */
int etrace_fds_open(struct etrace_fds *fds, int32_t pid, uint32_t fd);
int etrace_fds_close(struct etrace_fds *fds, int32_t pid, uint32_t fd);

/*
 * Forget all descriptors of the process @pid. Called when the process executes another program,
 * when the process ends, and before a new process with the number @pid gets its descriptors.
 */
void etrace_fds_forget(struct etrace_fds *fds, int32_t pid);

/* Give the new process @child a copy of the descriptors of @pid. Returns 0 or -ENOMEM. */
int etrace_fds_fork(struct etrace_fds *fds, int32_t pid, int32_t child);

/* Returns the first open descriptor that is not less than @fd, or -1. */
int64_t etrace_fds_next(const struct etrace_fds *fds, int32_t pid, uint32_t fd);

#endif
