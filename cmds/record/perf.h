/* What the kernel tells about the traced tasks meanwhile: context switches, forks, exits, names. */
#ifndef UTRAIL_CMDS_RECORD_PERF_H
#define UTRAIL_CMDS_RECORD_PERF_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/err.h"

struct recorder;
struct perf_cpu;

/* One perf event per CPU (perf_event_open(2)), each with its ring and its file. */
struct perf {
	struct perf_cpu *cpus;
	unsigned nr_cpus;
};

/*
 * Watch @pid, which has not executed its program yet, and all its children. @with_switches: context switches, too.
 * The rings are emptied through @epoll_fd's events, see perf_serve(). Negative errno when the kernel does not allow it or
 * has no such events: the recording goes on without, and @perf is as good as closed.
 */
int perf_open(struct perf *perf, pid_t pid, int clock_id, bool with_switches, int epoll_fd,
	      int dir_fd, struct uft_err *err);

/* Write what is in one ring to perf-cpu<N>.dat. 0 or negative errno of the write. */
int perf_serve(struct perf_cpu *cpu);

/* Write what is in all rings, then end it. 0 or the first negative errno. */
int perf_finish(struct perf *perf);

#endif
