/* Exporter: an SQLite database of calls, functions, tasks and events. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/vec.h"
#include "utils/export/export.h"
#include "utils/export/nest.h"
#include "utils/export/payloads.h"
#include "utils/view/values/titles.h"

/* Tables and columns that also exist in Perfetto's trace_processor have the same names here. */
static const char schema[] =
	"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA user_version = 1;"
	"CREATE TABLE metadata(name TEXT PRIMARY KEY, str_value TEXT);"
	"CREATE TABLE process(upid INTEGER PRIMARY KEY, pid INTEGER, name TEXT, parent_pid "
	"INTEGER);"
	"CREATE TABLE thread(utid INTEGER PRIMARY KEY, tid INTEGER, name TEXT, upid INTEGER,"
	" is_main_thread INTEGER);"
	"CREATE TABLE function(id INTEGER PRIMARY KEY, name TEXT, module TEXT);"
	"CREATE TABLE call(id INTEGER PRIMARY KEY, ts INTEGER, dur INTEGER, self_dur INTEGER,"
	" utid INTEGER, function_id INTEGER, depth INTEGER, parent_id INTEGER,"
	" arguments TEXT, retval TEXT, total_dur INTEGER);"
	"CREATE TABLE event(id INTEGER PRIMARY KEY, ts INTEGER, utid INTEGER, name TEXT, data "
	"TEXT);"
	"CREATE VIEW slice AS SELECT c.id, c.ts, c.dur, c.self_dur, c.utid AS track_id,"
	" 'function' AS category, f.name, c.depth, c.parent_id, c.arguments, c.retval"
	" FROM call c JOIN function f ON f.id = c.function_id;"
	"CREATE VIEW thread_slice AS SELECT s.*, t.name AS thread_name, t.tid, t.utid,"
	" p.name AS process_name, p.pid, p.upid FROM slice s JOIN thread t ON t.utid = s.track_id"
	" JOIN process p USING (upid);"
	"CREATE VIEW calls_by_function AS SELECT f.name, count(*) AS count, sum(max(c.dur, 0)) AS "
	"dur,"
	" sum(c.self_dur) AS self_dur FROM call c JOIN function f ON f.id = c.function_id"
	" GROUP BY f.name;"
	"CREATE VIEW functions AS SELECT f.name, count(*) AS calls, sum(c.total_dur) AS total,"
	" sum(c.self_dur) AS self FROM call c JOIN function f ON f.id = c.function_id"
	" GROUP BY f.name;"
	"BEGIN;";

static const char last_words[] = "CREATE INDEX call_by_function ON call(function_id);"
				 "CREATE INDEX call_by_thread ON call(utid, ts);"
				 "CREATE INDEX call_by_parent ON call(parent_id);"
				 "COMMIT;";

enum statement {
	PUT_METADATA,
	PUT_PROCESS,
	PUT_THREAD,
	PUT_FUNCTION,
	PUT_CALL,
	PUT_EVENT,
	NR_STATEMENTS,
};

static const char *const statements[] = {
	[PUT_METADATA] = "INSERT INTO metadata VALUES(?, ?)",
	[PUT_PROCESS] = "INSERT INTO process VALUES(?, ?, ?, ?)",
	[PUT_THREAD] = "INSERT INTO thread VALUES(?, ?, ?, ?, ?)",
	[PUT_FUNCTION] = "INSERT INTO function VALUES(?, ?, ?)",
	[PUT_CALL] = "INSERT INTO call VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[PUT_EVENT] = "INSERT INTO event VALUES(NULL, ?, ?, ?, ?)",
};

/*
 * An element of sqlite_export.known: a function that the exporter knows.
 *
 * @is_put: the function is in the table of functions
 * @nr_open: the number of open calls of all functions whose count_id is the index of this element
 */
struct known_func {
	bool is_put;
	uint32_t nr_open;
};

