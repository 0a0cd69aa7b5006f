/*
 * Makes a recording from logs of POSIX Trace (see posix_import.h). utils/format/event_data.h
 * describes the payloads of the recorded events.
 */
#include "cmds/import/posix_import.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "cmds/cmd.h"
#include "cmds/import/output.h"
#include "cmds/import/posix_logs.h"
#include "utils/base/cleanup.h"
#include "utils/format/event_ids.h"

/*
 * @last_ns: the time of the last record
 * @nr_out: the number of events that were left out
 */
struct posix_importing {
	const struct opts *opts;
	struct posix_logs logs;
	struct import_tasks tasks;
	struct import_kinds kinds;
	struct import_output out;
	struct strbuf name;
	struct strbuf body;
	uint64_t last_ns;
	uint64_t nr_events;
	uint64_t nr_out;
};

static void deinit_posix_import(struct posix_importing *im)
{
	posix_logs_close(&im->logs);
	import_tasks_deinit(&im->tasks);
	import_kinds_deinit(&im->kinds);
	import_output_close(&im->out);
	strbuf_deinit(&im->name);
	strbuf_deinit(&im->body);
}

static struct import_kind *find_kind(struct posix_importing *im, const struct posix_log *log,
				     uint32_t id, bool *is_full)
{
	strbuf_reset(&im->name);
	posix_log_put_name(log, id, &im->name);
	if (strbuf_oom(&im->name))
		return NULL;
	return import_kinds_name(&im->kinds, strbuf_str(&im->name), EVENT_POSIX_FORMAT, is_full);
}

/* Takes all event names of a log into the recording, even names of events that never occurred. */
static int take_names(struct posix_importing *im, const struct posix_log *log)
{
	char name[PT_NAME_MAX + 1];
	bool is_full = false;

	for (uint32_t nr = 0; nr < log->log.header.nr_names && !is_full; nr++) {
		uint32_t id = PT_FIRST_NAMED + nr;

		if (pxt_log_name_of(&log->log, id, name) && *name &&
		    !find_kind(im, log, id, &is_full) && !is_full)
			return -ENOMEM;
	}
	return 0;
}

/*
 * Converts @ns, the time of an event in a log, to a time of the recording's clock. The result is
 * always later than the time of the previous record. Returns false when @ns is 0, when the
 * recording's clock began at @ns or later, or when @ns or the result exceeds IMPORT_NS_MAX.
 */
static bool find_time(const struct posix_importing *im, uint64_t ns, uint64_t *time_ns)
{
	int64_t offset_ns = im->out.offset_ns;

	if (!ns || ns > IMPORT_NS_MAX || (offset_ns > 0 && ns <= (uint64_t)offset_ns))
		return false;
	*time_ns = MAX(ns - (uint64_t)offset_ns, im->last_ns + 1);
	return *time_ns <= IMPORT_NS_MAX;
}

/*
 * Finds the task of an event. An event without a process, such as POSIX_TRACE_OVERFLOW, belongs to
 * a task that is made for the log.
 */
static struct import_task *find_task(struct posix_importing *im, const struct posix_log *log,
				     bool *is_full)
{
	bool has_process = log->event.pid && log->event.pid <= FST_PID_LIMIT;
	const struct fst_origin origin = {
		.pid = has_process ? (int32_t)log->event.pid : 0,
		.has_thread = has_process && log->event.thread,
		.thread = has_process ? log->event.thread : 0,
	};

	return import_tasks_get(&im->tasks, &origin, log - im->logs.logs, is_full);
}

static int add_posix_event(struct posix_importing *im, const struct posix_log *log,
			   struct import_task *task, uint32_t id, uint64_t time_ns)
{
	const struct pxt_event *event = &log->event;
	const struct event_posix said = {
		.time_ns = htole64(event->time_ns),
		.address = htole64(event->address),
		.thread = htole64(event->thread),
		.pid = htole32(event->pid),
		.id = htole32(event->id),
		.flags = htole32(event->flags),
	};
	const uint32_t len = htole32(event->len);

	strbuf_reset(&im->body);
	strbuf_add(&im->body, log->data, event->len);
	strbuf_add(&im->body, &said, sizeof(said));
	if (strbuf_oom(&im->body))
		return -ENOMEM;
	im->last_ns = time_ns;
	im->nr_events++;
	return import_tasks_add(&im->tasks, task, time_ns, id,
				text_of((const char *)&len, sizeof(len)),
				text_of(im->body.data, im->body.len));
}

