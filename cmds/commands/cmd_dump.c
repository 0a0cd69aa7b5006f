/* utrail dump: show the content of a recording's files, or write it in another format. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/commands/compare_graphs.h"
#include "cmds/advice/no_result.h"
#include "cmds/reader.h"
#include "cmds/read_progress.h"
#include "utils/view/dump.h"
#include "utils/export/export.h"

static int dump_raw(const struct opts *opts, struct trace_data *data, struct sink *sink,
		    struct uft_err *broken, struct uft_err *err)
{
	struct dump_config config = {
		.is_verbose = opts->msg.level > 0,
		.shows_args = opts->show_args,
	};

	reader_pipeline_config(opts, &config.stages);
	config.stages.stages.time_filter_ns = 0;
	config.stages.stages.show_outside = true;
	return dump_show(data, &config, sink, broken, err);
}

static const struct exporter *exporter_of(const struct opts *opts)
{
	if (opts->format == OPTS_FORMAT_HTML)
		return exporter_by_number(EXPORT_html);
	if (opts->format < OPTS_FORMAT_EXPORT)
		return NULL;
	return exporter_by_number(opts->format - OPTS_FORMAT_EXPORT);
}

/*
 * Writes @data in the requested format. Opens @pipe and begins @progress. The caller closes @pipe
 * and ends @progress.
 */
static int export_one(const struct opts *opts, struct trace_data *data, enum export_side side,
		      struct pipeline *pipe, struct read_progress *progress, struct sink *sink,
		      struct uft_err *err)
{
	const struct exporter *exporter = exporter_of(opts);
	struct export_config config = reader_export_config(opts);
	int ret = reader_open_export(pipe, opts, exporter, data, err);

	if (ret < 0)
		return ret;
	config.side = side;
	reader_warn_filters(opts, data);
	read_progress_begin(progress, opts, pipe, false);
	ret = reader_export(pipe, opts, exporter, &config, sink, err);
	reader_warn_kernel(opts, data, pipe);
	return ret;
}

static int dump_exported(const struct opts *opts, struct trace_data *data, struct sink *sink,
			 struct uft_err *err)
{
	struct pipeline pipe cleanup_pipeline = { 0 };
	struct read_progress progress = { 0 };
	int ret = export_one(opts, data, EXPORT_ALONE, &pipe, &progress, sink, err);

	ret = read_progress_end(&progress, opts, reader_finish(sink, &pipe.broken, ret, err));
	if (ret == CMD_DONE && !atomic_load(&pipe.has_shown))
		no_result_explain(opts, &pipe);
	return ret;
}

/*
 * Writes one HTML page about two recordings. If SIGINT ends the reading of @base, @pair is still
 * read. The page is completed even after SIGINT.
 */
static int dump_both(const struct opts *opts, struct trace_data *base, struct trace_data *pair,
		     struct uft_err *err)
{
	struct pipeline base_pipe cleanup_pipeline = { 0 };
	struct pipeline pair_pipe cleanup_pipeline = { 0 };
	struct read_progress base_progress = { 0 };
	struct read_progress pair_progress = { 0 };
	struct sink sink cleanup_sink = { 0 };
	int ret = reader_open_sink(&sink, err);

	if (ret == 0)
		ret = export_one(opts, base, EXPORT_BASE, &base_pipe, &base_progress, &sink, err);

	int status = read_progress_end(&base_progress, opts, ret);

	if (ret == 0)
		ret = export_one(opts, pair, EXPORT_PAIR, &pair_pipe, &pair_progress, &sink, err);
	ret = reader_finish(&sink, base_pipe.broken.code ? &base_pipe.broken : &pair_pipe.broken,
			    ret, err);
	ret = read_progress_end(&pair_progress, opts, ret);
	if (ret == CMD_DONE && !atomic_load(&base_pipe.has_shown) &&
	    !atomic_load(&pair_pipe.has_shown))
		no_result_explain(opts, &base_pipe);
	return ret == CMD_DONE ? status : ret;
}

