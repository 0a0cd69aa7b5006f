/*
 * `utrail events`: shows or exports the events of a recording. Shows, imports or checks logs of
 * events. Checks the sources of programs that declare events (libutrail-trace).
 */
#include <string.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/events/events_etrace.h"
#include "cmds/events/events_log.h"
#include "cmds/events/events_posix.h"
#include "cmds/events/events_sources.h"
#include "cmds/import/etrace_import.h"
#include "cmds/import/import.h"
#include "cmds/import/posix_import.h"
#include "cmds/import/posix_logs.h"
#include "cmds/reader.h"
#include "config.h"
#include "utils/export/export.h"

/*
 * A word after `events`.
 *
 * @options: options that belong to this word only
 * @check: checks arguments that only this word understands; may be NULL
 * @run: reads the files on the command line; may be NULL
 * @choose: chooses the writer for the recording; may be NULL. The recording is read when the
 *         command line names no files
 */
struct events_word {
	const char *name;
	const char *options[3];
	int (*check)(const struct opts *opts, struct uft_err *err);
	int (*run)(const struct opts *opts, struct uft_err *err);
	const struct exporter *(*choose)(const struct opts *opts);
};

static const struct exporter *choose_list_exporter(const struct opts *opts)
{
	return &exp_event_list;
}

static const struct exporter *choose_lines_exporter(const struct opts *opts)
{
	return &exp_event_lines;
}

static const struct exporter *export_as(const struct opts *opts)
{
	static const struct exporter *const exporters[] = {
		[OPTS_AS_FSTRACE] = &exp_event_fstrace,
		[OPTS_AS_JSON] = &exp_event_json,
		[OPTS_AS_CSV] = &exp_event_csv,
		[OPTS_AS_POSIX] = &exp_event_posix,
	};

	return (size_t)opts->export_as < ARRAY_SIZE(exporters) ? exporters[opts->export_as] : NULL;
}

/* Imports fstrace logs, logs of POSIX Trace, or an etrace text (process and file events). */
static int import(const struct opts *opts, struct uft_err *err)
{
	int ret = etrace_is_given(opts, err);

	if (ret)
		return ret < 0 ? ret : etrace_import(opts, err);
	ret = posix_logs_are_given(opts, err);

	if (ret < 0)
		return ret;
	if (!ret)
		return events_import(opts, err);
	if (opts->import_common)
		return err_set(err, -ERR_USAGE,
			       "option '--common' means nothing for logs of POSIX Trace");
	return posix_import(opts, err);
}

static const struct events_word words[] = {
	{ "list", .choose = choose_list_exporter },
	{ "show", .options = { "path" }, .run = events_posix_show,
	  .choose = choose_lines_exporter },
	{ "export", .options = { "as", "calls", "bare" }, .choose = export_as },
	{ "import", .options = { "into", "common", "no-limit" }, .check = events_import_check,
	  .run = import },
	{ "check", .run = events_log_check },
	{ "check-sources", .run = events_sources_check },
};

static const struct events_word *find_word(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(words[i].name, name) == 0)
			return &words[i];
	}
	return NULL;
}

static bool is_etrace(const struct opts *opts, const struct events_word *word)
{
	return word->choose == export_as && opts->export_as == OPTS_AS_ETRACE;
}

/* True when `events show` shows the logs that its arguments name, and no recording. */
static bool shows_logs(const struct opts *opts, const struct events_word *word)
{
	return word->choose == choose_lines_exporter && opts->nr_args > 1;
}

/*
 * True when option @row applies to @word, a word after `utrail events`. There are three kinds of
 * options:
 *
 * - an option in the events_word.options of a word applies only to that word
 * - any other option of `utrail convert` applies to every word
 * - all remaining options apply to the words that read recordings (events_word.choose)
 */
static bool takes_option(const struct events_word *word, const struct opt_row *row)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(words[i].options) && words[i].options[k]; k++) {
			if (strcmp(words[i].options[k], row->name) == 0)
				return &words[i] == word;
		}
	}
	return (row->cmds & CMD_CONVERT) || word->choose;
}

