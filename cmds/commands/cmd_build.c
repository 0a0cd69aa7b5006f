/* `utrail build`: lists the compilations and the processes of a build. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmds/build/build_deps.h"
#include "cmds/build/check_db.h"
#include "cmds/cmd.h"
#include "cmds/events/events_etrace.h"
#include "cmds/build/build_output.h"
#include "cmds/reader.h"
#include "utils/base/outfile.h"
#include "utils/builddb/compdb.h"
#include "utils/builddb/deps_ignored.h"
#include "utils/builddb/tree.h"
#include "utils/builddb/tree_files.h"
#include "utils/pipeline/recording/executions.h"

#define DEFAULT_OUTPUT "compile_commands.json"
#define ETRACE_OUTPUT  ".nfsdb"

static bool is_deps(const struct opts *opts)
{
	return opts->export_as == OPTS_AS_DEPS || opts->needs || opts->used_by;
}

static bool is_compdb(const struct opts *opts)
{
	return !is_deps(opts) &&
	       (opts->export_as == OPTS_AS_NOTHING || opts->export_as == OPTS_AS_COMPDB);
}

static bool is_etrace(const struct opts *opts)
{
	return !is_deps(opts) && opts->export_as == OPTS_AS_ETRACE;
}

/* True when the output has facts about files as well as processes. */
static bool asks_for_files(const struct opts *opts)
{
	return is_deps(opts) || is_etrace(opts) || opts->export_as == OPTS_AS_JSON;
}

static const char *output_name(const struct opts *opts)
{
	if (opts->output)
		return opts->output;
	if (is_etrace(opts))
		return ETRACE_OUTPUT;
	return is_compdb(opts) ? DEFAULT_OUTPUT : "-";
}

static bool is_stdout(const struct opts *opts)
{
	return strcmp(output_name(opts), "-") == 0;
}

/*
 * Refuses options of the text format etrace if the output has another format. Refuses --work-dir
 * together with --output.
 */
static int check_etrace(const struct opts *opts, struct uft_err *err)
{
	const struct {
		bool is_given;
		const char *name;
	} rows[] = {
		{ opts->work_dir, "work-dir" },
		{ opts->etrace.ignores_repeats, "ignore-repeated-opens" },
		{ opts->etrace.has_names, "thread-names" },
		{ opts->etrace.has_mounts, "mounts" },
		{ opts->etrace.has_environment, "environment" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows) && !is_etrace(opts); i++) {
		if (rows[i].is_given)
			return err_set(err, -ERR_USAGE, "option '--%s' needs '--as=etrace'",
				       rows[i].name);
	}
	if (opts->work_dir && opts->output)
		return err_set(err, -ERR_USAGE,
			       "options '--work-dir' and '--output' exclude each other: both say "
			       "where the text goes");
	return 0;
}

static int check_build(const struct opts *opts, struct uft_err *err)
{
	if (check_etrace(opts, err) < 0)
		return -ERR_USAGE;
	if (opts->needs && opts->used_by)
		return err_set(err, -ERR_USAGE,
			       "options '--needs' and '--used-by' exclude each other");
	if (is_deps(opts) && opts->export_as != OPTS_AS_NOTHING && opts->export_as != OPTS_AS_DEPS)
		return err_set(err, -ERR_USAGE, "option '%s' needs '--as=deps' or no '--as'",
			       opts->needs ? "--needs" : "--used-by");
	if (!is_compdb(opts) && !asks_for_files(opts) && opts->export_as != OPTS_AS_DOT)
		return err_set(err, -ERR_USAGE,
			       "option '--as': build writes compdb, json, dot, deps or etrace; the "
			       "others are "
			       "for events export");
	if (opts->declared && (opts->export_as != OPTS_AS_DEPS || opts->needs || opts->used_by))
		return err_set(err, -ERR_USAGE, "option '--declared' needs '--as=deps'");
	if (opts->ignored_files && !is_deps(opts))
		return err_set(err, -ERR_USAGE,
			       "option '--ignore-files' needs '--as=deps', '--needs' or "
			       "'--used-by'");
	if (opts->ignored_files && deps_ignored_check(opts->ignored_files, err) < 0)
		return -ERR_USAGE;
	if (opts->appends && (!is_compdb(opts) || is_stdout(opts)))
		return err_set(err, -ERR_USAGE,
			       "option '--append' is for compile_commands.json only");
	if (opts->all_sources && !is_compdb(opts))
		return err_set(err, -ERR_USAGE, "option '--all' is for compile_commands.json only");
	if (opts->has_assemblers && !is_compdb(opts))
		return err_set(err, -ERR_USAGE,
			       "option '--assemblers' is for compile_commands.json only");
	if (opts->output && !*opts->output)
		return err_set(err, -ERR_USAGE, "option '--output' needs the name of a file");
	return 0;
}

