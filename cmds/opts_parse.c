/* Fills struct opts from the words of a command line and of option files. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/filter_opts.h"
#include "cmds/advice/unsupported.h"
#include "cmds/opts.h"
#include "cmds/reader.h"
#include "utils/export/export.h"
#include "utils/base/fd.h"
#include "utils/script/script.h"

#define OPT_FILE_MAX_BYTES (1UL << 20)

static bool can_show(const struct cmd *cmd, int format)
{
	switch (format) {
	case OPTS_FORMAT_NORMAL:
	case OPTS_FORMAT_HTML:
		return true;
	case OPTS_FORMAT_CSV:
	case OPTS_FORMAT_JSON:
		return !(cmd->bit & (CMD_REPLAY | CMD_LIVE | CMD_GRAPH | CMD_DUMP));
	default:
		return !(cmd->bit & (CMD_REPLAY | CMD_LIVE | CMD_REPORT | CMD_GRAPH));
	}
}

static int check_format(const struct opts *opts, struct uft_err *err)
{
	struct strbuf known cleanup_strbuf = { 0 };
	const char *name = "";

	/* `graph` makes a picture only with --diff. The format of this picture is SVG. */
	if (can_show(opts->cmd, opts->format) || (opts->cmd->bit == CMD_GRAPH && opts->diff_dirs &&
						  opts->format == OPTS_FORMAT_EXPORT + EXPORT_svg))
		return 0;
	for (const struct opt_word *word = opts_format_words; word->word; word++) {
		if (word->value == opts->format)
			name = word->word;
		if (can_show(opts->cmd, word->value))
			strbuf_addf(&known, "%s%s", known.len ? ", " : "", word->word);
	}
	return err_set(err, -ERR_USAGE, "option '--format': %s cannot show %s: expected one of %s",
		       opts->cmd->name, name, strbuf_str(&known));
}

/* Checks that `report` shows at most one of the views that exclude each other. */
static int check_report(const struct opts *opts, struct uft_err *err)
{
	int nr = !!opts->callers_of + !!opts->callees_of + !!opts->histogram_of +
		 !!opts->slowest_of;
	int nr_alone = nr + opts->report_events + !!opts->between;

	if (nr_alone > 1 || (nr_alone == 1 && (opts->diff_dirs || opts->by_task)))
		return err_set(err, -ERR_USAGE,
			       "--callers, --callees, --histogram, --slowest, --events, --between, "
			       "--diff and --task exclude each other");
	if (nr && (opts->format == OPTS_FORMAT_CSV || opts->format == OPTS_FORMAT_JSON))
		return err_set(err, -ERR_USAGE,
			       "option '--format': views of one function are text only");
	return check_format(opts, err);
}

/*
 * If --proc is not given, refuses options that need --proc. If --proc is given, refuses commands
 * other than record and build, and refuses the options in others[]. Most of the options in others[]
 * are refused for one of two reasons:
 * - The option and --proc would each need a tracer for a task, but a task has at most one tracer.
 * - With the option, the recorder is not the parent of the task. With --proc, the recorder must be
 *   the parent.
 */
static int check_proc(const struct opts *opts, struct uft_err *err)
{
	const struct {
		bool is_given;
		const char *name;
	} others[] = {
		{ opts->rec.has_agent, "--agent" },
		{ opts->rec.overhead_percent, "--overhead" },
		{ opts->pids, "--pid" },
		{ opts->keep_pid, "--keep-pid" },
		{ opts->rec.flight_bytes, "--flight" },
		{ opts->nop, "--nop" },
	};

	if (!opts->rec.proc_way && (opts->rec.traces_environment || !opts->rec.traces_files))
		return err_set(err, -ERR_USAGE, "'%s' needs '--proc'",
			       opts->rec.traces_environment ? "--proc-env" : "--no-proc-files");
	if (!opts->rec.proc_way)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (others[i].is_given)
			return err_set(err, -ERR_USAGE,
				       "'--proc' cannot be used together with '%s'",
				       others[i].name);
	}
	if (!(opts->cmd->bit & (CMD_RECORD | CMD_BUILD)))
		return err_set(err, -ERR_USAGE, "'--proc' is for record and build, not for %s",
			       opts->cmd->name);
	return 0;
}

/*
 * Checks that `record` or `live` can run the script, and that no option excludes --script. This
 * check comes before the start of the program.
 */
static int check_script(const struct opts *opts, struct uft_err *err)
{
	if (opts->script && (opts->cmd->bit & (CMD_RECORD | CMD_LIVE))) {
		if (opts->keep_pid || opts->nop)
			return err_set(err, -ERR_USAGE,
				       "'--script' cannot be used together with '%s'",
				       opts->nop ? "--nop" : "--keep-pid");
		return script_check(opts->script, err);
	}
	return 0;
}

