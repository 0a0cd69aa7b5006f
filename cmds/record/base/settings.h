/*
 * The settings of a recording, made from the options. Struct steering has a copy of this struct. If
 * a setting changes during the recording, the copy changes, and this struct does not. The rules at
 * @patches are an exception: the two structs share these rules (control/steering_patches.h).
 */
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
 * Settings for the values that are captured at calls (plan/values/captures.h).
 *
 * @rules: -A, -R, -T
 * @is_auto: -a
 * @has_lines: --srcline
 * @elements: --arg-elements: at most this many elements of each container are shown
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
 * All settings of a recording. For commands that record, the parser of options (opts.h) stores some
 * options directly in this struct. cmd_record fills in most other members. The strings belong to
 * the options.
 */
struct record_settings {
	const char *data_dir;
	uint64_t segment_bytes;	      /* -b; cmd_record makes it a multiple of RING_PAGE */
	uint64_t kernel_buffer_bytes; /* a multiple of the page size; 0: the recorder chooses */
	unsigned kernel_depth;	      /* -K: the number of levels of kernel calls; 0: none */
	uint64_t threshold_ns;
	uint64_t size_filter;
	struct filters *filters; /* never NULL */
	const char *syms_dir;	 /* --with-syms, or NULL */
	struct signal_switches signals;
	const struct watch_spec *watch;	  /* never NULL */
	const struct event_rules *events; /* never NULL */
	/*
	 * --trace-include, --trace-exclude: patterns for ids of events that the program declares,
	 * or NULL
	 */
	const struct pattern *trace_include;
	const struct pattern *trace_exclude;
	struct patch_rules *patches; /* never NULL */
	struct capture_settings captures;
	int demangle; /* enum demangle_mode for names that filters match */
	unsigned depth;
	unsigned max_stack;
	/*
	 * true: report the number of calls that are deeper than @max_stack. With -D, this member is
	 * true if @depth is greater than @max_stack, or if filters_renew_depth() is true for
	 * @filters. Without -D, this member is true if @max_stack is at least the default
	 */
	bool tells_depth;
	int clock_id;
	uint64_t flight_bytes; /* --flight: bytes to keep of each running task; 0: all */
	uint64_t max_bytes;    /* --max-size; 0: no limit */
	unsigned nr_writers;
	unsigned rt_prio;   /* 0: not real-time */
	char *const *specs; /* indexed by enum spec_option: the option's specs as text, or NULL */
	int match;	    /* enum pattern_match of @specs */
	bool trace_on;
	/* users or the recorder may change the settings while programs run (control/steering.h) */
	bool is_steerable;
	bool has_agent;		       /* --agent: other processes may change the recording */
	unsigned overhead_percent;     /* --overhead: the limit on the cost of recording; 0: none */
	enum proc_way_choice proc_way; /* --proc */
	/*
	 * the program is a compiler. PROC_WAY_AUTO then uses ptrace, because loading eBPF costs
	 * more time than it saves
	 */
	bool expects_few;
	bool traces_files;	 /* --proc without --no-proc-files */
	bool traces_environment; /* --proc-env */
	/*
	 * set by `build`: no library is preloaded. The recorder waits only a short time for
	 * processes that outlive the program. Exception: processes with the recorder's seccomp
	 * filter cannot run without the recorder, so the recorder waits until such processes end
	 */
	bool without_probe;
	bool uses_cache; /* facts about files are cached (off with --no-cache) */
	bool drops_when_full;
	bool estimates_return;
	const char *keep_returns;    /* --keep-returns; NULL: none */
	const char *replace_returns; /* --replace-returns; NULL: none */
	bool reports_crashes;
	bool use_libcalls; /* record calls that the program makes into libraries */
	bool attaches;	   /* -p: attach to running processes, and detach from them at the end */
	/*
	 * --force: run a program even if nothing in it can be traced. Attach even if a system call
	 * filter (seccomp(2)) may end the process because of the probe's system calls
	 */
	bool force;
	bool nest_libcalls; /* record calls that libraries make into each other */
	/* record the calls that Python's interpreter makes into libraries (--force, -P) */
	bool hooks_interpreters;
	/* events that the kernel records by itself (see sources/perf.h) */
	bool use_tasks; /* the beginning and the end of tasks */
	bool use_names; /* changed names of tasks */
	bool use_switches;
};

/* Returns the current time of the recording's clock. */
static inline uint64_t settings_now_ns(const struct record_settings *settings)
{
	return clock_now_ns(settings->clock_id);
}

#endif