/* Before the build, checks that the output can be written, because the build may take hours. */
static int check_output(const struct opts *opts, const char *name, struct uft_err *err)
{
	return is_stdout(opts) ? 0 : outfile_check(name, err);
}

/* Does the work of --append: reads the entries that the output file already has. */
static int load_earlier(const struct opts *opts, struct compdb *db, struct uft_err *err)
{
	struct check_db earlier cleanup_check_db = { 0 };
	struct uft_err why = { 0 };
	int ret = check_db_load(output_name(opts), &earlier, &why);

	if (ret == -ENOENT)
		return 0;
	if (ret < 0)
		return err_set(err, ret, "%s", why.text);
	for (size_t i = 0; i < earlier.nr && ret == 0; i++) {
		const struct check_entry *entry = &earlier.entries[i];

		ret = compdb_add(db, entry->directory, entry->file, entry->output, &entry->argv);
	}
	return ret < 0 ? err_set_errno(err, ret, "cannot read '%s'", output_name(opts)) : 0;
}

static void warn_about_commands(const struct opts *opts, const struct compdb *db)
{
	msg_warn_nr(&opts->msg, db->nr_unread,
		    "response {file|files} (@FILE) of compilers could not be read%s%s%s%s%s",
		    db->unread ? ", the first: '" : "", db->unread ? db->unread : "",
		    db->unread ? "' (" : "", db->unread ? strerror(-db->unread_why) : "",
		    db->unread ? ")" : "");
	msg_warn_nr(&opts->msg, db->nr_beyond,
		    "{command is|commands are} left out: all together the commands and their "
		    "response files would be more than %lu MB, which is the limit; if you trust "
		    "the build, use --no-limit",
		    COMPDB_COST_MAX >> 20);
	msg_warn_nr(&opts->msg, db->nr_not_text,
		    "{command is|commands are} left out: {it is|they are} not UTF-8, which JSON "
		    "has no way to write");
}

static int write_entries(const struct opts *opts, const struct compdb *db, struct uft_err *err)
{
	struct build_output out cleanup_build_output;
	int ret = build_output_open(&out, output_name(opts), 0644, err);

	if (ret < 0)
		return ret;
	compdb_write(db, &out.sink);
	return build_output_publish(&out, err);
}

static int write_compdb(const struct opts *opts, struct compdb *db,
			const struct executions *executions, struct uft_err *err)
{
	size_t nr_earlier = db->nr;
	int ret = compdb_add_executions(db, executions);

	if (ret < 0)
		return err_set_errno(err, ret, "cannot make '%s'", output_name(opts));
	ret = compdb_drop_earlier(db, nr_earlier);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot make '%s'", output_name(opts));
	warn_about_commands(opts, db);
	if (db->nr == nr_earlier && db->nr_gone)
		msg_warn_nr(
			&opts->msg, db->nr_gone,
			"{source is|sources are} left out, since {it is|they are} gone, no regular "
			"{file|files} or below /tmp; --all keeps {it|them}");
	if (db->nr == nr_earlier) {
		bool is_there = !is_stdout(opts) && access(output_name(opts), F_OK) == 0;

		msg_warn(&opts->msg, "%s%s%s%s",
			 db->nr_gone ? "nothing else was compiled" : "no compiler was run",
			 is_there ? ": '" : "", is_there ? output_name(opts) : "",
			 is_there ? "' is left as it was" : "");
		if (is_there)
			return 0;
	}
	return write_entries(opts, db, err);
}

static int write_tree(const struct opts *opts, const struct executions *executions,
		      struct files *files, struct uft_err *err)
{
	bool is_json = !is_deps(opts) && opts->export_as == OPTS_AS_JSON;

	if (is_json && !opts->no_limit && tree_count_readers(files) > TREE_READERS_MAX)
		return err_set(err, -EDQUOT,
			       "cannot show '%s': keys 'i' would list more than %lu readers of "
			       "pipes, which is the limit; if you trust it, use --no-limit",
			       opts->data_dir, TREE_READERS_MAX);

	struct build_output out cleanup_build_output;
	int ret = build_output_open(&out, output_name(opts), 0644, err);

