/* All options of the command line: one struct, which is filled from one table. */
#ifndef UTRAIL_CMDS_OPTS_H
#define UTRAIL_CMDS_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmds/terminal/msg.h"
#include "cmds/record/base/settings.h"
#include "utils/base/color.h"
#include "utils/base/err.h"
#include "utils/base/optparse.h"
#include "utils/base/containers/words.h"
#include "utils/object/names/demangle.h"
#include "utils/spec/events.h"
#include "utils/spec/filters.h"
#include "utils/spec/args/range.h"
#include "utils/spec/watch.h"

struct cmd;

/* The commands that a row of the option table applies to. */
enum cmd_bit {
	CMD_RECORD = 1U << 0,
	CMD_LIVE = 1U << 1,
	CMD_REPLAY = 1U << 2,
	CMD_REPORT = 1U << 3,
	CMD_INFO = 1U << 4,
	CMD_DUMP = 1U << 5,
	CMD_GRAPH = 1U << 6,
	CMD_SNAPSHOT = 1U << 9,
	CMD_CONTROL = 1U << 10,
	CMD_CONVERT = 1U << 11,
	CMD_EVENTS = 1U << 12,
	CMD_IMPORT = 1U << 13,
	CMD_BUILD = 1U << 14,
	CMD_SCRIPT = 1U << 15,
	CMD_TUI = 1U << 16,
	CMD_SHOW = 1U << 17,
};

enum opts_show {
	OPTS_SHOW_NOTHING,
	OPTS_SHOW_HELP,
	OPTS_SHOW_ALL_HELP,
	OPTS_SHOW_USAGE,
	OPTS_SHOW_VERSION,
};

enum opts_color {
	OPTS_COLOR_AUTO,
	OPTS_COLOR_ON,
	OPTS_COLOR_OFF,
};

enum opts_progress {
	OPTS_PROGRESS_AUTO,
	OPTS_PROGRESS_ON,
	OPTS_PROGRESS_OFF,
};

enum opts_format {
	OPTS_FORMAT_NORMAL,
	OPTS_FORMAT_HTML,
	OPTS_FORMAT_CSV,
	OPTS_FORMAT_JSON,
	OPTS_FORMAT_EXPORT, /* exporters: this value plus the exporter's enum export_number */
};

enum opts_full {
	OPTS_FULL_WAIT,
	OPTS_FULL_DROP,
};

enum opts_as {
	OPTS_AS_NOTHING,
	OPTS_AS_FSTRACE,
	OPTS_AS_JSON,
	OPTS_AS_CSV,
	OPTS_AS_POSIX,
	OPTS_AS_COMPDB,
	OPTS_AS_DOT,
	OPTS_AS_DEPS,
	OPTS_AS_ETRACE,
};

#define OPTS_DEFAULT_DIR   "uftrace.data"
#define OPTS_DEFAULT_DEPTH 1024
#define OPTS_ROWS_MAX	   192

/* Marks for the origin of a spec. PLAIN: -F or -P. NEGATED: -N or -U, which negate the spec. */
#define SPEC_MARK_PLAIN	  'P'
#define SPEC_MARK_NEGATED 'N'

/*
 * The parsed command line. Starts with opts_init() and ends with opts_deinit(). Strings point into
 * argv unless a member says otherwise. Times are in nanoseconds.
 *
 * Commands must not change the struct. To run another command with changed options, a command makes
 * a shallow copy, which needs no opts_deinit().
 */
struct opts {
	/* The command line as it was given, and the words that follow its options. */
	int argc;
	char **argv;
	int nr_args;
	char **args; /* the PROGRAM's name and its arguments; NULL-terminated like argv */
	const struct cmd *cmd;
	int show;     /* enum opts_show */
	int complete; /* enum opts_complete */

	/*
	 * @typed: options that are on the command line, by their index in opts_table
	 * @in_files: options that are in option files and scripts, by their index in opts_table
	 * @last: the last option on the command line whose argument is in the word after the
	 *         option; NULL: there is none
	 */
	bool typed[OPTS_ROWS_MAX];
	bool in_files[OPTS_ROWS_MAX];
	const struct opt_row *last;
	const char *last_text;

