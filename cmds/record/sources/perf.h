/*
 * Records the kernel's reports about traced tasks: context switches, forks, exits, and new names.
 */
#ifndef UTRAIL_CMDS_RECORD_SOURCES_PERF_H
#define UTRAIL_CMDS_RECORD_SOURCES_PERF_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmds/record/sources/sources.h"
#include "utils/base/err.h"

struct perf_cpu;

/*
 * The perf events of all CPUs (perf_event_open(2)). Each CPU has one event, one ring for the
 * records of this event, and one file.
 */
struct perf {
	struct source source;
	struct perf_cpu *cpus;
	unsigned nr_cpus;
	const struct record_settings *settings;
	struct store *store;
	struct loop *loop;
};

/*
 * Record the events of @pid and its descendants. The settings choose the kinds of events. @pid has
 * not executed its program yet. @perf becomes a source of @sources. Returns 0, or a negative errno.
 * After an error @perf is closed, and the recording goes on.
 */
int perf_open(struct perf *perf, struct sources *sources, pid_t pid, struct uft_err *err);

#endif