struct open_call {
	sqlite3_int64 id;
	uint64_t start_ns;
	uint64_t child_ns;
	bool is_inherited;
};

/*
 * @fd: the file of the database, which has no name any more
 * @calls: the open calls of @task. The innermost call is the last
 * @payloads: the arguments of these calls
 * @known: the functions that the exporter knows; the index is the function id
 * @is_range: only a time range is exported, so calls that are open at the end of the range count as
 *         finished
 */
struct sqlite_export {
	struct nest nest;
	int fd;
	sqlite3 *db;
	sqlite3_stmt *put[NR_STATEMENTS];
	const struct task *task;
	struct payloads payloads;
	struct open_call *calls;
	size_t nr;
	size_t cap;
	sqlite3_int64 last_id;
	uint64_t last_ns;
	struct known_func *known;
	size_t nr_known;
	struct strbuf text;
	bool is_range;
};

static int failed(struct sqlite_export *s, struct uft_err *err)
{
	return err_set(err, -EIO, "cannot make a database: %s",
		       s->db ? sqlite3_errmsg(s->db) : "no memory");
}

/* Report @ret, an error of this exporter. If it is -EIO, SQLite has the text of the error. */
static int report_error(struct sqlite_export *s, int ret, struct uft_err *err)
{
	if (ret == -ENOMEM || s->nest.is_oom || strbuf_oom(&s->text))
		return err_set_errno(err, -ENOMEM, "cannot make a database");
	return failed(s, err);
}

/*
 * Make the database in a new directory. SQLite opens files with predictable names next to the
 * database, and other users must not be able to make these files.
 */