/* Makes the checks that need all options. */
static int check_together(const struct opts *opts, struct uft_err *err)
{
	int ret;

	if (opts->average_total && opts->average_self)
		return err_set(err, -ERR_USAGE, "--avg-total and --avg-self exclude each other");
	if (opts->rec.nest_libcalls && !opts->show_libcalls)
		return err_set(err, -ERR_USAGE,
			       "--nest-libcall and --no-libcall exclude each other");
	if (opts->rec.overhead_percent && opts->rec.flight_bytes)
		return err_set(err, -ERR_USAGE,
			       "'--overhead' cannot be used together with '--flight': calls are "
			       "known only when they are written");
	if (opts->rec.overhead_percent && opts->rec.estimates_return)
		return err_set(err, -ERR_USAGE,
			       "'--overhead' cannot be used together with '--estimate-return'");
	ret = check_proc(opts, err);
	if (ret == 0)
		ret = check_script(opts, err);
	if (ret < 0)
		return ret;
	if (opts->rec.max_bytes && opts->rec.max_bytes < opts->rec.flight_bytes)
		return err_set(err, -ERR_USAGE,
			       "option '--max-size' must not be less than '--flight'");
	return check_report(opts, err);
}

/*
 * A line of words in the form `[options] [COMMAND] [options] [PROGRAM [its arguments]]`.
 *
 * @args, @nr_args: PROGRAM and its arguments
 * @ended: "--" came before PROGRAM
 * @is_typed: the line is the command line, not a line of a file
 */
struct line {
	int argc;
	char **argv;
	const struct cmd *cmd; /* NULL when the line names no command */
	char **args;
	int nr_args;
	bool ended;
	bool is_typed;
};

static void swap_runs(char **argv, int from, int middle, int end)
{
	for (; middle < end; middle++, from++) {
		char *word = argv[middle];

		memmove(argv + from + 1, argv + from, (middle - from) * sizeof(*argv));
		argv[from] = word;
	}
}

/*
 * Parses the options of utrail that follow other words (`graph main -d DIR`), and moves these
 * options before the other words. The command line can then be parsed a second time.
 */
static int parse_behind(struct opts *opts, struct optparse *parse, struct uft_err *err)
{
	int nr = 0; /* number of words directly before parse->next that are not options */
	int rc = 0;

	while (rc == 0 && !parse->ended && parse->next < parse->argc) {
		int from = ++parse->next;

		nr++;
		rc = optparse_run(parse, opts, err);
		swap_runs(parse->argv, from - nr, from, parse->next);
	}
	parse->next -= nr;
	return rc;
}

/* @first: the index of the first word that is parsed */
static int parse_line(struct opts *opts, struct line *line, int first, struct uft_err *err)
{
	struct optparse parse = {
		.rows = opts_table,
		.nr = opts_table_nr,
		.argv = line->argv,
		.argc = line->argc,
		.next = first,
		.given = line->is_typed ? opts->typed : opts->in_files,
	};
	int rc = optparse_run(&parse, opts, err);

	if (rc < 0)
		return rc;
	if (parse.next < line->argc && !parse.ended) {
		line->cmd = cmd_find(line->argv[parse.next]);
		if (line->cmd) {
			parse.next++;
			parse.cmds = line->cmd->bit;
		}
	}
	if (line->cmd)
		rc = optparse_run(&parse, opts, err);
	if (line->cmd == &cmd_script && opts->live_record)
		line->cmd = &cmd_script_record;
	if (rc == 0 && line->cmd && !line->cmd->needs_program && !line->cmd->keeps_rest)
		rc = parse_behind(opts, &parse, err);
	line->args = line->argv + parse.next;
	line->nr_args = line->argc - parse.next;
	line->ended = parse.ended;
	if (line->is_typed) {
		opts->last = parse.last;
		opts->last_text = parse.last_text;
	}
	return rc;
}

static int read_words(const char *path, struct words *words, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	int ret = file_read_all(path, OPT_FILE_MAX_BYTES, &text, err);

	if (ret == 0) {
		ret = words_add(words, strbuf_str(&text), err);
		if (ret < 0)
			err_prefix(err, "cannot read '%s'", path);
	}
	return ret;
}

/* Resets @opts to its state before the first word was parsed. Only msg.file is kept. */
static void start_again(struct opts *opts)
{
	FILE *file = opts->msg.file;

	opts->msg.file = NULL;
	opts_deinit(opts);
	opts_init(opts);
	opts->msg.file = file;
}

