/* The settings of a recording, from the options: they do not change once it has begun. */
#ifndef UTRAIL_CMDS_RECORD_BASE_SETTINGS_H
#define UTRAIL_CMDS_RECORD_BASE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "utils/base/clock.h"
#include "utils/spec/args/argrules.h"
#include "utils/spec/events.h"
#include "utils/spec/filters.h"
#include "utils/spec/patches.h"
#include "utils/spec/signals.h"
#include "utils/spec/regex/pattern.h"
#include "utils/spec/watch.h"

struct debuginfo;

/*
 * The values that are captured of calls (plan/captures.h).
 *
 * @rules: -A, -R, -T
 * @is_auto: -a
 * @has_lines: --srcline
 * @elements: --arg-elements: the most elements of a container
 * @debug: the debug information that was read
 */
struct capture_settings {
	const struct argrules *rules;
	bool is_auto;
	bool has_lines;
	unsigned elements;
	struct debuginfo *debug;
};

/* The ways to find out what processes do. */
enum proc_way_choice {
	PROC_WAY_NOT,
	PROC_WAY_AUTO,
	PROC_WAY_PTRACE,
	PROC_WAY_BPF,
};

/*
 * All settings of a recording. Options that only recordings have fill their members directly
 * (opts.h); cmd_record fills the others. Strings belong to the options.
 */
struct record_settings {
	const char *data_dir;
	uint64_t segment_bytes;	      /* -b; in a recording a multiple of RING_PAGE */
	uint64_t kernel_buffer_bytes; /* a multiple of the page size; 0: the recorder chooses */
	unsigned kernel_depth;	      /* -K: the number of levels of kernel calls; 0: none */
	uint64_t threshold_ns;
	uint64_t size_filter;
	struct filters *filters; /* never NULL */
	const char *syms_dir;	 /* --with-syms, or NULL */
	struct signal_switches signals;
	const struct watch_spec *watch;	  /* never NULL */
	const struct event_rules *events; /* never NULL */
	/* --trace-include, --trace-exclude: ids of events that the program declares, or NULL */
	const struct pattern *trace_include;
	const struct pattern *trace_exclude;
	struct patch_rules *patches; /* never NULL */
	struct capture_settings captures;
	int demangle; /* enum demangle_mode for names that filters match */
	unsigned depth;
	unsigned max_stack;
	/* the user has not lowered @max_stack, so calls beyond it are reported */
	bool tells_depth;
	int clock_id;
	uint64_t flight_bytes; /* --flight: kept bytes of each running task; 0: all are kept */
	uint64_t max_bytes;    /* --max-size; 0: no limit */
	unsigned nr_writers;
	unsigned rt_prio;   /* 0: not real-time */
	char *const *specs; /* the texts of @filters as typed, by enum spec_option, or NULL */
	int match;	    /* enum pattern_match of @specs */
	bool trace_on;
	/* users or the recorder may change the recording while programs run (control/steering.h) */
	bool is_steerable;
	bool has_agent;		       /* --agent: other processes may change the recording */
	unsigned overhead_percent;     /* --overhead: the limit on the cost of recording; 0: none */
	enum proc_way_choice proc_way; /* --proc */
	/* the program is a compiler: with "auto", loading eBPF would cost more than it saves */
	bool expects_few;
	bool traces_files;	 /* --proc without --no-proc-files */
	bool traces_environment; /* --proc-env */
	/*
	 * for `build`: nothing is preloaded; a process that runs on after the program's end is left
	 * alone if that does no harm
	 */
	bool without_probe;
	bool uses_cache; /* facts about files are cached (--no-cache: they are not) */
	bool drops_when_full;
	bool estimates_return;
	const char *keep_returns;    /* --keep-returns; NULL: none */
	const char *replace_returns; /* --replace-returns; NULL: none */
	bool reports_crashes;
	bool use_libcalls; /* calls that the program makes into libraries are recorded */
	bool attaches;	   /* -p: attach to running processes, and leave them at the end */
	/* attach even to a process whose filter of system calls may end it for that */
	bool force;
	bool nest_libcalls; /* calls that libraries make into each other are recorded */
	/* calls of Python itself are recorded, unless Python is patched */
	bool hooks_interpreters;
	/* events that the kernel records by itself, see sources/perf.h */
	bool use_tasks; /* beginning and end of tasks */
	bool use_names; /* changed names of tasks */
	bool use_switches;
};

/* Returns the time of the recording's clock. */
static inline uint64_t settings_now_ns(const struct record_settings *settings)
{
	return clock_now_ns(settings->clock_id);
}

#endif
