/* The option table has one row per option. Help, man pages and completion come from the table. */
#include "cmds/opts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmds/cmd.h"
#include "cmds/complete.h"
#include "cmds/filter_opts.h"
#include "cmds/advice/unsupported.h"
#include "cmds/record/sources/flight.h"
#include "utils/export/export.h"
#include "utils/spec/regex/list.h"

#define RL   (CMD_RECORD | CMD_LIVE)
#define PL   (CMD_REPLAY | CMD_LIVE)
#define READ (CMD_REPLAY | CMD_REPORT | CMD_GRAPH | CMD_DUMP | CMD_SCRIPT | CMD_TUI | CMD_SHOW)
#define CALL (RL | READ) /* commands that record or show calls */
#define ALL                                                                                     \
	(CALL | CMD_INFO | CMD_SNAPSHOT | CMD_CONTROL | CMD_CONVERT | CMD_EVENTS | CMD_IMPORT | \
	 CMD_BUILD | CMD_SCRIPT)

enum group {
	GROUP_COMMON,
	GROUP_RECORD,
	GROUP_SELECT,
	GROUP_VIEW,
	GROUP_REPORT,
	GROUP_DUMP,
	GROUP_SHOW,
	GROUP_SCRIPT,
	GROUP_EVENTS,
	GROUP_BUILD,
	GROUP_INFO,
};

static const char *const group_titles[] = {
	[GROUP_COMMON] = "Common options",
	[GROUP_RECORD] = "Recording",
	[GROUP_SELECT] = "What to record or show",
	[GROUP_VIEW] = "How to show it",
	[GROUP_REPORT] = "Report",
	[GROUP_DUMP] = "Dump",
	[GROUP_SHOW] = "Show",
	[GROUP_SCRIPT] = "Script",
	[GROUP_EVENTS] = "Events",
	[GROUP_BUILD] = "Build",
	[GROUP_INFO] = "Info",
};

static const struct opt_word color_words[] = {
	{ "auto", OPTS_COLOR_AUTO },	   { "on", OPTS_COLOR_ON },
	{ "off", OPTS_COLOR_OFF },	   { "yes", OPTS_COLOR_ON },
	{ "no", OPTS_COLOR_OFF },	   { "true", OPTS_COLOR_ON, true },
	{ "false", OPTS_COLOR_OFF, true }, { "y", OPTS_COLOR_ON, true },
	{ "n", OPTS_COLOR_OFF, true },	   { "1", OPTS_COLOR_ON, true },
	{ "0", OPTS_COLOR_OFF, true },	   { NULL },
};

static const struct opt_word clock_words[] = {
	{ "mono", CLOCK_MONOTONIC },
	{ "mono_raw", CLOCK_MONOTONIC_RAW },
	{ "boot", CLOCK_BOOTTIME },
	{ "realtime", CLOCK_REALTIME },
	{ NULL },
};

static const struct opt_word proc_words[] = {
	{ "auto", PROC_WAY_AUTO },
	{ "ptrace", PROC_WAY_PTRACE },
	{ "bpf", PROC_WAY_BPF },
	{ NULL },
};

static const struct opt_word full_words[] = {
	{ "wait", OPTS_FULL_WAIT },
	{ "drop", OPTS_FULL_DROP },
	{ NULL },
};

const struct opt_word opts_format_words[] = {
	{ "normal", OPTS_FORMAT_NORMAL },
	{ "html", OPTS_FORMAT_HTML },
	{ "csv", OPTS_FORMAT_CSV },
	{ "json", OPTS_FORMAT_JSON },
#define EXPORT_WORD(name, word) { word, OPTS_FORMAT_EXPORT + EXPORT_##name },
	EXPORTERS(EXPORT_WORD)
#undef EXPORT_WORD
		{ NULL },
};

static const struct opt_word help_words[] = {
	{ "all", OPTS_SHOW_ALL_HELP },
	{ "often", OPTS_SHOW_HELP, true },
	{ NULL },
};

static const struct opt_word complete_words[] = {
	{ "events", OPTS_COMPLETE_EVENTS },	  { "fields", OPTS_COMPLETE_FIELDS },
	{ "functions", OPTS_COMPLETE_FUNCTIONS }, { "keys", OPTS_COMPLETE_KEYS },
	{ "tids", OPTS_COMPLETE_TIDS },		  { NULL },
};

static const struct opt_word as_words[] = {
	{ "fstrace", OPTS_AS_FSTRACE }, { "json", OPTS_AS_JSON },     { "csv", OPTS_AS_CSV },
	{ "posix", OPTS_AS_POSIX },	{ "compdb", OPTS_AS_COMPDB }, { "dot", OPTS_AS_DOT },
	{ "deps", OPTS_AS_DEPS },	{ "etrace", OPTS_AS_ETRACE }, { NULL },
};

static const struct opt_word match_words[] = {
	{ "regex", MATCH_REGEX },
	{ "glob", MATCH_GLOB },
	{ "simple", MATCH_SIMPLE },
	{ NULL },
};

static const struct opt_word demangle_words[] = {
	{ "simple", DEMANGLE_SIMPLE }, { "full", DEMANGLE_FULL },
	{ "no", DEMANGLE_NO },	       { "false", DEMANGLE_NO, true },
	{ "off", DEMANGLE_NO, true },  { "n", DEMANGLE_NO, true },
	{ "0", DEMANGLE_NO, true },    { NULL },
};

static int set_data_dir(const struct opt_row *row, const char *text, void *target,
			struct uft_err *err)
{
	struct opts *opts = target;
	size_t len = strlen(text);

	if (len == 0)
		return err_set(err, -ERR_USAGE, "option '--data' needs the name of a directory");
	if (len > 1 && text[len - 1] == '/')
		len--;

	char *copy = strndup(text, len);