/* Words that are parsed before those of the command line. */
struct former {
	char *path;	    /* path of the option file, or NULL */
	struct words words; /* words of the option file */
	char *script;	    /* path of the script that `record` or `live` runs, or NULL */
	struct words script_words;
};

static void former_deinit(struct former *former)
{
	free(former->path);
	free(former->script);
	words_deinit(&former->words);
	words_deinit(&former->script_words);
}

static int read_script_words(const char *script, struct words *words, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	int ret = script_options(script, &text, err);

	if (ret == 0 && text.len) {
		ret = words_add(words, strbuf_str(&text), err);
		if (ret < 0)
			err_prefix(err, "in '%s'", script);
	}
	return ret;
}

/*
 * True when the command takes options from a script, which `record` and `live` do. No options are
 * taken from a script that utrail cannot run: check_script() reports such a script later.
 */
static bool takes_script_options(const struct opts *opts, const struct line *line)
{
	return opts->script && (!line->cmd || (line->cmd->bit & (CMD_RECORD | CMD_LIVE))) &&
	       script_check(opts->script, NULL) == 0;
}

static int read_former(struct former *former, const struct opts *opts, const struct line *line,
		       struct uft_err *err)
{
	int ret = 0;

	if (opts->opt_file) {
		former->path = strdup(opts->opt_file);
		ret = former->path ? read_words(former->path, &former->words, err) : -ENOMEM;
	}
	if (ret == 0 && takes_script_options(opts, line)) {
		former->script = strdup(opts->script);
		ret = former->script ? read_script_words(former->script, &former->script_words, err)
				     : -ENOMEM;
	}
	return ret;
}

/* Parses a script's options. The script must not name a command, a program or an option file. */
static int parse_script_words(struct opts *opts, const char *script, struct uft_err *err)
{
	struct line words = { .argc = opts->script_words.nr, .argv = opts->script_words.words };
	int ret = words.argc ? parse_line(opts, &words, 0, err) : 0;

	if (ret == 0 && (words.cmd || words.nr_args))
		ret = err_set(err, -ERR_USAGE, "'%s' is no option",
			      words.cmd ? words.cmd->name : words.args[0]);
	if (ret == 0 && opts->opt_file)
		ret = err_set(err, -ERR_USAGE, "a script cannot name an option file");
	if (ret < 0)
		err_prefix(err, "in the first lines of '%s'", script);
	return ret;
}

static int parse_file_words(struct opts *opts, const char *path, struct line *file,
			    struct uft_err *err)
{
	int ret;

	*file = (struct line){ .argc = opts->file_words.nr, .argv = opts->file_words.words };
	ret = file->argc ? parse_line(opts, file, 0, err) : 0;
	if (ret == 0 && opts->opt_file)
		ret = err_set(err, -ERR_USAGE, "an option file cannot name another one");
	if (ret < 0)
		err_prefix(err, "in '%s'", path);
	return ret;
}

/*
 * Parses the options that stand in a script or in the file of --opt-file, and then the command line
 * again. So the command line overrides the options of the files.
 */
static int parse_with_former(struct opts *opts, struct line *line, struct uft_err *err)
{
	struct former former cleanup(former_deinit) = { 0 };
	struct line file = { 0 };
	int ret = read_former(&former, opts, line, err);

	start_again(opts);
	if (ret < 0)
		return ret;
	opts->file_words = former.words;
	opts->script_words = former.script_words;
	former.words = former.script_words = (struct words){ 0 };
	ret = parse_script_words(opts, former.script, err);
	if (ret == 0)
		ret = parse_file_words(opts, former.path, &file, err);
	if (ret < 0)
		return ret;
	*line = (struct line){ line->argc, line->argv, .is_typed = true };
	ret = parse_line(opts, line, 1, err);
	if (!line->cmd)
		line->cmd = file.cmd;
	if (!line->nr_args) {
		line->args = file.args;
		line->nr_args = file.nr_args;
	}
	return ret;
}

/*
 * Takes options from default.opts of the recording. If the user has given a threshold (-t) or a
 * time range, the threshold in the file is ignored. A stranger may have written the file, so only
 * options whose rows have is_recorded are taken.
 */
static int take_default_opts(struct opts *opts, const struct words *words, const char *path,
			     struct uft_err *err)
{
	struct optparse parse = { opts_table, opts_table_nr, words->words, words->nr, 0, false };
	struct strbuf ignored cleanup_strbuf = { 0 };
	const uint64_t time_filter_ns = opts->time_filter_ns;
	const struct time_range range = opts->range;
	int ret;

