/* The option table: one row per option, from which all else that speaks of options is made. */
#include "cmds/opts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmds/cmd.h"

#define RL   (CMD_RECORD | CMD_LIVE)
#define PL   (CMD_REPLAY | CMD_LIVE)
#define READ (CMD_REPLAY | CMD_REPORT | CMD_DUMP)
#define CALL (RL | READ) /* wherever calls are recorded or shown */
#define ALL  (CALL | CMD_INFO)

enum group {
	GROUP_COMMON,
	GROUP_RECORD,
	GROUP_SELECT,
	GROUP_VIEW,
	GROUP_REPORT,
	GROUP_INFO,
};

static const char *const group_titles[] = {
	[GROUP_COMMON] = "Common options",
	[GROUP_RECORD] = "Recording",
	[GROUP_SELECT] = "What to record or show",
	[GROUP_VIEW] = "How to show it",
	[GROUP_REPORT] = "Report",
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

static const struct opt_word format_words[] = {
	{ "normal", OPTS_FORMAT_NORMAL },
	{ "html", OPTS_FORMAT_HTML },
	{ "csv", OPTS_FORMAT_CSV },
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

/* -t and -r exclude each other, as with the peer: the later one counts. */
static int set_time_filter(const struct opt_row *row, const char *text, void *target,
			   struct uft_err *err)
{
	struct opts *opts = target;
	struct opt_row plain = *row;

	plain.kind = OPT_TIME;
	plain.offset = offsetof(struct opts, time_filter_ns);

	int rc = opt_store(&plain, text, opts, err);

	if (rc == 0 && (opts->range.start.is_set || opts->range.stop.is_set)) {
		msg_warn(&opts->msg, "--time-range is ignored: it cannot be used together with "
				     "--time-filter");
		opts->range = (struct time_range){ 0 };
	}
	return rc;
}

static int set_time_range(const struct opt_row *row, const char *text, void *target,
			  struct uft_err *err)
{
	struct opts *opts = target;

	if (time_range_parse(text, &opts->range, err) < 0) {
		err_prefix(err, "option '--time-range'");
		return -ERR_USAGE;
	}
	if (opts->time_filter_ns) {
		msg_warn(&opts->msg, "--time-filter is ignored: it cannot be used together with "
				     "--time-range");
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

static int set_trace_off(const struct opt_row *row, const char *text, void *target,
			 struct uft_err *err)
{
	struct opts *opts = target;

	opts->trace_on = false;
	msg_warn(&opts->msg, "--disable is an old name: use --trace=off");
	return 0;
}

#define MEMBER(name) .offset = offsetof(struct opts, name)

/* clang-format off */
const struct opt_row opts_table[] = {
	{ "help", 'h', NULL, "show what can be asked for, and exit",
	  GROUP_COMMON, ALL, OPT_CONST, MEMBER(show), .value = OPTS_SHOW_HELP },
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
	{ "color", 0, "WHEN", "use colours: on, off or auto (default: auto, on a terminal)",
	  GROUP_COMMON, ALL, OPT_WORD, MEMBER(color), .words = color_words },
	{ "no-pager", 0, NULL, "do not show the output in a pager",
	  GROUP_COMMON, ALL, OPT_FALSE, MEMBER(use_pager) },

	{ "buffer", 'b', "SIZE", "size of the buffer of each task (default: 128k)",
	  GROUP_RECORD, RL, OPT_SIZE, MEMBER(buffer_bytes), .min = 1, .max = 1ULL << 30 },
	{ "clock", 0, "CLOCK", "time source: mono, mono_raw, boot or realtime (default: mono)",
	  GROUP_RECORD, RL, OPT_WORD, MEMBER(clock_id), .words = clock_words },
	{ "disable", 0, NULL, "old name of --trace=off",
	  GROUP_RECORD, RL | CMD_REPLAY, OPT_SET, .set = set_trace_off },
	{ "force", 0, NULL, "run the program even if nothing in it can be traced",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(force) },
	{ "libmcount-path", 0, "PATH", "take libmcount.so from this directory",
	  GROUP_RECORD, RL, OPT_STRING, MEMBER(libmcount_path) },
	{ "max-stack", 0, "DEPTH", "deepest call that is followed, 1 to 65535 (default: 1024)",
	  GROUP_RECORD, RL, OPT_UINT, MEMBER(max_stack), .min = 1, .max = 65535 },
	{ "nest-libcall", 'l', NULL, "record what libraries call in each other, too; implies --force",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(nest_libcalls) },
	{ "no-pltbind", 0, NULL, "look library functions up for each call (LD_BIND_NOT)",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(no_pltbind) },
	{ "no-randomize-addr", 0, NULL, "run the program without address space randomization",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(no_randomize_addr) },
	{ "nop", 0, NULL, "run the program with a probe that does nothing and record nothing",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(nop) },
	{ "num-thread", 0, "N", "number of threads that write the data",
	  GROUP_RECORD, RL, OPT_UINT, MEMBER(num_thread), .min = 1, .max = 1024 },
	{ "record", 0, NULL, "keep the recorded data in the data directory",
	  GROUP_RECORD, CMD_LIVE, OPT_TRUE, MEMBER(live_record) },
	{ "report", 0, NULL, "show a report before the replay",
	  GROUP_RECORD, CMD_LIVE, OPT_TRUE, MEMBER(live_report) },
	{ "rt-prio", 0, "PRIO", "real-time priority of the writer threads, 1 to 99",
	  GROUP_RECORD, RL, OPT_UINT, MEMBER(rt_prio), .min = 1, .max = 99 },
	{ "time", 0, NULL, "show elapsed, system and user time after the run",
	  GROUP_RECORD, RL, OPT_TRUE, MEMBER(show_time) },
	{ "trace", 0, "on|off", "whether recording or showing is on at the start (default: on)",
	  GROUP_RECORD, RL | CMD_REPLAY, OPT_BOOL, MEMBER(trace_on) },

	{ "depth", 'D', "DEPTH", "only calls within DEPTH levels, 1 to 65534 (default: 1024)",
	  GROUP_SELECT, CALL, OPT_UINT, MEMBER(depth), .min = 1, .max = 65534 },
	{ "time-filter", 't', "TIME", "only calls that took TIME or longer, and their callers",
	  GROUP_SELECT, CALL, OPT_SET, .set = set_time_filter },
	{ "size-filter", 'Z', "SIZE", "only functions of SIZE bytes or more",
	  GROUP_SELECT, CALL, OPT_SIZE, MEMBER(size_filter), .min = 1, .max = INT64_MAX },
	{ "time-range", 'r', "FROM~TO",
	  "only this part: timestamps (12.000000345) or times since the start (1.5ms)",
	  GROUP_SELECT, READ | CMD_LIVE, OPT_SET, .set = set_time_range },
	{ "tid", 0, "TID,...", "only these tasks",
	  GROUP_SELECT, READ, OPT_SET, .set = set_tids },
	{ "no-libcall", 0, NULL, "leave out calls of library functions",
	  GROUP_SELECT, CALL, OPT_FALSE, MEMBER(show_libcalls) },
	{ "no-event", 0, NULL, "leave out events",
	  GROUP_SELECT, CALL, OPT_FALSE, MEMBER(use_events) },
	{ "no-sched", 0, NULL, "leave out scheduling events",
	  GROUP_SELECT, CALL, OPT_FALSE, MEMBER(use_sched) },
	{ "no-sched-preempt", 0, NULL, "leave out scheduling events where the task was pre-empted",
	  GROUP_SELECT, CMD_REPLAY | CMD_REPORT, OPT_FALSE, MEMBER(use_sched_preempt) },
	{ "event-full", 0, NULL, "show events outside of functions too",
	  GROUP_SELECT, READ | CMD_LIVE, OPT_TRUE, MEMBER(event_full) },

	{ "demangle", 0, "TYPE", "C++ and Rust names: simple, full or no (default: simple)",
	  GROUP_VIEW, READ | CMD_LIVE | CMD_INFO, OPT_WORD, MEMBER(demangle),
	  .words = demangle_words },
	{ "output-fields", 'f', "FIELD,...", "columns to show; +FIELD adds; all; none",
	  GROUP_VIEW, PL | CMD_REPORT, OPT_STRING, MEMBER(fields) },
	{ "format", 0, "FORMAT", "normal, html, and for report csv (default: normal)",
	  GROUP_VIEW, PL | CMD_REPORT, OPT_WORD, MEMBER(format), .words = format_words },
	{ "flat", 0, NULL, "one line per record, for debugging",
	  GROUP_VIEW, PL, OPT_TRUE, MEMBER(flat) },
	{ "no-merge", 0, NULL, "show leaf functions with a line for the entry and one for the exit",
	  GROUP_VIEW, PL, OPT_FALSE, MEMBER(merge_leaves) },
	{ "no-args", 0, NULL, "leave out arguments and return values",
	  GROUP_VIEW, PL | CMD_DUMP, OPT_FALSE, MEMBER(show_args) },
	{ "no-comment", 0, NULL, "leave out the comments behind closing braces",
	  GROUP_VIEW, PL, OPT_FALSE, MEMBER(show_comments) },
	{ "libname", 0, NULL, "show the library of library functions",
	  GROUP_VIEW, PL, OPT_TRUE, MEMBER(show_libname) },
	{ "column-view", 0, NULL, "show each task in a column of its own",
	  GROUP_VIEW, PL, OPT_TRUE, MEMBER(column_view) },
	{ "column-offset", 0, "DEPTH", "distance of the columns (default: 8)",
	  GROUP_VIEW, PL, OPT_UINT, MEMBER(column_offset), .min = 0, .max = 1024 },
	{ "task-newline", 0, NULL, "show an empty line where the task changes",
	  GROUP_VIEW, PL, OPT_TRUE, MEMBER(task_newline) },

	{ "sort", 's', "KEY,...", "order of the rows (default: total)",
	  GROUP_REPORT, CMD_REPORT, OPT_LIST, MEMBER(sort_keys), .separator = ',' },
	{ "avg-total", 0, NULL, "show average, minimum, maximum of the total time",
	  GROUP_REPORT, CMD_REPORT, OPT_TRUE, MEMBER(average_total) },
	{ "avg-self", 0, NULL, "show average, minimum, maximum of the self time",
	  GROUP_REPORT, CMD_REPORT, OPT_TRUE, MEMBER(average_self) },
	{ "task", 0, NULL, "show tasks instead of functions",
	  GROUP_REPORT, CMD_REPORT | CMD_INFO, OPT_TRUE, MEMBER(by_task) },

	{ "symbols", 0, NULL, "show the symbol tables",
	  GROUP_INFO, CMD_INFO, OPT_TRUE, MEMBER(show_symbols) },
	{ "system", 0, NULL, "show this machine; needs no data",
	  GROUP_INFO, CMD_INFO, OPT_TRUE, MEMBER(show_system) },
};
/* clang-format on */

const size_t opts_table_nr = ARRAY_SIZE(opts_table);

const char *opts_group_title(int group)
{
	return group >= 0 && (size_t)group < ARRAY_SIZE(group_titles) ? group_titles[group] : NULL;
}

void opts_init(struct opts *opts)
{
	*opts = (struct opts){
		.use_pager = true,
		.depth = OPTS_DEFAULT_DEPTH,
		.demangle = DEMANGLE_SIMPLE,
		.show_libcalls = true,
		.use_events = true,
		.use_sched = true,
		.use_sched_preempt = true,
		.trace_on = true,
		.buffer_bytes = 128 << 10,
		.clock_id = CLOCK_MONOTONIC,
		.max_stack = 1024,
		.merge_leaves = true,
		.show_args = true,
		.show_comments = true,
		.column_offset = 8,
	};
}

void opts_deinit(struct opts *opts)
{
	optparse_free(opts_table, opts_table_nr, opts);
	free(opts->data_dir);
	free(opts->tids);
	if (opts->msg.file)
		fclose(opts->msg.file);
	*opts = (struct opts){ 0 };
}

/* What can only be judged when everything is known. */
static int check_together(const struct opts *opts, struct uft_err *err)
{
	if (opts->average_total && opts->average_self)
		return err_set(err, -ERR_USAGE, "--avg-total and --avg-self exclude each other");
	if (opts->nest_libcalls && !opts->show_libcalls)
		return err_set(err, -ERR_USAGE,
			       "--nest-libcall and --no-libcall exclude each other");
	if (opts->format == OPTS_FORMAT_CSV && (opts->cmd->bit & PL))
		return err_set(err, -ERR_USAGE,
			       "option '--format': %s cannot show csv: expected normal or html",
			       opts->cmd->name);
	return 0;
}

int opts_parse(struct opts *opts, int argc, char **argv, struct uft_err *err)
{
	struct optparse parse = { opts_table, opts_table_nr, argv, argc, .next = 1 };
	int rc = optparse_run(&parse, opts, err);

	if (rc < 0)
		return rc;
	if (parse.next < argc && !parse.ended) {
		opts->cmd = cmd_find(argv[parse.next]);
		if (opts->cmd)
			parse.next++;
	}
	if (opts->cmd) {
		rc = optparse_run(&parse, opts, err);
		if (rc < 0)
			return rc;
	} else if (parse.next < argc) {
		opts->cmd = cmd_find("live");
	}
	opts->argc = argc;
	opts->argv = argv;
	opts->args = argv + parse.next;
	opts->nr_args = argc - parse.next;
	if (!opts->data_dir) {
		opts->data_dir = strdup(OPTS_DEFAULT_DIR);
		if (!opts->data_dir)
			return err_set_errno(err, -ENOMEM, "cannot read the command line");
	}
	return opts->cmd ? check_together(opts, err) : 0;
}