	if (!copy)
		return -ENOMEM;
	free(opts->data_dir);
	opts->data_dir = copy;
	return 0;
}

static int set_debug_domain(const struct opt_row *row, const char *text, void *target,
			    struct uft_err *err)
{
	struct opts *opts = target;

	return msg_parse_domains(&opts->msg, text, err);
}

/* Takes "20%" or "20". */
static int set_overhead(const struct opt_row *row, const char *text, void *target,
			struct uft_err *err)
{
	struct opts *opts = target;
	char *end;
	long percent = strtol(text, &end, 10);

	if (end == text || *text == '-' || *text == '+' || (*end && strcmp(end, "%") != 0))
		return err_set(err, -ERR_USAGE,
			       "'%s' for '--overhead' is no percentage: 20%% is one", text);
	if (percent < 1 || percent > 100)
		return err_set(err, -ERR_USAGE,
			       "'%s' for '--overhead' is out of range: 1%% to 100%%", text);
	opts->rec.overhead_percent = percent;
	return 0;
}

/* Returns the name of the option that has set the time range: --last or --time-range (-r). */
static const char *range_option(const struct opts *opts)
{
	return opts->range.start.is_from_end ? "--last" : "--time-range";
}

/*
 * As in uftrace, -t and -r exclude each other. If the user gives -t and -r, the later option is
 * used. A warning says that the earlier option is ignored.
 */
static int set_time_filter(const struct opt_row *row, const char *text, void *target,
			   struct uft_err *err)
{
	struct opts *opts = target;
	struct opt_row plain = *row;

	plain.kind = OPT_TIME;
	plain.offset = offsetof(struct opts, time_filter_ns);

	int rc = opt_store(&plain, text, opts, err);

	if (rc == 0 && time_range_is_set(&opts->range)) {
		msg_warn(&opts->msg, "%s is ignored: it cannot be used together with --time-filter",
			 range_option(opts));
		opts->range = (struct time_range){ 0 };
	}
	return rc;
}

static int set_time_range(const struct opt_row *row, const char *text, void *target,
			  struct uft_err *err)
{
	struct opts *opts = target;
	bool is_last = row->value;

	if (time_range_is_set(&opts->range) && opts->range.start.is_from_end != is_last)
		return err_set(err, -ERR_USAGE,
			       "--last and --time-range cannot be used together: each of them says "
			       "where the part begins");
	if ((is_last ? time_range_parse_last : time_range_parse)(text, &opts->range, err) < 0) {
		err_prefix(err, "option '--%s'", row->name);
		return -ERR_USAGE;
	}
	if (opts->time_filter_ns) {
		msg_warn(&opts->msg, "--time-filter is ignored: it cannot be used together with %s",
			 range_option(opts));
		opts->time_filter_ns = 0;
	}
	return 0;
}

static int add_tid(struct opts *opts, int tid)
{
	int *tids = reallocarray(opts->tids, opts->nr_tids + 1, sizeof(*tids));

	if (!tids)
		return -ENOMEM;
	tids[opts->nr_tids++] = tid;
	opts->tids = tids;
	return 0;
}

static int set_tids(const struct opt_row *row, const char *text, void *target, struct uft_err *err)
{
	for (const char *at = text;; at++) {
		char *end;

		errno = 0;

		long tid = strtol(at, &end, 10);

		if (end == at || errno || tid <= 0 || tid > INT32_MAX ||
		    (*end && *end != ',' && *end != ';'))
			return err_set(
				err, -ERR_USAGE,
				"option '--tid': invalid task '%s': expected numbers above 0, "
				"separated by ','",
				text);

		int rc = add_tid(target, tid);

		if (rc < 0 || !*end)
			return rc;
		at = end;
	}
}

/* Appends the items of @text to @specs, each with a `!` before it. */
static int add_negated(char **specs, const char *text)
{
	struct strbuf list = { 0 };

	if (*specs)
		strbuf_addstr(&list, *specs);
	specs_add_notrace(&list, text);
	if (strbuf_oom(&list)) {
		strbuf_deinit(&list);
		return -ENOMEM;
	}
	free(*specs);
	*specs = list.data;
	return 0;
}

/* Appends @mark to @marks until each item of @specs has a mark. */
static void add_marks(struct strbuf *marks, const char *specs, char mark)
{
	size_t nr = 0;

	for (struct spec_piece one = { 0 }; specs && spec_list_next(specs, &one);) {
		if (++nr > marks->len)
			strbuf_addch(marks, mark);
	}
}

/* Appends the items of @text to @specs, each negated. Marks these items as items of -N or -U. */
static int add_marked(char **specs, struct strbuf *marks, const char *text)
{
	add_marks(marks, *specs, SPEC_MARK_PLAIN);

	int ret = add_negated(specs, text);

	if (ret == 0)
		add_marks(marks, *specs, SPEC_MARK_NEGATED);
	return ret;
}

/*
 * -N X is short for -F !X. The only difference is in messages, which name the option that the user
 * gave.
 */
static int set_notrace(const struct opt_row *row, const char *text, void *target,
		       struct uft_err *err)
{
	struct opts *opts = target;

	return add_marked(&opts->specs[SPEC_FILTER], &opts->filter_marks, text);
}

/* -U X is short for -P !X. */
static int set_unpatch(const struct opt_row *row, const char *text, void *target,
		       struct uft_err *err)
{
	struct opts *opts = target;

	return add_marked(&opts->patch_specs, &opts->patch_marks, text);
}

static int set_trace_off(const struct opt_row *row, const char *text, void *target,
			 struct uft_err *err)
{
	struct opts *opts = target;

	opts->trace_on = false;
	msg_warn(&opts->msg, "--disable is an old name: use --trace=off");
	return 0;
}

