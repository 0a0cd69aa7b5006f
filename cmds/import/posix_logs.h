/* Several logs of POSIX Trace, merged by time, for `utrail events show` and `import`. */
#ifndef UTRAIL_CMDS_IMPORT_POSIX_LOGS_H
#define UTRAIL_CMDS_IMPORT_POSIX_LOGS_H

#include <stdbool.h>

#include "cmds/terminal/msg.h"
#include "cmds/opts.h"
#include "trace/seam/reader.h"
#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/event_data.h"

/*
 * The maximum size of an event's data, in bytes. The event's payload also has room for the size of
 * the data and for a struct event_posix.
 */
#define POSIX_DATA_MAX (EVENT_DATA_MAX - sizeof(struct event_posix) - sizeof(uint32_t))

/*
 * A log that is open.
 *
 * @has_event: @event is the next event
 * @data: the data of that event
 */
struct posix_log {
	const char *path;
	struct pxt_log log;
	struct pxt_event event;
	bool has_event;
	unsigned char *data;
};

/*
 * Starts as { .msg = ... }, ends with posix_logs_close().
 *
 * @nr_damaged: the number of logs that are damaged or end too early
 * @nr_cut: the number of events that have more data than a recording can hold
 */
struct posix_logs {
	const struct msg *msg;
	struct posix_log *logs;
	size_t nr;
	struct posix_log *given;
	size_t nr_damaged;
	uint64_t nr_cut;
};

/*
 * Returns 1 when all files on the command line are logs of POSIX Trace, and 0 when none is. Returns
 * a negative error with @err when only some are, or when a file cannot be opened.
 */
int posix_logs_are_given(const struct opts *opts, struct uft_err *err);

/* Open the logs, and report their missing parts. Returns 0, or a negative error with @err. */
int posix_logs_open(struct posix_logs *logs, const struct opts *opts, struct uft_err *err);
void posix_logs_close(struct posix_logs *logs);

/*
 * Returns the log with the next event, or NULL at the end of all logs. The event is valid until the
 * next call.
 */
struct posix_log *posix_logs_next(struct posix_logs *logs);

/* Append the name of an event type in the form "posix:NAME". */
void posix_log_put_name(const struct posix_log *log, uint32_t id, struct strbuf *out);

#endif