	if (ret == 0 && is_deps(opts))
		ret = build_deps(opts, executions, files, &out.sink, err);
	if (ret < 0)
		return ret;
	if (is_json)
		tree_json(executions, files->has_events ? files : NULL, &out.sink);
	else if (!is_deps(opts))
		tree_dot(executions, &out.sink);
	if (is_json && !files->has_events)
		msg_warn(&opts->msg, "'%s' has no records of files: keys 'i' and 'o' are left out",
			 opts->data_dir);
	if (out.sink.has_broken)
		msg_warn(&opts->msg, "some names or arguments are not UTF-8, which JSON has no way "
				     "to write: U+FFFD stands in their place");
	return build_output_publish(&out, err);
}

static int write_executions(const struct opts *opts, struct compdb *db,
			    const struct trace_data *data, struct uft_err *err)
{
	struct executions executions cleanup_executions = { 0 };
	struct files files cleanup_files = { .is_unlimited = opts->no_limit };
	struct responses responses cleanup_responses = { .listener = { responses_see },
							 .is_big_endian = data->is_big_endian,
							 .is_unlimited = opts->no_limit };
	struct uft_err broken = { 0 };
	int ret;

	if (asks_for_files(opts))
		ret = files_load(&files, &executions, data->dir, data->is_big_endian, &broken, err);
	else
		ret = executions_load_heard(&executions, data->dir, data->is_big_endian,
					    &responses.listener, &broken, err);
	db->responses = &responses;

	if (ret == -ENOENT)
		return err_set(
			err, -ENODATA,
			"cannot tell what was built: '%s' has no records of processes; record "
			"them with: utrail build COMMAND",
			data->dir);
	if (ret == 0)
		ret = is_compdb(opts) ? write_compdb(opts, db, &executions, err)
				      : write_tree(opts, &executions, &files, err);
	db->responses = NULL;
	if (broken.code)
		msg_warn(&opts->msg, "%s", broken.text);
	return ret == 0 && broken.code ? CMD_FAILED : ret;
}

static int show_build(const struct opts *opts, const char *name, struct compdb *db,
		      struct uft_err *err)
{
	struct trace_data data;
	int ret = reader_open_data(&data, opts, err);

	if (ret)
		return ret;
	ret = is_etrace(opts) ? events_etrace_build(opts, &data, name, err)
			      : write_executions(opts, db, &data, err);
	reader_close_data(&data, opts);
	return ret;
}

/* Records the processes of the command, but no calls of functions: no probe is loaded. */
static int make_build_recording(const struct opts *opts, struct uft_err *err)
{
	struct opts recording = *opts;

	recording.cmd = &cmd_record;
	if (!recording.rec.proc_way)
		recording.rec.proc_way = PROC_WAY_AUTO;
	recording.rec.traces_files = asks_for_files(opts);
	recording.rec.traces_environment = opts->etrace.has_environment;
	recording.use_events = false;
	recording.rec.without_probe = true;
	recording.progress = OPTS_PROGRESS_OFF;
	return cmd_record.run(&recording, err);
}

/*
 * Check the path of the output file (outfile_check()), unless the output is stdout. With --append,
 * read the entries that the output file already has. If the check or the reading fails, return at
 * once. If the user has given a command, run the command and record its processes. Finally write
 * the output.
 *
 * Returns an error if the check, the reading or the recording fails. If the exit status of the
 * command is not 0, returns the exit status. In all other cases returns the result of writing the
 * output.
 */
static int run_build(const struct opts *opts, struct uft_err *err)
{
	struct compdb db cleanup_compdb = { .is_unlimited = opts->no_limit,
					    .has_assemblers = opts->has_assemblers,
					    .leaves_out_gone = !opts->all_sources };
	struct strbuf name cleanup_strbuf = { 0 };
	int status = CMD_DONE;
	int ret;

	strbuf_addf(&name, "%s%s%s", opts->work_dir ? opts->work_dir : "",
		    opts->work_dir ? "/" : "", output_name(opts));
	if (strbuf_oom(&name))
		return err_set_errno(err, -ENOMEM, "cannot write '%s'", output_name(opts));
	ret = check_output(opts, strbuf_str(&name), err);
	if (ret == 0 && opts->appends)
		ret = load_earlier(opts, &db, err);
	if (ret < 0)
		return ret;
	if (opts->nr_args) {
		status = make_build_recording(opts, err);
		if (status < 0 || err->code)
			return status;
	}
	ret = show_build(opts, strbuf_str(&name), &db, err);
	return status ? status : ret;
}

const struct cmd cmd_build = {
	.name = "build",
	.args = "[COMMAND [ARGUMENT...]]",
	.help = "run a build, and write compile_commands.json for the files that it compiles",
	.bit = CMD_BUILD,
	.needs_program = true,
	.may_read = true,
	.check = check_build,
	.run = run_build,
};