/* Takes --chrome and similar old options, whose name is the format. */
static int set_old_format(const struct opt_row *row, const char *text, void *target,
			  struct uft_err *err)
{
	struct opts *opts = target;

	for (const struct opt_word *word = opts_format_words; word->word; word++) {
		if (strcmp(word->word, row->name) == 0)
			opts->format = word->value;
	}
	msg_warn(&opts->msg, "--%s is an old name: use --format=%s", row->name, row->name);
	return 0;
}

#define MEMBER(name) .offset = offsetof(struct opts, name)

/*
 * Makes the row of an option that only uftrace has. The row applies to no command, so no list shows
 * the option.
 */
#define LACKING(name, letter, arg, instead)                                                     \
	{                                                                                       \
		name, letter, arg, instead, GROUP_COMMON, 0, OPT_SET, .set = unsupported_refuse \
	}
#define NETWORK_INSTEAD \
	"record where the program runs, copy the data directory, and read it with -d"

/* clang-format off */
const struct opt_row opts_table[] = {
	{ "help", 'h', "all", "show examples and the options that are used often, or all options, and exit",
	  GROUP_COMMON, ALL, OPT_WORD, MEMBER(show), .words = help_words, .without = "often" },
	{ "usage", 0, NULL, "show a short usage message, and exit",
	  GROUP_COMMON, ALL, OPT_CONST, MEMBER(show), .value = OPTS_SHOW_USAGE },
	{ "version", 'V', NULL, "show the version and what was built in, and exit",
	  GROUP_COMMON, ALL, OPT_CONST, MEMBER(show), .value = OPTS_SHOW_VERSION },
	{ "data", 'd', "DIR", "the data directory (default: " OPTS_DEFAULT_DIR ")",
	  GROUP_COMMON, ALL, OPT_SET, .set = set_data_dir },
	{ "verbose", 'v', NULL, "show debug messages; more of them each time it is given",
	  GROUP_COMMON, ALL, OPT_COUNT, MEMBER(msg.level) },
	{ "debug", 0, NULL, "same as --verbose",
	  GROUP_COMMON, ALL, OPT_COUNT, MEMBER(msg.level) },
	{ "debug-domain", 0, "DOMAIN[:LEVEL],...", "show debug messages of these domains only",
	  GROUP_COMMON, ALL, OPT_SET, .set = set_debug_domain },
	{ "logfile", 0, "FILE", "append warnings, errors and debug messages to FILE",
	  GROUP_COMMON, ALL, OPT_STRING, MEMBER(logfile) },
	{ "opt-file", 0, "FILE", "take options from FILE, too: words as on the command line, # comments",
	  GROUP_COMMON, ALL, OPT_STRING, MEMBER(opt_file) },
	{ "color", 0, "WHEN", "use colours: on, off or auto (default: auto, on a terminal)",
	  GROUP_COMMON, ALL, OPT_WORD, MEMBER(color), .words = color_words },
	{ "complete", 0, "WHAT", "print words for the completion of shells: events, fields, functions, keys or tids",
	  GROUP_COMMON, ALL, OPT_WORD, MEMBER(complete), .words = complete_words },
	{ "no-pager", 0, NULL, "do not show the output in a pager",
	  GROUP_COMMON, ALL, OPT_FALSE, MEMBER(use_pager) },
	{ "no-progress", 0, NULL, "do not show the progress on the terminal",
	  GROUP_COMMON, CMD_RECORD | READ, OPT_CONST, MEMBER(progress), .value = OPTS_PROGRESS_OFF },

	{ "agent", 'g', NULL, "let 'control' and 'live --pid' change what is recorded while the program runs",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(rec.has_agent) },
	{ "buffer", 'b', "SIZE", "size of the buffer of each task (default: 128k)",
	  GROUP_RECORD, RL, OPT_SIZE, MEMBER(rec.segment_bytes), .min = 1, .max = 1ULL << 30 },
	{ "clock", 0, "CLOCK", "time source: mono, mono_raw, boot or realtime (default: mono)",
	  GROUP_RECORD, RL, OPT_WORD, MEMBER(rec.clock_id), .words = clock_words },
	{ "crash-report", 0, NULL, "when a signal ends the program, print the calls that were running",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(rec.reports_crashes) },
	{ "disable", 0, NULL, "old name of --trace=off",
	  GROUP_RECORD, RL | CMD_REPLAY, OPT_SET, .set = set_trace_off },
	{ "estimate-return", 'e', NULL, "leave return addresses alone and guess when calls end",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(rec.estimates_return) },
	{ "keep-returns", 0, "LIB",
	  "do not replace return addresses into files whose names begin with LIB (. is the program), and guess when these calls end",
	  GROUP_RECORD, RL, OPT_LIST, MEMBER(rec.keep_returns), .separator = ',' },
	{ "replace-returns", 0, "LIB",
	  "replace return addresses into files whose names begin with LIB, even if that is not safe; jit: into memory of no file",
	  GROUP_RECORD, RL, OPT_LIST, MEMBER(rec.replace_returns), .separator = ',' },
	{ "compact", 0, NULL, "write records in an eighth of the space; for other programs there is utrail convert",
	  GROUP_RECORD, CMD_RECORD | CMD_CONVERT, OPT_TRUE, MEMBER(compact) },
	{ "flight", 0, "SIZE",
	  "keep only the newest SIZE of each task's records; saved at the end and by snapshot",
	  GROUP_RECORD, RL, OPT_SIZE, MEMBER(rec.flight_bytes), .min = FLIGHT_BYTES_MIN,
	  .max = 1ULL << 36 },
	{ "for", 0, "TIME", "with -p: record for that long",
	  GROUP_RECORD, RL, OPT_TIME, MEMBER(for_ns) },
	{ "force", 0, NULL, "run the program even if nothing in it can be traced",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(rec.force) },
	{ "keep-pid", 0, NULL, "run the program in utrail's own process, and the recorder in another one",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(keep_pid) },
	{ "kernel", 'k', NULL, "record calls of the kernel's functions, too (root)",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(use_kernel) },
	{ "kernel-buffer", 0, "SIZE", "size of the kernel's buffer of each CPU (default: 1408k, and up to 4m with -K)",
	  GROUP_RECORD, RL, OPT_SIZE, MEMBER(rec.kernel_buffer_bytes), .min = 1, .max = 1ULL << 30 },
	{ "kernel-depth", 'K', "DEPTH", "record DEPTH levels of the kernel's calls, 1 to 50 (default: 1); implies -k",
	  GROUP_RECORD, RL, OPT_UINT, MEMBER(kernel_depth), .min = 1, .max = 50 },
	{ "libmcount-path", 0, "PATH", "take libmcount.so from this directory",
	  GROUP_RECORD, RL, OPT_STRING, MEMBER(libmcount_path) },
	{ "library-path", 0, "PATH", "old name of --libmcount-path",
	  GROUP_RECORD, RL, OPT_STRING, MEMBER(libmcount_path) },
	{ "libmcount-single", 0, NULL, "no effect: one library is enough for all programs (uftrace has two)",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(libmcount_single) },
	{ "max-size", 0, "SIZE", "stop when SIZE was written (with --flight: drop the oldest tasks)",
	  GROUP_RECORD, RL, OPT_SIZE, MEMBER(rec.max_bytes), .min = 64 << 10, .max = INT64_MAX },
	{ "list-functions", 0, NULL, "show which functions of the program could be traced (see -F), and exit",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(list_functions) },
	{ "dry-run", 0, NULL, "show which functions --patch would patch and why others cannot be (-v: each of them), and exit",
	  GROUP_RECORD, CMD_RECORD, OPT_TRUE, MEMBER(dry_run) },
	{ "no-cache", 0, NULL, "find the functions of files anew: neither read nor write the cache in ~/.cache/utrail",
	  GROUP_RECORD, RL, OPT_FALSE, MEMBER(rec.uses_cache) },
	{ "list-event", 0, NULL, "show which events could be recorded (see -E), of the kernel and of the program, and exit",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(list_events) },
	{ "trace-include", 0, "RE", "events that the program declares (fstrace): record those whose id matches",
	  GROUP_RECORD, RL, OPT_STRING, MEMBER(trace_include_spec) },
	{ "trace-exclude", 0, "RE", "events that the program declares (fstrace): do not record those whose id matches",
	  GROUP_RECORD, RL, OPT_STRING, MEMBER(trace_exclude_spec) },
	{ "max-stack", 0, "DEPTH", "deepest call that is followed, 1 to 65535 (default: 1024)",
	  GROUP_RECORD, RL, OPT_UINT, MEMBER(rec.max_stack), .min = 1, .max = 65535 },
	{ "nest-libcall", 'l', NULL, "record calls between libraries, too; implies --force",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(rec.nest_libcalls) },
	{ "no-pltbind", 0, NULL, "look library functions up for each call (LD_BIND_NOT)",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(no_pltbind) },
	{ "no-proc-files", 0, NULL, "with --proc: record no acts on files; then the program outlives a killed recorder in any case",
	  GROUP_RECORD, CMD_RECORD, OPT_FALSE, MEMBER(rec.traces_files) },
	{ "no-randomize-addr", 0, NULL, "run the program without address space randomization",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(no_randomize_addr) },
	{ "nop", 0, NULL, "run the program with a probe that does nothing and record nothing",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(nop) },
	{ "num-thread", 0, "N", "number of threads that write the data, or read it (default: by the number of CPUs)",
	  GROUP_RECORD, RL | CMD_REPORT | CMD_GRAPH | CMD_DUMP | CMD_TUI | CMD_SHOW, OPT_UINT, MEMBER(num_thread), .min = 1, .max = 1024 },
	{ "overhead", 0, "PERCENT", "leave out the hottest functions once recording takes more than PERCENT of the program's time, 1% to 100%",
	  GROUP_RECORD, RL, OPT_SET, .set = set_overhead },
	{ "proc", 0, "auto|ptrace|bpf", "record acts of processes, too: fork, exec, exit and acts on files, of the program and all its descendants",
	  GROUP_RECORD, CMD_RECORD | CMD_BUILD, OPT_WORD, MEMBER(rec.proc_way), .words = proc_words, .without = "auto" },
	{ "proc-env", 0, NULL, "with --proc: record the environment of each program that is run, secrets and all",
	  GROUP_RECORD, CMD_RECORD, OPT_TRUE, MEMBER(rec.traces_environment) },
	{ "progress", 0, NULL, "show how many calls were recorded so far, also on a terminal that the program writes to",
	  GROUP_RECORD, CMD_RECORD, OPT_CONST, MEMBER(progress), .value = OPTS_PROGRESS_ON },
	{ "record", 0, NULL, "live: keep the recorded data in the data directory; script: record a program first",
	  GROUP_RECORD, CMD_LIVE | CMD_SCRIPT, OPT_TRUE, MEMBER(live_record) },
	{ "pid", 'p', "PID,...", "record processes that run already, by their numbers or names, until Ctrl-C",
	  GROUP_RECORD, RL, OPT_LIST, MEMBER(pids), .separator = ',' },
	{ "rt-prio", 0, "PRIO", "real-time priority of the writer threads, 1 to 99",
	  GROUP_RECORD, RL, OPT_UINT, MEMBER(rec.rt_prio), .min = 1, .max = 99 },
	{ "time", 0, NULL, "show elapsed, system and user time after the run",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(show_time) },
	{ "trace", 0, "on|off", "begin with recording or showing on or off (default: on)",
	  GROUP_RECORD, CALL, OPT_BOOL, MEMBER(trace_on) },
	{ "when-full", 0, "POLICY", "a full buffer makes the program wait, or drop records and count them",
	  GROUP_RECORD, RL, OPT_WORD, MEMBER(when_full), .words = full_words },

	{ "filter", 'F', "FUNC[@...]", "only these functions and what they call",
	  GROUP_SELECT, CALL | CMD_EVENTS, OPT_LIST, MEMBER(specs[SPEC_FILTER]), .separator = ';' },
	{ "notrace", 'N', "FUNC", "not these functions, nor what they call",
	  GROUP_SELECT, CALL | CMD_EVENTS, OPT_SET, .set = set_notrace },
	{ "caller-filter", 'C', "FUNC", "only these functions and the calls that lead to them",
	  GROUP_SELECT, CALL | CMD_EVENTS, OPT_LIST, MEMBER(specs[SPEC_CALLER]), .separator = ';' },
	{ "hide", 'H', "FUNC", "leave out the lines of these functions, but not what they call",
	  GROUP_SELECT, READ | CMD_LIVE | CMD_EVENTS, OPT_LIST, MEMBER(specs[SPEC_HIDE]), .separator = ';' },
	{ "loc-filter", 'L', "FILE[@hide]", "only functions of these source files or folders; !FILE: all but those",
	  GROUP_SELECT, CALL | CMD_EVENTS, OPT_LIST, MEMBER(specs[SPEC_LOCATION]), .separator = ';' },
	{ "trigger", 'T', "FUNC@ACTION,...", "do something when these functions are called",
	  GROUP_SELECT, CALL | CMD_EVENTS, OPT_LIST, MEMBER(specs[SPEC_TRIGGER]), .separator = ';' },
	{ "argument", 'A', "FUNC[@ARG,...]", "record arguments of these functions",
	  GROUP_SELECT, RL, OPT_LIST, MEMBER(specs[SPEC_ARGUMENT]), .separator = ';' },
	{ "retval", 'R', "FUNC[@retval]", "record what these functions return",
	  GROUP_SELECT, RL, OPT_LIST, MEMBER(specs[SPEC_RETVAL]), .separator = ';' },
	{ "auto-args", 'a', NULL, "record all arguments and return values whose types are known",
	  GROUP_SELECT, RL, OPT_TRUE, MEMBER(rec.captures.is_auto) },
	{ "arg-elements", 0, "N",
	  "with -a: record the first N elements of containers, 0 to 255 (default: 8)",
	  GROUP_SELECT, RL, OPT_UINT, MEMBER(rec.captures.elements), .min = 0, .max = 255 },
	{ "srcline", 0, NULL, "record, or show, the source line of each function",
	  GROUP_SELECT, RL | CMD_REPLAY | CMD_REPORT | CMD_GRAPH | CMD_TUI, OPT_TRUE, MEMBER(srcline) },
	{ "signal", 0, "SIGNAL@ACTION", "on this signal: trace_on, trace_off or finish",
	  GROUP_SELECT, RL, OPT_LIST, MEMBER(signal_specs), .separator = ';' },
	{ "watch", 'W', "WHAT", "record each change of WHAT: cpu, or var:NAME of the program",
	  GROUP_SELECT, RL, OPT_LIST, MEMBER(watch_specs), .separator = ';' },
	{ "match", 0, "TYPE", "how to read names of functions: regex, glob or simple (default: regex)",
	  GROUP_SELECT, CALL | CMD_CONTROL | CMD_EVENTS, OPT_WORD, MEMBER(match), .words = match_words },
	{ "with-syms", 0, "DIR", "take symbols from the .sym files in DIR, for programs without them",
	  GROUP_SELECT, CALL | CMD_INFO | CMD_EVENTS, OPT_STRING, MEMBER(syms_dir) },
	{ "depth", 'D', "DEPTH", "only calls within DEPTH levels, 1 to 65534 (default: 1024)",
	  GROUP_SELECT, CALL | CMD_EVENTS, OPT_UINT, MEMBER(depth), .min = 1, .max = 65534 },
	{ "time-filter", 't', "TIME", "only calls that took TIME or longer, and their callers",
	  GROUP_SELECT, CALL | CMD_EVENTS, OPT_SET, .is_recorded = true, .set = set_time_filter },
	{ "size-filter", 'Z', "SIZE", "only functions of SIZE bytes or more",
	  GROUP_SELECT, CALL | CMD_EVENTS, OPT_SIZE, MEMBER(size_filter), .min = 1, .max = INT64_MAX },
	{ "time-range", 'r', "FROM~TO",
	  "only this part: timestamps (12.000000345) or times since the start (1.5ms)",
	  GROUP_SELECT, READ | CMD_LIVE | CMD_EVENTS, OPT_SET, .set = set_time_range },
	{ "last", 0, "TIME", "only the last TIME of the recording, up to its last record",
	  GROUP_SELECT, READ | CMD_EVENTS, OPT_SET, .value = true, .set = set_time_range },
	{ "tid", 0, "TID,...", "only these tasks",
	  GROUP_SELECT, READ | CMD_EVENTS, OPT_SET, .set = set_tids },
	{ "no-libcall", 0, NULL, "leave out calls of library functions",
	  GROUP_SELECT, CALL, OPT_FALSE, MEMBER(show_libcalls) },
	{ "Event", 'E', "EVENT", "events to record, or to show: PROVIDER:EVENT of the program, or with @kernel of the kernel",
	  GROUP_SELECT, RL | READ | CMD_EVENTS, OPT_LIST, MEMBER(event_specs), .separator = ';' },
	{ "patch", 'P', "FUNC[@LIB]", "put hooks into these functions only, compiled with room for them or not (. means all); !FUNC: not",
	  GROUP_SELECT, RL, OPT_LIST, MEMBER(patch_specs), .separator = ';' },
	{ "unpatch", 'U', "FUNC[@LIB]", "no hooks in these functions: those of -pg or of room for hooks are taken out",
	  GROUP_SELECT, RL, OPT_SET, .set = set_unpatch },
	{ "no-event", 0, NULL, "leave out events, except those of -T and -W",
	  GROUP_SELECT, CALL, OPT_FALSE, MEMBER(use_events) },
	{ "no-sched", 0, NULL, "leave out scheduling events",
	  GROUP_SELECT, CALL, OPT_FALSE, MEMBER(use_sched) },
	{ "no-sched-preempt", 0, NULL, "leave out scheduling events where the task was pre-empted",
	  GROUP_SELECT, CMD_REPLAY | CMD_REPORT | CMD_GRAPH | CMD_SCRIPT | CMD_TUI, OPT_FALSE, MEMBER(use_sched_preempt) },
	{ "event-full", 0, NULL, "show events outside of functions too",
	  GROUP_SELECT, READ | CMD_LIVE, OPT_TRUE, .is_recorded = true, MEMBER(event_full) },
	{ "kernel-full", 0, NULL, "show calls of the kernel outside of functions too",
	  GROUP_SELECT, READ | CMD_LIVE, OPT_TRUE, .is_recorded = true, MEMBER(kernel_full) },
	{ "kernel-only", 0, NULL, "show no calls but those of the kernel",
	  GROUP_SELECT, READ | CMD_LIVE, OPT_TRUE, MEMBER(kernel_only) },
	{ "kernel-skip-out", 0, NULL, "the default: calls of the kernel outside of functions are left out",
	  GROUP_SELECT, READ | CMD_LIVE, OPT_FALSE, MEMBER(kernel_full) },

	{ "demangle", 0, "TYPE", "names of functions: simple, full (also '.part.0') or no (default: simple)",
	  GROUP_VIEW, READ | CMD_LIVE | CMD_INFO | CMD_EVENTS, OPT_WORD, MEMBER(demangle),
	  .words = demangle_words },
	{ "output-fields", 'f', "FIELD,...", "columns to show; +FIELD adds; all; none",
	  GROUP_VIEW, PL | CMD_REPORT | CMD_GRAPH | CMD_TUI, OPT_STRING, MEMBER(fields) },
	{ "format", 0, "FORMAT", "normal, html; for report csv, json; for dump see utrail-dump(1) (default: normal)",
	  GROUP_VIEW, PL | CMD_REPORT | CMD_GRAPH | CMD_DUMP, OPT_WORD, MEMBER(format),
	  .words = opts_format_words },
	{ "flat", 0, NULL, "one line per record, for debugging",
	  GROUP_VIEW, PL, OPT_TRUE, MEMBER(flat) },
	{ "follow", 0, NULL, "show calls while they are recorded, until the recording ends",
	  GROUP_VIEW, CMD_REPLAY, OPT_TRUE, MEMBER(follow) },
	{ "no-follow", 0, NULL, "show the calls when the program has ended, not while it runs",
	  GROUP_VIEW, CMD_LIVE, OPT_TRUE, MEMBER(live_at_end) },
	{ "tui", 0, NULL, "show the calls on the screen, as utrail tui does, while the program runs",
	  GROUP_VIEW, CMD_LIVE, OPT_TRUE, MEMBER(live_tui) },
	{ "no-merge", 0, NULL, "show leaf functions with a line for the entry and one for the exit",
	  GROUP_VIEW, PL, OPT_FALSE, MEMBER(merge_leaves) },
	{ "no-args", 0, NULL, "leave out arguments and return values",
	  GROUP_VIEW, PL | CMD_DUMP | CMD_SCRIPT | CMD_SHOW, OPT_FALSE, MEMBER(show_args) },
	{ "no-comment", 0, NULL, "leave out the comments after closing braces",
	  GROUP_VIEW, PL, OPT_FALSE, MEMBER(show_comments) },
	{ "no-callsite", 0, NULL, "leave out the places that calls come from; recorded with callsite",
	  GROUP_VIEW, PL, OPT_FALSE, MEMBER(show_callsite) },
	{ "inline", 0, NULL, "show what was inlined into each function; recorded with --srcline",
	  GROUP_VIEW, PL, OPT_TRUE, MEMBER(inlined) },
	{ "libname", 0, NULL, "show the library of library functions",
	  GROUP_VIEW, PL, OPT_TRUE, MEMBER(show_libname) },
	{ "column-view", 0, NULL, "show each task in a column of its own",
	  GROUP_VIEW, PL, OPT_TRUE, MEMBER(column_view) },
	{ "column-offset", 0, "DEPTH", "distance of the columns (default: 8)",
	  GROUP_VIEW, PL, OPT_UINT, MEMBER(column_offset), .min = 0, .max = 1024 },
	{ "task-newline", 0, NULL, "show an empty line where the task changes",
	  GROUP_VIEW, PL, OPT_TRUE, MEMBER(task_newline) },
	{ "report", 0, NULL, "show a report first; live: before the replay",
	  GROUP_VIEW, CMD_LIVE | CMD_TUI, OPT_TRUE, MEMBER(live_report) },

	{ "sort", 's', "KEY,...", "order of the rows (default: total)",
	  GROUP_REPORT, CMD_REPORT | CMD_TUI, OPT_LIST, MEMBER(sort_keys), .separator = ',' },
	{ "avg-total", 0, NULL, "show average, minimum, maximum of the total time",
	  GROUP_REPORT, CMD_REPORT, OPT_TRUE, MEMBER(average_total) },
	{ "avg-self", 0, NULL, "show average, minimum, maximum of the self time",
	  GROUP_REPORT, CMD_REPORT, OPT_TRUE, MEMBER(average_self) },
	{ "task", 0, NULL, "show tasks instead of functions",
	  GROUP_REPORT, CMD_REPORT | CMD_GRAPH | CMD_INFO, OPT_TRUE, MEMBER(by_task) },

	{ "diff", 0, "DIR", "compare with this recording; report: given several times, with their average",
	  GROUP_REPORT, CMD_REPORT | CMD_GRAPH | CMD_DUMP, OPT_LIST, MEMBER(diff_dirs), .separator = '\n' },
	{ "diff-policy", 0, "WORD,...", "abs, percent, compact, each also with no-, or full (default: abs,compact)",
	  GROUP_REPORT, CMD_REPORT, OPT_STRING, MEMBER(diff_policy) },
	{ "sort-column", 0, "N", "sort a comparison by base (0), pair (1) or difference (2, the default)",
	  GROUP_REPORT, CMD_REPORT, OPT_UINT, MEMBER(diff_sort_column), .min = 0, .max = 2 },
	{ "callers", 0, "FUNC", "show who called this function",
	  GROUP_REPORT, CMD_REPORT, OPT_STRING, MEMBER(callers_of) },
	{ "callees", 0, "FUNC", "show what this function called",
	  GROUP_REPORT, CMD_REPORT, OPT_STRING, MEMBER(callees_of) },
	{ "histogram", 0, "FUNC", "show how the times of this function's calls are distributed",
	  GROUP_REPORT, CMD_REPORT, OPT_STRING, MEMBER(histogram_of) },
	{ "slowest", 0, "FUNC", "show when the slowest calls of this function were, and how to see them",
	  GROUP_REPORT, CMD_REPORT, OPT_STRING, MEMBER(slowest_of) },
	{ "events", 0, NULL, "show events instead of functions: how many, and the times between them",
	  GROUP_REPORT, CMD_REPORT, OPT_TRUE, MEMBER(report_events) },
	{ "between", 0, "ID1,ID2[,FIELD...]", "show how long it takes from one event to another one with the same fields",
	  GROUP_REPORT, CMD_REPORT, OPT_STRING, MEMBER(between) },

	{ "sample-time", 0, "TIME", "the time that one sample of --format=flame-graph stands for",
	  GROUP_DUMP, CMD_DUMP, OPT_TIME, MEMBER(sample_time_ns) },
	{ "chrome", 0, NULL, "old name of --format=chrome",
	  GROUP_DUMP, CMD_DUMP, OPT_SET, .set = set_old_format },
	{ "flame-graph", 0, NULL, "old name of --format=flame-graph",
	  GROUP_DUMP, CMD_DUMP, OPT_SET, .set = set_old_format },
	{ "graphviz", 0, NULL, "old name of --format=graphviz",
	  GROUP_DUMP, CMD_DUMP, OPT_SET, .set = set_old_format },
	{ "mermaid", 0, NULL, "old name of --format=mermaid",
	  GROUP_DUMP, CMD_DUMP, OPT_SET, .set = set_old_format },

	{ "no-browser", 0, NULL, "start no browser: the address is printed",
	  GROUP_SHOW, CMD_SHOW, OPT_TRUE, MEMBER(no_browser) },
	{ "no-parts", 0, NULL, "put all calls into the page, however many there are, with arguments, events and processes",
	  GROUP_SHOW, CMD_SHOW, OPT_TRUE, MEMBER(as_whole) },
	{ "parts", 0, NULL, "give the page its calls in parts as the user zooms, however few there are",
	  GROUP_SHOW, CMD_SHOW, OPT_TRUE, MEMBER(in_parts) },
	{ "port", 0, "PORT", "the port that the page is served at (default: a free one)",
	  GROUP_SHOW, CMD_SHOW, OPT_UINT, MEMBER(port), .min = 1, .max = 65535 },

	{ "script", 'S', "FILE", "the script to run: FILE.py in Python 3, FILE.lua in Lua",
	  GROUP_SCRIPT, CMD_SCRIPT | CMD_RECORD | CMD_LIVE, OPT_STRING, MEMBER(script) },

	{ "as", 0, "FORMAT", "events export: fstrace (lines of a log), json, csv, posix (a log of POSIX Trace) or etrace (processes and files); build: compdb (default), json, dot, deps or etrace",
	  GROUP_EVENTS, CMD_EVENTS | CMD_BUILD, OPT_WORD, MEMBER(export_as), .words = as_words },
	{ "path", 0, NULL, "events show: the calls that each event was made in, innermost first",
	  GROUP_EVENTS, CMD_EVENTS, OPT_TRUE, MEMBER(event_paths) },
	{ "calls", 0, NULL, "events export --as=posix: entries and exits of functions, too",
	  GROUP_EVENTS, CMD_EVENTS, OPT_TRUE, MEMBER(export_calls) },
	{ "bare", 0, NULL, "events export --as=etrace: lines without \"0: \" in front, and Env| for Env[0]",
	  GROUP_EVENTS, CMD_EVENTS, OPT_TRUE, MEMBER(export_bare) },
	{ "into", 0, "DIR", "import, events import: add to this recording",
	  GROUP_EVENTS, CMD_EVENTS | CMD_IMPORT, OPT_STRING, MEMBER(import_into) },
	{ "no-limit", 0, NULL, "import, events import, build: no limits on memory, time and disk",
	  GROUP_EVENTS, CMD_IMPORT | CMD_EVENTS | CMD_BUILD, OPT_TRUE, MEMBER(no_limit) },
	{ "common", 0, "FORMAT", "events import: the common format of the logs, to find %P and %T",
	  GROUP_EVENTS, CMD_EVENTS, OPT_STRING, MEMBER(import_common) },

	{ "output", 'o', "FILE", "write to FILE, - is standard output (default: compile_commands.json, for etrace .nfsdb, for all others -)",
	  GROUP_BUILD, CMD_BUILD, OPT_STRING, MEMBER(output) },
	{ "append", 0, NULL, "keep those entries of an earlier compile_commands.json that the build has not made anew",
	  GROUP_BUILD, CMD_BUILD, OPT_TRUE, MEMBER(appends) },
	{ "all", 0, NULL, "sources that are gone, no regular files, or below /tmp have entries, too",
	  GROUP_BUILD, CMD_BUILD, OPT_TRUE, MEMBER(all_sources) },
	{ "assemblers", 0, NULL, "sources of as, nasm and yasm have entries, too, not only those of compilers",
	  GROUP_BUILD, CMD_BUILD, OPT_TRUE, MEMBER(has_assemblers) },
	{ "declared", 0, "FILE", "with --as=deps: also say what is missing in the rules of make in FILE (of make -pn, or .d files)",
	  GROUP_BUILD, CMD_BUILD, OPT_STRING, MEMBER(declared) },
	{ "ignore-files", 0, "GLOB", "dependencies: leave out files whose whole path matches (default: default, the C library's own; none: show all)",
	  GROUP_BUILD, CMD_BUILD, OPT_LIST, MEMBER(ignored_files), .separator = ';' },
	{ "needs", 0, "FILE", "list the files that FILE was made of, directly or by way of others",
	  GROUP_BUILD, CMD_BUILD, OPT_STRING, MEMBER(needs) },
	{ "used-by", 0, "FILE", "list the files that were made of FILE, directly or by way of others",
	  GROUP_BUILD, CMD_BUILD, OPT_STRING, MEMBER(used_by) },

	{ "work-dir", 'w', "DIR", "with --as=etrace: write .nfsdb into DIR, not into the working directory",
	  GROUP_BUILD, CMD_BUILD, OPT_STRING, MEMBER(work_dir) },
	{ "ignore-repeated-opens", 'i', NULL, "with --as=etrace: leave out a file that a task opens again and again in the same way",
	  GROUP_BUILD, CMD_BUILD, OPT_TRUE, MEMBER(etrace.ignores_repeats) },
	{ "thread-names", 't', NULL, "with --as=etrace: names of tasks, too",
	  GROUP_BUILD, CMD_BUILD, OPT_TRUE, MEMBER(etrace.has_names) },
	{ "mounts", 'm', NULL, "with --as=etrace: mounts, too",
	  GROUP_BUILD, CMD_BUILD, OPT_TRUE, MEMBER(etrace.has_mounts) },
	{ "environment", 'e', NULL, "with --as=etrace: the environment of each program that is run, secrets and all",
	  GROUP_BUILD, CMD_BUILD, OPT_TRUE, MEMBER(etrace.has_environment) },

	{ "symbols", 0, NULL, "show the symbol tables",
	  GROUP_INFO, CMD_INFO, OPT_TRUE, MEMBER(show_symbols) },
	{ "system", 0, NULL, "show this machine; needs no data",
	  GROUP_INFO, CMD_INFO, OPT_TRUE, MEMBER(show_system) },

	LACKING("host", 0, "HOST", NETWORK_INSTEAD),
	LACKING("run-cmd", 0, "CMDLINE", NETWORK_INSTEAD),
};
/* clang-format on */