	/* options of all commands */
	char *data_dir; /* on the heap; a trailing slash was removed */
	struct msg msg;
	const char *logfile;
	const char *opt_file;
	const char *syms_dir;	    /* --with-syms */
	struct words file_words;    /*
				     * words of an option file; members of this struct may point
				     * into these words
				     */
	struct words script_words;  /*
				     * words of a script's first lines; members of this struct may
				     * point into these words
				     */
	int color;		    /* enum opts_color; main() derives @color_mode from @color */
	enum color_mode color_mode; /* for stdout; decided by main() */
	bool use_pager;
	int progress; /* enum opts_progress */
	/* SIGCHLD was ignored when utrail was started; main() stops ignoring SIGCHLD */
	bool ignores_children;

	/* Options that choose calls. Recorders and readers apply these options. */
	unsigned depth;
	uint64_t time_filter_ns;
	uint64_t size_filter;	/* bytes; 0: all */
	int demangle;		/* enum demangle_mode */
	bool show_libcalls;	/* --no-libcall: false */
	bool use_events;	/* --no-event: false */
	bool use_sched;		/* --no-sched: false */
	bool use_sched_preempt; /* --no-sched-preempt: false */
	bool event_full;
	bool kernel_full;
	bool kernel_only;
	bool trace_on; /* --trace=off, --disable: false */

	/*
	 * Options about functions, and about actions at calls of functions. The members with "spec"
	 * in their names have the text that the user typed. Other members, such as @filters, have
	 * the parsed options.
	 */
	/* by enum spec_option: a text on the heap that has the option's specs, separated by ';' */
	char *specs[SPEC_OPTIONS];
	/*
	 * a SPEC_MARK_* for each spec in specs[SPEC_FILTER]. The specs of -F after the last -N have
	 * no mark. Without -N, no spec has a mark
	 */
	struct strbuf filter_marks;
	int match;		 /* enum pattern_match */
	struct filters *filters; /* on the heap */
	/*
	 * the actions (enum trigger_flags) that the reader applies. In `live`, these are only some
	 * actions, because the recorder applies all others. In other readers, these are all actions
	 */
	uint32_t view_actions;
	char *signal_specs; /* on the heap; --signal */
	char *watch_specs;  /* on the heap; --watch */
	struct watch_spec watch;
	char *event_specs; /* on the heap; --Event */
	struct event_rules events;
	char *patch_specs; /* on the heap; --patch, --unpatch */
	/*
	 * a SPEC_MARK_* for each spec in @patch_specs. The specs of -P after the last -U have no
	 * mark. Without -U, no spec has a mark
	 */
	struct strbuf patch_marks;
	const char *trace_include_spec; /* --trace-include */
	const char *trace_exclude_spec;
	struct pattern trace_include; /* parsed @trace_include_spec, if the option was given */
	struct pattern trace_exclude; /* parsed @trace_exclude_spec, if the option was given */
	bool list_events;
	bool srcline;
	bool inlined;

	/*
	 * Options of record and live. Some of these options are stored in @rec directly. When
	 * recording begins, the recorder gets a copy of @rec. Settings that depend on other
	 * members of this struct are filled in only in the copy.
	 */
	struct record_settings rec;
	bool use_kernel;       /* -k */
	unsigned kernel_depth; /* -K; 0: not given */
	bool compact;
	int when_full; /* enum opts_full */
	bool keep_pid;
	char *pids;	 /* --pid: numbers and names, separated by ','; on the heap */
	uint64_t for_ns; /* --for, which is used with --pid; 0: no limit */
	const char *libmcount_path;
	bool libmcount_single; /* accepted without effect */
	bool list_functions;
	bool dry_run;
	bool no_pltbind;
	bool no_randomize_addr;
	bool nop;
	unsigned num_thread; /* 0: the number depends on the machine */
	bool show_time;
	bool live_report;
	bool live_record;
	bool live_tui;

	/* replay, live */
	bool flat;
	bool follow;	    /* replay: continue while the recording grows */
	bool live_at_end;   /* live: wait for the end of the program, then show its calls */
	bool merge_leaves;  /* --no-merge: false */
	bool show_args;	    /* --no-args: false */
	bool show_comments; /* --no-comment: false */
	bool show_callsite; /* --no-callsite: false */
	bool show_libname;
	bool column_view;
	unsigned column_offset;
	bool task_newline;
	const char *fields; /* -f; NULL: the default fields */
	struct time_range range;
	int *tids; /* on the heap; the tasks to show; all tasks when @nr_tids is 0 */
	size_t nr_tids;
	int format; /* enum opts_format */

