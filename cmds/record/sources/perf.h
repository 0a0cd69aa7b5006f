/* What the kernel tells about the traced tasks meanwhile: context switches, forks, exits, names. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_PERF_H
#define UTRAIL_CMDS_RECORD_SOURCES_PERF_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/err.h"

struct recorder;
struct perf_cpu;

/* One perf event per CPU (perf_event_open(2)), each with its ring and its file. */
struct perf {
	struct perf_cpu *cpus;
	unsigned nr_cpus;
	struct recorder *rec;
};

/*
 * Watch @pid, which has not executed its program yet, and all its children, as the recorder's settings say. The rings are
 * emptied by the recorder's loop. Negative errno when the kernel does not allow it or
 * has no such events: the recording goes on without, and @perf is as good as closed.
 */
int perf_open(struct perf *perf, struct recorder *rec, pid_t pid, struct uft_err *err);

/* Flight recording: put what was kept into the files. 0 or the first negative errno. */
int perf_save(struct perf *perf);

/* Take what is in all rings, save it, then end it. 0 or the first negative errno. */
int perf_finish(struct perf *perf);

#endif