	opts->time_filter_ns = 0;
	opts->range = (struct time_range){ 0 };
	ret = optparse_run_recorded(&parse, opts, &ignored, err);
	/* The threshold that the user has given is kept even if it is 0 (`-t 0`). */
	if (opts_has_given(opts, "time-filter") || time_range_is_set(&range)) {
		opts->time_filter_ns = time_filter_ns;
		opts->range = range;
	}
	if (ret == 0 && ignored.len)
		msg_warn(&opts->msg, "in '%s' is what no recorder writes there: ignored: %s", path,
			 strbuf_str(&ignored));
	return ret;
}

static int apply_default_opts(struct opts *opts, struct uft_err *err)
{
	struct words words cleanup_words = { 0 };
	struct uft_err why = { 0 };
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/default.opts", reader_data_dir(opts)) >= PATH_MAX)
		return 0;

	int ret = read_words(path, &words, &why);

	if (ret == -ENOENT || ret == -ENOTDIR)
		return 0;
	if (ret == -ENOMEM)
		return err_set(err, ret, "%s", why.text);
	if (ret < 0) {
		msg_warn(&opts->msg, "%s: its options are ignored", why.text);
		return 0;
	}
	return take_default_opts(opts, &words, path, err);
}

static int parse_all(struct opts *opts, struct line *line, struct uft_err *err)
{
	/*
	 * This first parse of the line prints no messages. Then parse_with_former() parses the
	 * files with options, parses the line again, and prints the messages.
	 */
	opts->msg.is_muted = true;

	int ret = parse_line(opts, line, 1, err);

	opts->msg.is_muted = false;
	return ret < 0 ? ret : parse_with_former(opts, line, err);
}

/* Takes `help [COMMAND]` and `version`. People type these words before they know the options. */
static bool take_question(struct opts *opts, struct line *line)
{
	const char *word = line->args[0];

	if (strcmp(word, "help") != 0 && strcmp(word, "version") != 0)
		return false;
	opts->show = strcmp(word, "help") == 0 ? OPTS_SHOW_HELP : OPTS_SHOW_VERSION;
	line->cmd = line->nr_args > 1 ? cmd_find(line->args[1]) : NULL;
	line->nr_args = 0;
	return true;
}

/* Checks a first word that names no command. This word may be the name of a program. */
static int judge_first_word(struct opts *opts, struct line *line, struct uft_err *err)
{
	if (line->cmd || !line->nr_args || line->ended || take_question(opts, line))
		return 0;
	return unsupported_check_command(line->args[0], err);
}

/* Takes `show DIR`, which means the same as -d DIR. The options in DIR/default.opts apply. */
static int take_named_dir(struct opts *opts, struct uft_err *err)
{
	size_t len = opts->nr_args ? strlen(opts->args[0]) : 0;

	if (!opts->cmd || opts->cmd->bit != CMD_SHOW || !len || opts->data_dir)
		return 0;
	while (len > 1 && opts->args[0][len - 1] == '/')
		len--;
	opts->data_dir = strndup(opts->args[0], len);
	return opts->data_dir ? 0 : err_set_errno(err, -ENOMEM, "cannot read the command line");
}

int opts_parse(struct opts *opts, int argc, char **argv, struct uft_err *err)
{
	struct line line = { .argc = argc, .argv = argv, .is_typed = true };
	int ret = parse_all(opts, &line, err);

	if (ret == 0)
		ret = judge_first_word(opts, &line, err);
	if (ret < 0)
		return ret;
	opts->cmd = line.cmd				? line.cmd
		    : line.nr_args || opts->list_events ? cmd_find("live")
							: NULL;
	opts->argc = argc;
	opts->argv = argv;
	opts->args = line.args;
	opts->nr_args = line.nr_args;
	ret = take_named_dir(opts, err);
	if (ret < 0)
		return ret;
	if (!opts->data_dir) {
		opts->data_dir = strdup(OPTS_DEFAULT_DIR);
		if (!opts->data_dir)
			return err_set_errno(err, -ENOMEM, "cannot read the command line");
	}
	if (opts->cmd && opts->cmd->reads_data && !opts->show)
		ret = apply_default_opts(opts, err);
	if (ret == 0)
		ret = filter_opts_parse(opts, err);
	if (ret < 0)
		return ret;
	return opts->cmd ? check_together(opts, err) : 0;
}

void opts_warn_unused(const struct opts *opts)
{
	for (size_t i = 0; i < opts_table_nr; i++) {
		/*
		 * Users may define an alias of utrail that gives --libmcount-path to all commands.
		 * The option only says where a part of utrail is, so it causes no warning.
		 */
		if (opts_table[i].offset == offsetof(struct opts, libmcount_path))
			continue;
		if (opts->typed[i] && !(opts_table[i].cmds & opts->cmd->bit))
			msg_warn(&opts->msg, "option '--%s' means nothing for %s: it is ignored",
				 opts_table[i].name, opts->cmd->name);
	}
}