	/* script */
	const char *script; /* -S */

	/* options of show */
	unsigned port; /* 0: any */
	bool no_browser;
	bool in_parts;
	bool as_whole; /* --no-parts */

	/* options of dump */
	uint64_t sample_time_ns; /* the time per sample of a flame graph; 0: not given */

	/* options of events */
	int export_as; /* enum opts_as */
	bool event_paths;
	bool export_calls;
	bool export_bare;
	bool no_limit;		 /* import, events import, build: --no-limit */
	const char *import_into; /* the recording to import into; NULL: a new one */
	/*
	 * --common: the format of the text that precedes the text of each event in a log; NULL:
	 * option not given
	 */
	const char *import_common;

	/* options of build */
	const char *output; /* -o; NULL: a name that depends on the format */
	bool appends;
	bool all_sources;
	bool has_assemblers;
	const char *declared; /* a file of make rules, or NULL */
	char *ignored_files;  /* on the heap; --ignore-files, separated by ';'; NULL: the default */
	const char *needs;    /* --needs: a file; NULL: option not given */
	/* --used-by: a file; NULL: option not given. At most one of @needs and @used_by is set */
	const char *used_by;
	const char *work_dir; /* the directory for .nfsdb; NULL: the working directory */
	struct {
		bool ignores_repeats;
		bool has_names;
		bool has_mounts;
		bool has_environment;
	} etrace;

	/* options of report and info */
	char *sort_keys;    /* on the heap; separated by ','; NULL: the default keys */
	bool average_total; /* at most one of @average_total and @average_self is set */
	bool average_self;
	bool by_task;
	char *diff_dirs;	 /* on the heap; separated by newlines; NULL: none */
	const char *diff_policy; /* NULL: the default */
	unsigned diff_sort_column;
	const char *callers_of; /* at most one member from @callers_of to @between is set */
	const char *callees_of;
	const char *histogram_of;
	const char *slowest_of;
	bool report_events;
	const char *between;
	bool show_symbols;
	bool show_system;
};

/*
 * True when `live` shows its recording with @opts. In this case the recorder has applied all
 * actions that are not in @view_actions.
 */
static inline bool opts_is_of_live(const struct opts *opts)
{
	return opts->view_actions != UINT32_MAX;
}

void opts_init(struct opts *opts);
void opts_deinit(struct opts *opts);
#define cleanup_opts cleanup(opts_deinit)

/*
 * Parse `utrail [options] [COMMAND] [options] [PROGRAM [its arguments]]`. Returns 0, -ENOMEM, or
 * -ERR_USAGE with the error message in @err. If an option file or a script cannot be read, returns
 * another negative errno with @err.
 *
 * The first word that is not an option is a command, or the PROGRAM of `live`. If there is no such
 * word, @opts->cmd is `live` with --list-event, and NULL without --list-event.
 * `help [COMMAND]` and `version` are parsed as --help and --version.
 */
int opts_parse(struct opts *opts, int argc, char **argv, struct uft_err *err);

/* Warn about options of the command line that do not apply to the command. */
void opts_warn_unused(const struct opts *opts);

/* The whole option table. The parser, help, man pages, completion and tests use this table. */
extern const struct opt_row opts_table[];
extern const size_t opts_table_nr;

/*
 * opts_has_typed(): true when the option @name is on the command line itself. opts_has_given():
 * true when it is on the command line, in an option file or in a script.
 */
bool opts_has_typed(const struct opts *opts, const char *name);
bool opts_has_given(const struct opts *opts, const char *name);

/* Returns the argument of --match for @match (enum pattern_match). MATCH_GLOB has "glob". */
const char *opts_match_word(int match);

/* All words of --format. */
extern const struct opt_word opts_format_words[];

/*
 * Returns the heading of the rows of group number @group. The first group has the number 0. Returns
 * NULL if there is no such group.
 */
const char *opts_group_title(int group);

/*
 * Returns the first row after @row that is in @group and applies to one of the commands @cmds.
 * Returns NULL when there is no such row. If @row is NULL, the search begins at the first row.
 */
const struct opt_row *opts_group_next(int group, unsigned cmds, const struct opt_row *row);

#endif
