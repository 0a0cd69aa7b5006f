/* `utrail events export --as=etrace` (see events_etrace.h). */
#include "cmds/events/events_etrace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/build/build_output.h"
#include "cmds/reader.h"
#include "utils/builddb/etrace/etrace_write.h"

/*
 * Writes the lines. Names in the lines may contain any bytes. A file gets these bytes unchanged. A
 * terminal gets them in an escaped form.
 */
static void put_lines(struct sink *sink, const struct strbuf *lines, bool is_terminal)
{
	struct text left = text_of(lines->data, lines->len);
	struct text line;
	bool is_whole;

	if (!is_terminal) {
		sink_put_made(sink, lines);
		return;
	}
	while (text_line(&left, &line, &is_whole)) {
		sink_text(sink, line.at, text_left(&line));
		sink_lit(sink, "\n");
	}
}

static void warn_left_out(const struct opts *opts, const struct etrace_writer *writer)
{
	if (!writer->has_files)
		msg_warn(&opts->msg,
			 "'%s' has no records of files: the text is about processes only",
			 opts->data_dir);
	msg_warn_nr(&opts->msg, writer->nr_out,
		    "{event is|events are} left out of etrace: it has no form for removed names");
}

/*
 * Writes all events. If the recording is damaged, the events before the damage are written, and
 * @broken gets the error. Returns 0, or a negative error with @err.
 */
static int put_all(const struct opts *opts, const struct trace_data *data,
		   const struct etrace_choice *choice, bool is_terminal, struct sink *sink,
		   struct uft_err *broken, struct uft_err *err)
{
	struct etrace_writer writer cleanup_etrace_writer;
	struct strbuf lines cleanup_strbuf = { 0 };
	int ret = etrace_writer_open(&writer, data->dir, data->is_big_endian, choice, err);

	if (ret == -ENOENT)
		return err_set(err, -ENODATA,
			       "'%s' has no records of processes; record them with: utrail record "
			       "--proc PROGRAM",
			       data->dir);
	if (ret < 0)
		return ret;
	while (!sink->failed && (ret = etrace_writer_next(&writer, &lines)) > 0) {
		put_lines(sink, &lines, is_terminal);
		strbuf_reset(&lines);
	}
	if (ret == -EDQUOT)
		return err_set(err, ret,
			       "cannot write what processes did: calls that close a range of "
			       "descriptors close more than %lu, which is the limit",
			       ETRACE_CLOSED_MAX);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot write what processes did");
	warn_left_out(opts, &writer);
	*broken = writer.broken;
	return 0;
}

int events_etrace_export(const struct opts *opts, const struct trace_data *data, struct sink *sink,
			 struct uft_err *err)
{
	const struct etrace_choice all = {
		.is_bare = opts->export_bare,
		.has_names = true,
		.has_mounts = true,
		.has_environment = true,
	};

	struct uft_err broken = { 0 };
	int ret = put_all(opts, data, &all, isatty(STDOUT_FILENO), sink, &broken, err);

	return reader_finish(sink, &broken, ret, err);
}

/*
 * If the recording is damaged, the events before the damage are written. If environment variables
 * of programs are written, only the owner of the output file may read the output file, because the
 * variables may hold secrets.
 */
int events_etrace_build(const struct opts *opts, const struct trace_data *data, const char *name,
			struct uft_err *err)
{
	const struct etrace_choice choice = {
		.ignores_repeats = opts->etrace.ignores_repeats,
		.has_names = opts->etrace.has_names,
		.has_mounts = opts->etrace.has_mounts,
		.has_environment = opts->etrace.has_environment,
	};
	struct build_output out cleanup_build_output;
	struct uft_err broken = { 0 };
	int ret = build_output_open(&out, name, choice.has_environment ? 0600 : 0644, err);

	if (ret == 0)
		ret = put_all(opts, data, &choice, out.is_stdout && isatty(STDOUT_FILENO),
			      &out.sink, &broken, err);
	if (ret == 0)
		ret = build_output_publish(&out, err);
	return ret < 0 ? ret : reader_finish(&out.sink, &broken, ret, err);
}
