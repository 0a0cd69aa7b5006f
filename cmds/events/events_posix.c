/*
 * Shows the events of POSIX Trace logs as lines (see events_posix.h). For a recording into which
 * the logs were imported, `events show` prints the same lines.
 */
#include "cmds/events/events_posix.h"

#include <errno.h>

#include "cmds/cmd.h"
#include "cmds/import/posix_logs.h"
#include "cmds/reader.h"
#include "trace/seam/reader.h"
#include "utils/base/cleanup.h"
#include "utils/format/fstrace/definition.h"
#include "utils/base/units.h"

static void put_event(struct sink *sink, const struct posix_log *log, struct strbuf *name)
{
	static const char digits[] = "0123456789abcdef";
	const struct pxt_event *event = &log->event;
	struct strbuf shown cleanup_strbuf = { 0 };

	strbuf_reset(name);
	posix_log_put_name(log, event->id, name);
	fst_definition_name(&shown, strbuf_str(name));
	sink_putf(sink, SECONDS_FORMAT " [%6u] ", SECONDS_OF(event->time_ns), event->pid);
	sink_str(sink, strbuf_str(&shown));
	sink_lit(sink, " DATA=");
	for (uint32_t i = 0; i < event->len; i++) {
		const char pair[] = { digits[log->data[i] >> 4], digits[log->data[i] & 15] };

		sink_text(sink, pair, sizeof(pair));
	}
	sink_either(sink, event->flags & PT_TRUNCATED, "...\n", "\n");
}

int events_posix_show(const struct opts *opts, struct uft_err *err)
{
	struct posix_logs logs cleanup(posix_logs_close) = { .msg = &opts->msg };
	struct strbuf name cleanup_strbuf = { 0 };
	struct sink sink cleanup_sink = { 0 };
	struct posix_log *log;
	int ret = posix_logs_are_given(opts, err);

	if (ret == 0)
		return err_set(err, -ERR_USAGE,
			       "events show: '%s' is no log of POSIX Trace; recordings are named "
			       "by -d",
			       opts->args[1]);
	if (ret > 0)
		ret = posix_logs_open(&logs, opts, err);
	if (ret == 0)
		ret = reader_open_sink(&sink, err);
	if (ret < 0)
		return ret;
	while ((log = posix_logs_next(&logs)) && !sink.failed)
		put_event(&sink, log, &name);
	ret = reader_finish(&sink, NULL, strbuf_oom(&name) ? -ENOMEM : 0, err);
	return ret == CMD_DONE && logs.nr_damaged ? CMD_FAILED : ret;
}