static int dump_difference(const struct opts *opts, struct trace_data *base, struct uft_err *err)
{
	const struct graph_diff_config config = { .color = opts->color_mode, .is_picture = true };
	struct opts other = *opts;
	struct trace_data pair;

	other.data_dir = opts->diff_dirs;

	int ret = reader_open_records(&pair, &other, err);

	if (ret)
		return ret;
	ret = opts->format == OPTS_FORMAT_HTML ? dump_both(opts, base, &pair, err)
					       : compare_graphs(opts, &config, base, &pair, err);
	reader_close_data(&pair, &other);
	return ret;
}

static int dump_files(const struct opts *opts, struct trace_data *data, struct sink *sink,
		      struct uft_err *err)
{
	struct uft_err broken = { 0 };
	struct opts counting = *opts;

	read_progress_opened();

	int shown = dump_raw(opts, data, sink, &broken, err);

	if (opts->diff_dirs)
		msg_warn(&opts->msg,
			 "option '--diff' means nothing for dump without --format: the "
			 "records of '%s' are shown",
			 data->dir);
	/*
	 * Warn only about an option on the command line. An option in default.opts had its effect
	 * when the data was recorded.
	 */
	if (opts_has_typed(opts, "time-filter"))
		msg_warn(&opts->msg, "option '--time-filter' means nothing for dump without "
				     "--format: all records are shown");
	reader_warn_filters(opts, data);
	reader_warn_kernel(opts, data, NULL);

	int ret = reader_finish(sink, &broken, MIN(shown, 0), err);

	counting.time_filter_ns = 0;
	if (ret == CMD_DONE && !shown)
		no_result_explain_data(&counting, data);
	return ret;
}

static int dump_data(const struct opts *opts, struct trace_data *data, struct uft_err *err)
{
	struct sink sink cleanup_sink = { 0 };
	int ret = reader_open_sink(&sink, err);

	if (ret < 0)
		return ret;
	return exporter_of(opts) ? dump_exported(opts, data, &sink, err)
				 : dump_files(opts, data, &sink, err);
}

static bool is_same_dir(const char *one, const char *other)
{
	struct stat a, b;

	return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int check_difference(const struct opts *opts, struct uft_err *err)
{
	const struct exporter *exporter = exporter_of(opts);

	if (opts->format != OPTS_FORMAT_HTML && opts->format != OPTS_FORMAT_EXPORT + EXPORT_svg)
		return err_set(err, -ERR_USAGE,
			       "--diff is for --format=html and --format=svg, not for %s",
			       exporter->name);
	if (strchr(opts->diff_dirs, '\n'))
		return err_set(err, -ERR_USAGE, "dump compares with one recording only");
	if (is_same_dir(reader_data_dir(opts), opts->diff_dirs))
		return err_set(err, -ERR_USAGE,
			       "--diff compares two recordings: '%s' is given for both",
			       opts->diff_dirs);
	return 0;
}

static int check_dump(const struct opts *opts, struct uft_err *err)
{
	const struct exporter *exporter = exporter_of(opts);

	if (exporter && opts->diff_dirs && check_difference(opts, err) < 0)
		return -ERR_USAGE;
	if (exporter && exporter->is_binary && isatty(STDOUT_FILENO))
		return err_set(err, -ERR_USAGE,
			       "cannot write %s to a terminal: redirect the output to a file",
			       exporter->name);
	return 0;
}

static int run_dump(const struct opts *opts, struct uft_err *err)
{
	struct trace_data data;
	int ret = reader_open_records(&data, opts, err);

	if (ret)
		return ret;
	if (opts->diff_dirs && exporter_of(opts))
		ret = dump_difference(opts, &data, err);
	else
		ret = dump_data(opts, &data, err);
	reader_close_data(&data, opts);
	return ret;
}

const struct cmd cmd_dump = {
	.name = "dump",
	.help = "print the records of a recording, or write a recording in another format",
	.bit = CMD_DUMP,
	.uses_pager = true,
	.reads_data = true,
	.check = check_dump,
	.run = run_dump,
};