static int check_options(const struct opts *opts, const struct events_word *word,
			 struct uft_err *err)
{
	for (size_t i = 0; i < opts_table_nr; i++) {
		const struct opt_row *row = &opts_table[i];

		if (!opts->typed[i] || !(row->cmds & CMD_EVENTS))
			continue;
		if (!takes_option(word, row))
			return err_set(err, -ERR_USAGE, "option '--%s' means nothing for events %s",
				       row->name, word->name);
		/*
		 * An etrace text always describes all processes of the recording, in a fixed form.
		 * So options that select events or change the form of events are refused.
		 */
		if (is_etrace(opts, word) && !(row->cmds & CMD_CONVERT) &&
		    strcmp(row->name, "as") != 0 && strcmp(row->name, "bare") != 0)
			return err_set(err, -ERR_USAGE,
				       "option '--%s' means nothing for --as=etrace, which has all "
				       "processes",
				       row->name);
		if (shows_logs(opts, word) &&
		    (!(row->cmds & CMD_CONVERT) || strcmp(row->name, "data") == 0))
			return err_set(err, -ERR_USAGE,
				       "option '--%s' means nothing for logs, which are shown "
				       "completely",
				       row->name);
	}
	return 0;
}

static int check_subcommand(const struct opts *opts, struct uft_err *err)
{
	const struct events_word *word = opts->nr_args ? find_word(opts->args[0]) : NULL;

	if (opts->nr_args == 0)
		return err_set(err, -ERR_USAGE,
			       "events needs to be told what to do: list, show, show LOG..., "
			       "export, import "
			       "FILE..., check "
			       "FILE... or check-sources FILE...");
	if (!word)
		return err_set(
			err, -ERR_USAGE,
			"events does not know '%s': it knows list, show, export, import, check and "
			"check-sources",
			opts->args[0]);
	if (word->run && !word->choose && opts->nr_args == 1)
		return err_set(err, -ERR_USAGE, "events %s needs the names of %s", word->name,
			       word->run == events_sources_check ? "compile_commands.json files"
								 : "logs");
	if (!word->run && opts->nr_args > 1)
		return err_set(err, -ERR_USAGE, "events %s takes no more words: '%s'", word->name,
			       opts->args[1]);
	if (word->choose == export_as && !export_as(opts) && !is_etrace(opts, word))
		return err_set(
			err, -ERR_USAGE,
			"events export needs a format: --as=fstrace, json, csv, posix or etrace");
	if (word->choose == export_as && export_as(opts) && export_as(opts)->is_binary &&
	    isatty(STDOUT_FILENO))
		return err_set(err, -ERR_USAGE,
			       "cannot write a log of POSIX Trace to a terminal: redirect the "
			       "output to a file");
	if (opts->export_calls && opts->export_as != OPTS_AS_POSIX)
		return err_set(err, -ERR_USAGE, "option '--calls' is for --as=posix only");
	if (opts->export_bare && opts->export_as != OPTS_AS_ETRACE)
		return err_set(err, -ERR_USAGE, "option '--bare' is for --as=etrace only");

	int ret = check_options(opts, word, err);

	return ret == 0 && word->check ? word->check(opts, err) : ret;
}

static int write_events(const struct opts *opts, const struct exporter *exporter,
			struct trace_data *data, struct sink *sink, struct uft_err *err)
{
	const struct export_config config = {
		.tool = "utrail " UTRAIL_VERSION_TEXT,
		.shows_paths = opts->event_paths,
		.has_calls = opts->export_calls,
		.threads = 1,
	};
	struct pipeline pipe cleanup_pipeline = { 0 };
	int ret = reader_open_export(&pipe, opts, exporter, data, err);

	if (ret < 0)
		return ret;
	reader_warn_filters(opts, data);
	ret = reader_export(&pipe, opts, exporter, &config, sink, err);
	return reader_finish(sink, &pipe.broken, ret, err);
}

static int run_subcommand(const struct opts *opts, struct uft_err *err)
{
	const struct events_word *word = find_word(opts->args[0]);
	struct sink sink cleanup_sink = { 0 };
	struct trace_data data;

	if (word->run && opts->nr_args > 1)
		return word->run(opts, err);

	int ret = reader_open_records(&data, opts, err);

	if (ret)
		return ret;
	ret = reader_open_sink(&sink, err);
	if (ret == 0 && is_etrace(opts, word))
		ret = events_etrace_export(opts, &data, &sink, err);
	else if (ret == 0)
		ret = write_events(opts, word->choose(opts), &data, &sink, err);
	reader_close_data(&data, opts);
	return ret;
}

const struct cmd cmd_events = {
	.name = "events",
	.args = "list|show [LOG...]|export|import FILE...|check FILE...|check-sources FILE...",
	.help = "show the events of a recording; import or check logs of programs; check the "
		"sources of programs that declare events",
	.bit = CMD_EVENTS,
	.uses_pager = true,
	.check = check_subcommand,
	.run = run_subcommand,
};
