/* Records the kernel's reports about traced tasks: context switches, forks, exits, names. */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_PERF_H
#define UTRAIL_CMDS_RECORD_SOURCES_PERF_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmds/record/sources/sources.h"
#include "utils/base/err.h"

struct perf_cpu;

/* A perf event for each CPU (perf_event_open(2)), each with its ring and its file. */
struct perf {
	struct source source;
	struct perf_cpu *cpus;
	unsigned nr_cpus;
	const struct record_settings *settings;
	struct store *store;
	struct loop *loop;
};

/*
 * Watch @pid, which has not executed its program yet, and its children, by the settings. @perf
 * becomes a source of @sources. Returns 0 or negative errno: then @perf is closed, and the
 * recording goes on.
 */
int perf_open(struct perf *perf, struct sources *sources, pid_t pid, struct uft_err *err);

#endif