const size_t opts_table_nr = ARRAY_SIZE(opts_table);
_Static_assert(ARRAY_SIZE(opts_table) <= OPTS_ROWS_MAX, "each row has its place in opts.typed");

static bool has_named(const bool rows[static OPTS_ROWS_MAX], const char *name)
{
	for (size_t i = 0; i < opts_table_nr; i++) {
		if (rows[i] && strcmp(opts_table[i].name, name) == 0)
			return true;
	}
	return false;
}

bool opts_has_typed(const struct opts *opts, const char *name)
{
	return has_named(opts->typed, name);
}

bool opts_has_given(const struct opts *opts, const char *name)
{
	return has_named(opts->typed, name) || has_named(opts->in_files, name);
}

const char *opts_match_word(int match)
{
	const struct opt_word *word = match_words;

	while (word->word && (int)word->value != match)
		word++;
	return word->word;
}

const char *opts_group_title(int group)
{
	return group >= 0 && (size_t)group < ARRAY_SIZE(group_titles) ? group_titles[group] : NULL;
}

const struct opt_row *opts_group_next(int group, unsigned cmds, const struct opt_row *row)
{
	for (row = row ? row + 1 : opts_table; row < opts_table + opts_table_nr; row++) {
		if (row->group == group && row->cmds & cmds)
			return row;
	}
	return NULL;
}

