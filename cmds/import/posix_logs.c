/*
 * Reads logs of POSIX Trace (see posix_logs.h). Logs may come from strangers:
 * trace/posixlog/log_read.c checks all of their bytes.
 */
#include "cmds/import/posix_logs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/seam/reader.h"
#include "utils/base/cleanup.h"
#include "utils/base/fd.h"

/* Returns 1 for a log, 0 for another file, or a negative error with @err. */
static int is_log(const char *path, struct uft_err *err)
{
	char magic[sizeof(((struct pxt_log_header *)NULL)->magic)];
	int fd cleanup_fd = file_open_regular(path, err);

	if (fd < 0)
		return fd;
	return fd_pread_full(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       memcmp(magic, PT_LOG_MAGIC, sizeof(magic)) == 0;
}

int posix_logs_are_given(const struct opts *opts, struct uft_err *err)
{
	int nr = 0;

	for (int i = 1; i < opts->nr_args; i++) {
		int ret = is_log(opts->args[i], err);

		if (ret < 0)
			return ret;
		nr += ret;
	}
	if (nr && nr < opts->nr_args - 1)
		return err_set(err, -ERR_USAGE,
			       "events %s: some files are logs of POSIX Trace, and some are not: "
			       "give one kind at a time",
			       opts->args[0]);
	return nr > 0;
}

/*
 * Reads the log's next event. When the rest of the file is damaged or missing, the log has no next
 * event.
 */
static void advance_log(struct posix_logs *logs, struct posix_log *log)
{
	int ret = pxt_log_next(&log->log, &log->event, log->data, POSIX_DATA_MAX);

	log->has_event = ret == 1;
	if (ret < 0) {
		msg_warn(logs->msg, "'%s' is damaged: the rest is left out", log->path);
		logs->nr_damaged++;
	}
	if (ret != 1 || log->event.len <= POSIX_DATA_MAX)
		return;
	log->event.len = POSIX_DATA_MAX;
	log->event.flags |= PT_TRUNCATED;
	logs->nr_cut++;
}

static void tell_missing(const struct posix_logs *logs, const struct posix_log *log)
{
	const struct pxt_log_header *header = &log->log.header;

	if (!header->is_closed)
		msg_warn(logs->msg,
			 "'%s' was not closed: it has only events that were flushed before its "
			 "program ended",
			 log->path);
	if (header->status.is_overrun || header->status.is_log_overrun)
		msg_warn(logs->msg, "'%s' lacks events: there was no room for all", log->path);
}

static int open_one(struct posix_logs *logs, const char *path, struct uft_err *err)
{
	struct posix_log *log = &logs->logs[logs->nr];
	int fd = file_open_regular(path, err);
	int ret;

	if (fd < 0)
		return fd;
	log->path = path;
	ret = pxt_log_open(&log->log, fd);
	if (ret < 0) {
		close(fd);
		return ret == -EINVAL ? err_set(err, ret,
						"'%s' is no log of POSIX Trace, or is damaged, "
						"or of a machine with another byte order",
						path)
				      : err_set_errno(err, ret, "cannot read '%s'", path);
	}
	log->data = malloc(POSIX_DATA_MAX);
	logs->nr++;
	if (!log->data)
		return err_set_errno(err, -ENOMEM, "cannot read '%s'", path);
	tell_missing(logs, log);
	advance_log(logs, log);
	return 0;
}

int posix_logs_open(struct posix_logs *logs, const struct opts *opts, struct uft_err *err)
{
	int ret = 0;

	logs->logs = calloc(opts->nr_args, sizeof(*logs->logs));
	if (!logs->logs)
		return err_set_errno(err, -ENOMEM, "cannot read %d logs", opts->nr_args - 1);
	for (int i = 1; i < opts->nr_args && ret == 0; i++) {
		for (int k = 1; k < i && ret == 0; k++) {
			if (strcmp(opts->args[i], opts->args[k]) == 0)
				ret = err_set(err, -ERR_USAGE, "events %s: '%s' is given twice",
					      opts->args[0], opts->args[i]);
		}
		if (ret == 0)
			ret = open_one(logs, opts->args[i], err);
	}
	return ret;
}

void posix_logs_close(struct posix_logs *logs)
{
	for (size_t i = 0; i < logs->nr; i++) {
		free(logs->logs[i].data);
		close(logs->logs[i].log.fd);
	}
	free(logs->logs);
}

struct posix_log *posix_logs_next(struct posix_logs *logs)
{
	struct posix_log *first = NULL;

	if (logs->given)
		advance_log(logs, logs->given);
	for (size_t i = 0; i < logs->nr; i++) {
		struct posix_log *log = &logs->logs[i];

		if (log->has_event && (!first || log->event.time_ns < first->event.time_ns))
			first = log;
	}
	return logs->given = first;
}

/*
 * Append the name that event @id has in recordings. The name begins with EVENT_POSIX_PREFIX. The
 * rest of the name is
 * - EVENT_POSIX_UNNAMED if @id is PT_UNNAMED, the id of unnamed events,
 * - the name that the log has for @id, or
 * - @id as a decimal number if the log has no name for @id.
 */
void posix_log_put_name(const struct posix_log *log, uint32_t id, struct strbuf *out)
{
	char name[PT_NAME_MAX + 1];

	if (id == PT_UNNAMED)
		strbuf_addstr(out, EVENT_POSIX_PREFIX EVENT_POSIX_UNNAMED);
	else if (pxt_log_name_of(&log->log, id, name) && *name)
		strbuf_addf(out, EVENT_POSIX_PREFIX "%s", name);
	else
		strbuf_addf(out, EVENT_POSIX_PREFIX "%u", id);
}