static int open_file(struct sqlite_export *s, struct uft_err *err)
{
	const char *top = getenv("TMPDIR");
	char dir[PATH_MAX];
	char path[PATH_MAX + 16];

	if (snprintf(dir, sizeof(dir), "%s/utrail-sqlite-XXXXXX", top && *top ? top : "/tmp") >=
	    (int)sizeof(dir))
		return err_set(err, -ENAMETOOLONG, "cannot make a temporary file");
	if (!mkdtemp(dir))
		return err_set_errno(err, -errno, "cannot make a temporary directory '%s'", dir);
	snprintf(path, sizeof(path), "%s/database", dir);
	s->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	int ret = s->fd < 0 ? -errno : 0;

	if (ret == 0 && sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		ret = failed(s, err);
	unlink(path);
	rmdir(dir);
	return ret < 0 ? err_set_errno(err, ret, "cannot make a temporary file '%s'", path) : 0;
}

static int open_database(struct sqlite_export *s, struct uft_err *err)
{
	int ret;

	/*
	 * Only one thread uses SQLite, so SQLite needs no locks. The locks would take a tenth of
	 * the export's CPU time. sqlite3_config() fails without harm if SQLite was used before.
	 */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	ret = open_file(s, err);

	if (ret < 0)
		return ret;
	if (sqlite3_exec(s->db, schema, NULL, NULL, NULL) != SQLITE_OK)
		return failed(s, err);
	for (size_t i = 0; i < NR_STATEMENTS; i++) {
		if (sqlite3_prepare_v2(s->db, statements[i], -1, &s->put[i], NULL) != SQLITE_OK)
			return failed(s, err);
	}
	return 0;
}

static void bind_bytes(struct sqlite_export *s, sqlite3_stmt *put, int at, const char *text,
		       size_t len)
{
	strbuf_reset(&s->text);
	escape_add(&s->text, MEDIUM_BINARY, text, len);
	sqlite3_bind_text(put, at, strbuf_str(&s->text), s->text.len, SQLITE_TRANSIENT);
}

static void bind_text(struct sqlite_export *s, sqlite3_stmt *put, int at, const char *text)
{
	bind_bytes(s, put, at, text, strlen(text));
}

static void bind_text_or_null(struct sqlite_export *s, sqlite3_stmt *put, int at, const char *text)
{
	if (text)
		bind_text(s, put, at, text);
	else
		sqlite3_bind_null(put, at);
}

static int step_statement(struct sqlite_export *s, enum statement which)
{
	int ret = sqlite3_step(s->put[which]);

	sqlite3_reset(s->put[which]);
	return ret == SQLITE_DONE ? 0 : -EIO;
}

static int put_metadata(struct sqlite_export *s, const char *name, const char *value)
{
	bind_text(s, s->put[PUT_METADATA], 1, name);
	bind_text(s, s->put[PUT_METADATA], 2, value);
	return step_statement(s, PUT_METADATA);
}

static int put_task(struct sqlite_export *s, const struct task *task)
{
	sqlite3_stmt *put = s->put[PUT_THREAD];

	sqlite3_bind_int64(put, 1, task->index + 1);
	sqlite3_bind_int64(put, 2, task->tid);
	bind_text(s, put, 3, task_name_at(task, UINT64_MAX));
	sqlite3_bind_int64(put, 4, task->pid);
	sqlite3_bind_int64(put, 5, task->pid == task->tid);
	return step_statement(s, PUT_THREAD);
}

static int put_process(struct sqlite_export *s, const struct task *task)
{
	sqlite3_stmt *put = s->put[PUT_PROCESS];

	sqlite3_bind_int64(put, 1, task->pid);
	sqlite3_bind_int64(put, 2, task->pid);
	bind_text(s, put, 3, title_program(task_session(task, UINT64_MAX)));
	if (task->ppid)
		sqlite3_bind_int64(put, 4, task->ppid);
	else
		sqlite3_bind_null(put, 4);
	return step_statement(s, PUT_PROCESS);
}

static int put_tasks(struct export *ex)
{
	struct sqlite_export *s = ex->state;
	int ret = 0;

	for (size_t i = 0; i < ex->pipe->nr_lanes; i++) {
		const struct task *task = ex->pipe->lanes[i].task;

		if (export_begins_process(ex->pipe, i))
			ret |= put_process(s, task);
		ret |= put_task(s, task);
	}
	return ret;
}

static void configure_database(struct pipeline_config *config)
{
	nest_configure_by_task(config);
	config->stages.closes_open_calls = true;
}

static int begin_database(struct export *ex, struct uft_err *err)
{
	struct sqlite_export *s = ex->state;
	int ret = export_nest_init(ex, &s->nest, err);

	s->fd = -1;
	s->is_range = ex->pipe->config.stages.opens_at_start;
	if (ret == 0)
		ret = open_database(s, err);
	if (ret < 0)
		return ret;
	ret |= put_metadata(s, "version", ex->config->tool);
	ret |= put_metadata(s, "command_line", title_cmdline(ex->pipe->data));
	ret |= put_metadata(s, "recorded_time", title_date(ex->pipe->data));
	ret |= put_tasks(ex);
	return ret < 0 || strbuf_oom(&s->text) ? report_error(s, ret, err) : 0;
}

static int know_function(struct sqlite_export *s, const struct func *func)
{
	sqlite3_stmt *put = s->put[PUT_FUNCTION];
	struct known_func *known = vec_reach(s->known, &s->nr_known, func->id, sizeof(*known));

	if (!known)
		return -ENOMEM;
	s->known = known;
	if (known[func->id].is_put)
		return 0;
	known[func->id].is_put = true;
	sqlite3_bind_int64(put, 1, func->id);
	bind_text(s, put, 2, func->name);
	bind_text_or_null(s, put, 3, func->module ? func->module->basename : NULL);
	return step_statement(s, PUT_FUNCTION);
}

static int enter_open_call(struct sqlite_export *s, const struct func *func, bool is_inherited)
{
	struct open_call *calls = vec_room(s->calls, s->nr, &s->cap, sizeof(*calls));

	if (!calls)
		return -ENOMEM;
	s->calls = calls;
	s->calls[s->nr++] = (struct open_call){ .id = ++s->last_id,
						.start_ns = s->last_ns,
						.is_inherited = is_inherited };

	int ret = know_function(s, func);

	/*
	 * know_function() has made s->known long enough for the index func->id. func->count_id is
	 * not larger than func->id. So s->known has an element for func->count_id.
	 */
	if (ret == 0)
		s->known[func->count_id].nr_open++;
	return ret;
}

/*
 * Returns the time from the beginning of the innermost open call to s->last_ns, minus the time of
 * the callees of this call. Callees that are not in the database are not subtracted.
 */
static uint64_t rest_ns(const struct sqlite_export *s)
{
	const struct open_call *call = &s->calls[s->nr - 1];

	return s->last_ns - call->start_ns - call->child_ns;
}

/*
 * Write the innermost call.
 *
 * @is_finished: the call has returned
 * @retval: its return value; NULL: unknown
 */
static int put_call(struct sqlite_export *s, const struct func *func, bool is_finished,
		    uint64_t self_ns, const char *retval)
{
	const struct open_call *call = &s->calls[--s->nr];
	sqlite3_stmt *put = s->put[PUT_CALL];
	uint64_t dur_ns = s->last_ns - call->start_ns;
	/*
	 * As in `utrail report`, only the outermost of recursive calls has a total time. Calls that
	 * the task has inherited at a fork have no total time.
	 */
	bool is_inner = --s->known[func->count_id].nr_open || call->is_inherited;
	uint64_t total_ns = is_inner ? 0 : dur_ns;

	sqlite3_bind_int64(put, 1, call->id);
	sqlite3_bind_int64(put, 2, call->start_ns);
	sqlite3_bind_int64(put, 3, is_finished ? (sqlite3_int64)dur_ns : -1);
	sqlite3_bind_int64(put, 4, self_ns);
	sqlite3_bind_int64(put, 5, s->task->index + 1);
	sqlite3_bind_int64(put, 6, func->id);
	sqlite3_bind_int64(put, 7, s->nr);
	if (s->nr) {
		s->calls[s->nr - 1].child_ns += dur_ns;
		sqlite3_bind_int64(put, 8, s->calls[s->nr - 1].id);
	} else {
		sqlite3_bind_null(put, 8);
	}

	char *arguments cleanup_free = payloads_take(&s->payloads, s->nr);

	bind_text_or_null(s, put, 9, arguments);
	bind_text_or_null(s, put, 10, retval);
	sqlite3_bind_int64(put, 11, total_ns);
	return step_statement(s, PUT_CALL);
}

static int end_task(struct sqlite_export *s)
{
	struct nest_edge edge;
	int ret = 0;

	while (nest_end(&s->nest.tasks[s->task->index], &edge))
		ret |= put_call(s, edge.func, false, rest_ns(s), NULL);
	return ret;
}

static int put_database_point(struct export *ex, const struct task *task, const struct event *event)
{
	struct sqlite_export *s = ex->state;
	sqlite3_stmt *put = s->put[PUT_EVENT];
	struct strbuf name cleanup_strbuf = { 0 };
	struct strbuf data cleanup_strbuf = { 0 };

	event_put_name(&ex->texts, event, &name);
	event_put_data(&ex->texts, task, event, &data);
	if (strbuf_oom(&name) || strbuf_oom(&data))
		return -ENOMEM;
	sqlite3_bind_int64(put, 1, s->last_ns);
	sqlite3_bind_int64(put, 2, task->index + 1);
	bind_text(s, put, 3, strbuf_str(&name));
	bind_bytes(s, put, 4, strbuf_str(&data), data.len);
	return step_statement(s, PUT_EVENT);
}

/*
 * Write the innermost call, which may be a wait (nest.h). nest_next() has ended it at @event.
 *
 * @is_own: @event is the EXIT of the written call
 */
static int put_end(struct sqlite_export *s, const struct event *event, const struct func *func,
		   bool is_own, const char *retval)
{
	bool is_exit = event->type == EVENT_EXIT;
	bool is_finished = s->is_range || !is_exit || !(event->flags & EVENT_UNFINISHED);

	/*
	 * If @event is the end of this call, event->self_ns is the self time that `utrail report`
	 * shows. rest_ns() would subtract only the callees that are in the database.
	 */
	return put_call(s, func, is_finished, is_own ? event->self_ns : rest_ns(s), retval);
}

static int put_edge(struct export *ex, const struct event *event, const struct nest_edge *edge)
{
	struct sqlite_export *s = ex->state;
	struct strbuf text cleanup_strbuf = { 0 };
	bool is_own = nest_is_own(&s->nest.tasks[s->task->index], event, edge);
	bool has_text = event->data && is_own && export_put_payload(ex, s->task, event, &text);

	if (strbuf_oom(&text))
		return -ENOMEM;
	if (!edge->is_begin)
		return put_end(s, event, edge->func, is_own, has_text ? strbuf_str(&text) : NULL);

	int ret = enter_open_call(s, edge->func,
				  event->type == EVENT_ENTRY && (event->flags & EVENT_INHERITED));

	return ret == 0 && has_text ? payloads_put(&s->payloads, s->nr - 1, &text) : ret;
}

static int put_database_events(struct export *ex, const struct event_span *span,
			       struct uft_err *err)
{
	struct sqlite_export *s = ex->state;
	struct nest_task *open = &s->nest.tasks[span->task->index];
	struct nest_edge edge;
	int ret = 0;

	if (span->task != s->task) {
		if (s->task)
			ret = end_task(s);
		s->task = span->task;
		s->last_ns = 0;
	}
	for (size_t i = 0; i < span->nr && ret == 0; i++) {
		const struct event *event = &span->events[i];

		s->last_ns = MAX(s->last_ns, event->time_ns);
		if (event->type == EVENT_POINT)
			ret = export_point(ex, span->task, event);
		while (ret == 0 && nest_next(&s->nest, open, event, &edge))
			ret = put_edge(ex, event, &edge);
	}
	if (ret < 0 || s->nest.is_oom || strbuf_oom(&s->text))
		return report_error(s, ret, err);
	return 0;
}

static void close_database(struct sqlite_export *s)
{
	for (size_t i = 0; i < NR_STATEMENTS; i++) {
		sqlite3_finalize(s->put[i]);
		s->put[i] = NULL;
	}
	sqlite3_close(s->db);
	s->db = NULL;
}

static int end_database(struct export *ex, struct uft_err *err)
{
	struct sqlite_export *s = ex->state;
	int ret = s->task ? end_task(s) : 0;

	if (ret < 0 || strbuf_oom(&s->text))
		return report_error(s, ret, err);
	if (sqlite3_exec(s->db, last_words, NULL, NULL, NULL) != SQLITE_OK)
		return failed(s, err);
	close_database(s);
	ret = export_copy_file(ex, s->fd);
	return ret < 0 ? err_set_errno(err, ret, "cannot read the database") : 0;
}

static void deinit_database(struct export *ex)
{
	struct sqlite_export *s = ex->state;

	close_database(s);
	if (s->fd >= 0)
		close(s->fd);
	nest_deinit(&s->nest);
	strbuf_deinit(&s->text);
	payloads_deinit(&s->payloads);
	free(s->calls);
	free(s->known);
}

const struct exporter exp_sqlite = {
	.name = "sqlite",
	.medium = MEDIUM_BINARY,
	.is_binary = true,
	.state_bytes = sizeof(struct sqlite_export),
	.configure = configure_database,
	.begin = begin_database,
	.events = put_database_events,
	.end = end_database,
	.deinit = deinit_database,
	.point = put_database_point,
};