void opts_init(struct opts *opts)
{
	*opts = (struct opts){
		.use_pager = true,
		.depth = OPTS_DEFAULT_DEPTH,
		.view_actions = UINT32_MAX,
		.demangle = DEMANGLE_SIMPLE,
		.show_libcalls = true,
		.use_events = true,
		.use_sched = true,
		.use_sched_preempt = true,
		.trace_on = true,
		.rec = {
			.segment_bytes = 128 << 10,
			.clock_id = CLOCK_MONOTONIC,
			.max_stack = 1024,
			.traces_files = true,
			.uses_cache = true,
			.captures.elements = 8,
		},
		.merge_leaves = true,
		.show_args = true,
		.show_comments = true,
		.show_callsite = true,
		.column_offset = 8,
		.diff_sort_column = 2,
	};
}

void opts_deinit(struct opts *opts)
{
	optparse_free(opts_table, opts_table_nr, opts);
	words_deinit(&opts->file_words);
	words_deinit(&opts->script_words);
	free(opts->data_dir);
	free(opts->tids);
	strbuf_deinit(&opts->patch_marks);
	strbuf_deinit(&opts->filter_marks);
	filter_opts_free(opts);
	if (opts->msg.file)
		fclose(opts->msg.file);
	*opts = (struct opts){ 0 };
}
