/* The kernel's own reports about the traced tasks: context switches, forks, exits, names. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_PERF_H
#define UTRAIL_CMDS_RECORD_SOURCES_PERF_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmds/record/sources/sources.h"
#include "utils/base/err.h"

struct perf_cpu;

/* One perf event per CPU (perf_event_open(2)), each with its ring and its file. */
struct perf {
	struct source source;
	struct perf_cpu *cpus;
	unsigned nr_cpus;
	const struct record_settings *settings;
	struct store *store;
	struct loop *loop;
};

/*
 * Watch @pid, which has not executed its program yet, and all its children, by the settings. It
 * becomes a new source of @sources, and the loop empties the rings. Negative errno when the kernel
 * does not allow it or has no such events: the recording goes on without them, and @perf counts as
 * closed.
 */
int perf_open(struct perf *perf, struct sources *sources, pid_t pid, struct uft_err *err);

#endif