/* Adds an event to the output. Events that are left out are counted. Returns 0 or -ENOMEM. */
static int take_posix_event(struct posix_importing *im, const struct posix_log *log)
{
	bool lacks_kind = false, lacks_task = false;
	struct import_kind *kind;
	struct import_task *task;
	uint64_t time_ns;

	if (!find_time(im, log->event.time_ns, &time_ns)) {
		im->nr_out++;
		return 0;
	}
	kind = find_kind(im, log, log->event.id, &lacks_kind);
	task = kind ? find_task(im, log, &lacks_task) : NULL;
	if (task)
		return add_posix_event(im, log, task, kind->id, time_ns);
	im->nr_out++;
	return lacks_kind || lacks_task ? 0 : -ENOMEM;
}

static int take_all(struct posix_importing *im, struct uft_err *err)
{
	struct posix_log *log;
	int ret = 0;

	for (size_t i = 0; i < im->logs.nr && ret == 0; i++)
		ret = take_names(im, &im->logs.logs[i]);
	while (ret == 0 && (log = posix_logs_next(&im->logs))) {
		ret = take_posix_event(im, log);
		if (ret == 0 && im->tasks.buffered > IMPORT_BUFFER_BYTES) {
			ret = import_tasks_flush(&im->tasks, &im->out.dir.store, err);
			if (ret < 0)
				return ret;
		}
	}
	if (ret < 0)
		return err_set_errno(err, ret, "cannot import");
	return import_tasks_flush(&im->tasks, &im->out.dir.store, err);
}

static int finish_posix_logs(struct posix_importing *im, struct uft_err *err)
{
	struct text *programs cleanup_free = calloc(im->logs.nr, sizeof(*programs));

	if (!programs)
		return err_set_errno(err, -ENOMEM, "cannot import %zu logs", im->logs.nr);
	for (size_t i = 0; i < im->logs.nr; i++)
		programs[i] = text_of(im->logs.logs[i].path, strlen(im->logs.logs[i].path));
	return import_output_finish(&im->out, &im->tasks, &im->kinds, programs, im->logs.nr,
				    im->last_ns, err);
}

static bool has_any(const struct posix_logs *logs)
{
	for (size_t i = 0; i < logs->nr; i++) {
		if (logs->logs[i].has_event)
			return true;
	}
	return false;
}

/* Imports the logs. If the logs have no event, no recording is opened or made. */
static int run_posix_import(struct posix_importing *im, struct uft_err *err)
{
	int ret = posix_logs_open(&im->logs, im->opts, err);

	if (ret == 0 && !has_any(&im->logs))
		ret = err_set(err, -ENODATA, "the given logs have no events");
	if (ret == 0)
		ret = import_output_open(&im->out, im->opts, &im->tasks, &im->kinds, err);
	if (ret < 0)
		return ret;
	ret = take_all(im, err);
	if (ret == 0 && !im->nr_events)
		ret = err_set(err, -ENODATA, "no event can be in the recording: all are older");
	if (ret == 0)
		ret = finish_posix_logs(im, err);
	if (ret < 0)
		import_tasks_remove(&im->tasks, &im->out.dir.store);
	return ret;
}

static void tell_imported(const struct posix_importing *im)
{
	msg_warn_nr(&im->opts->msg, im->logs.nr_cut,
		    "{event has|events have} more data than a record takes: it is cut");
	msg_list("%llu events of %zu kinds in %zu tasks are in '%s', %llu events were left out",
		 (unsigned long long)im->nr_events, im->kinds.nr, im->tasks.nr,
		 im->out.into ? im->out.into : im->opts->data_dir, (unsigned long long)im->nr_out);
}

int posix_import(const struct opts *opts, struct uft_err *err)
{
	struct posix_importing im cleanup(deinit_posix_import) = {
		.opts = opts,
		.logs = { .msg = &opts->msg },
		.tasks = { .next_made = IMPORT_TID_MADE },
		.kinds = { .next_id = EVENT_ID_USER },
		.out = { .dir = STORE_DIR_CLOSED },
	};
	int ret = run_posix_import(&im, err);

	if (ret < 0)
		return ret;
	tell_imported(&im);
	return im.nr_out || im.logs.nr_damaged ? CMD_FAILED : CMD_DONE;
}
