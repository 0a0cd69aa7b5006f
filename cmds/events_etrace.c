/* `utrail events export --as=etrace` (see events_etrace.h). */
#include "cmds/events_etrace.h"

#include <errno.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/reader.h"
#include "utils/procs/etrace_write.h"

/* Names may have any bytes: a file gets them as they are, a terminal does not. */
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
	if (writer->nr_out)
		msg_warn(&opts->msg,
			 "%llu events are left out of etrace: it has none of removed names",
			 (unsigned long long)writer->nr_out);
}

int events_etrace_export(const struct opts *opts, const struct trace_data *data, struct sink *sink,
			 struct uft_err *err)
{
	struct etrace_writer writer cleanup_etrace_writer;
	struct strbuf lines cleanup_strbuf = { 0 };
	bool is_terminal = isatty(STDOUT_FILENO);
	int ret = etrace_writer_open(&writer, data->dir, data->is_big_endian, opts->export_bare,
				     err);

	if (ret == -ENOENT)
		return err_set(err, -ENODATA,
			       "'%s' says nothing of processes; record them with: utrail record "
			       "--proc PROGRAM",
			       data->dir);
	if (ret < 0)
		return ret;
	while (!sink->failed && (ret = etrace_writer_next(&writer, &lines)) > 0) {
		put_lines(sink, &lines, is_terminal);
		strbuf_reset(&lines);
	}
	if (ret < 0)
		return err_set_errno(err, ret, "cannot write what processes did");
	warn_left_out(opts, &writer);
	return reader_finish(sink, &writer.broken, 0, err);
}
