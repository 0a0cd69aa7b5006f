/* One execution of `record`, and the data that its steps pass on. */
#ifndef UTRAIL_CMDS_RECORD_RUN_RUN_H
#define UTRAIL_CMDS_RECORD_RUN_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include "cmds/opts.h"
#include "cmds/record/plan/values/debuginfo.h"
#include "cmds/record/run/launch.h"
#include "cmds/record/run/program.h"
#include "cmds/record/run/recorder.h"
#include "cmds/record/store/compact.h"
#include "cmds/record/store/dir.h"
#include "utils/spec/args/argrules.h"

/* All data of one execution of `record`, from the first check to the last written file. */
struct run {
	const struct opts *opts;
	struct argrules args;
	struct debuginfo debug;
	struct record_settings settings;
	struct record_program program;
	char library[PATH_MAX];
	struct store_dir dir;
	struct store_compact compact;
	struct store *store; /* the store that is used: @dir or @compact */
	struct timespec started;
	uint64_t elapsed_ns;
	/* the time that was spent on the remaining records after the program's end */
	uint64_t stop_ns;
	struct recorder_end end;
	struct launch launch;
	struct launched program_process;
	pid_t *pids; /* -p: the process ids, on the heap */
	size_t nr_pids;
	bool has_debug;	 /* there are .dbg files */
	bool has_events; /* there are events that the program has declared */
	bool has_perf;	 /* there are perf-cpu<N>.dat files */
	bool has_kernel; /* there are kernel-cpu<N>.dat files */
};

#endif
