/* The directory of imported events (see output.h). */
#include "cmds/import/output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmds/import/dir.h"
#include "utils/base/cleanup.h"
#include "utils/format/event_data.h"
#include "utils/format/task_txt.h"
#include "utils/pipeline/kinds/event_kinds.h"

/* --- an existing recording --- */

static int know_clock(struct import_output *out, const struct event_kinds *kinds,
		      struct uft_err *err)
{
	if (out->data.has_declared) {
		out->offset_ns = kinds->declared.offset_ns;
		return 0;
	}
	if (!(out->data.header.info_mask & INFO_UTC_OFFSET))
		return err_set(err, -EINVAL,
			       "cannot import into '%s': it does not have the time of day of its "
			       "recording",
			       out->into);
	if (__builtin_mul_overflow(out->data.info.utc_offset_s, 1000000000LL, &out->offset_ns))
		return err_set(err, -EINVAL, "cannot import into '%s': its clock cannot be right",
			       out->into);
	msg_warn(&out->opts->msg,
		 "'%s' knows the time of day to the second only: imported events may be that much "
		 "too early or late",
		 out->into);
	return 0;
}

static size_t size_of(const struct import_output *out, const char *name)
{
	struct stat st;

	return fstatat(out->dir.fd, name, &st, 0) == 0 ? st.st_size : 0;
}

static int know_kinds(struct import_output *out, struct import_kinds *kinds, struct uft_err *err)
{
	struct event_kinds known;
	int ret = event_kinds_load(&known, &out->data, err);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < known.nr; i++) {
		uint64_t id = known.kinds[i].id;

		if (id >= kinds->next_id && id < EVENT_ID_COUNTER)
			kinds->next_id = id + 1;
	}
	kinds->bytes = MAX(size_of(out, "events.txt"), size_of(out, EVENT_DEFS_FILE));
	ret = know_clock(out, &known, err);
	event_kinds_deinit(&known);
	return ret;
}

static int know_tasks(const struct import_output *out, struct import_tasks *tasks,
		      struct uft_err *err)
{
	for (size_t i = 0; i < out->data.nr_tasks; i++) {
		const struct task *task = &out->data.tasks[i];

		if (import_tasks_know(tasks, task->pid, task->tid) < 0)
			return err_set_errno(err, -ENOMEM, "cannot import into '%s'", out->into);
	}
	return 0;
}

static int open_into(struct import_output *out, struct import_tasks *tasks,
		     struct import_kinds *kinds, struct uft_err *err)
{
	int ret = import_dir_lock(&out->dir, out->into, err);

	tasks->hides = true;
	if (ret == 0)
		ret = data_open(&out->data, out->into, DEMANGLE_NO, err);
	if (ret == 0 && out->data.is_big_endian != (BYTE_ORDER == BIG_ENDIAN))
		ret = err_set(err, -EINVAL,
			      "cannot import into '%s': it is of a machine with another byte order",
			      out->into);
	if (ret == 0)
		ret = know_tasks(out, tasks, err);
	return ret < 0 ? ret : know_kinds(out, kinds, err);
}

/* --- a new recording --- */

int import_output_open(struct import_output *out, const struct opts *opts,
		       struct import_tasks *tasks, struct import_kinds *kinds, struct uft_err *err)
{
	*out = (struct import_output){ .opts = opts,
				       .into = opts->import_into,
				       .dir = STORE_DIR_CLOSED };
	if (out->into)
		return open_into(out, tasks, kinds, err);
	/* Without --event-full, readers would leave out events outside of functions. */
	return import_dir_make(&out->dir, opts->data_dir, "--event-full\n", err);
}

void import_output_close(struct import_output *out)
{
	if (out->data.dir)
		data_close(&out->data);
	store_dir_close(&out->dir);
}

/* --- after all events: write the event kinds, the tasks and the file `info` --- */

static int append_text_file(struct import_output *out, const char *name, const struct strbuf *text,
			    struct uft_err *err)
{
	int stream = strbuf_oom(text) ? -ENOMEM : store_open(&out->dir.store, name);
	int ret = stream < 0 ? stream
			     : store_append(&out->dir.store, stream, strbuf_str(text), text->len);

	if (stream >= 0)
		store_close(&out->dir.store, stream);
	return ret < 0 ? err_set_errno(err, ret, "cannot write '%s'", name) : 0;
}

static int write_kinds(struct import_output *out, const struct import_kinds *kinds,
		       struct uft_err *err)
{
	struct strbuf names cleanup_strbuf = { 0 };
	struct strbuf definitions cleanup_strbuf = { 0 };

	if (!out->data.has_declared)
		strbuf_addf(&definitions, "CLOCK: %lld\n", (long long)out->offset_ns);
	import_kinds_put_definitions(kinds, &definitions);
	import_kinds_put_names(kinds, &names);

	int ret = append_text_file(out, EVENT_DEFS_FILE, &definitions, err);

	return ret < 0 ? ret : append_text_file(out, "events.txt", &names, err);
}

/*
 * Appends the session line of a new process. @task begins the process. All new processes of
 * a log share one session. The session's id contains *@first, a tid that no other task of the
 * recording has.
 *
 * @first: points to 0 at the first call of put_session() for a log. The first call sets *@first to
 *         the tid of @task, and later calls use *@first
 */
static int put_session(struct import_output *out, struct strbuf *text,
		       const struct import_task *task, struct text program, int32_t *first,
		       struct uft_err *err)
{
	bool is_new = !*first;
	char map[NAME_MAX];
	struct task_line line = {
		.type = TASK_LINE_SESSION,
		.time_ns = task->first_ns,
		.pid = task->pid,
		.tid = task->pid,
		.path = program.at,
		.path_len = text_left(&program),
	};

	if (is_new)
		*first = task->tid;
	snprintf(line.sid, sizeof(line.sid), "1%015x", (unsigned)*first);
	task_line_encode(&line, text);
	snprintf(map, sizeof(map), "sid-%s.map", line.sid);
	/* uftrace needs a map file, but the file may be empty. */
	return is_new ? store_publish(&out->dir.store, map, "", 0, err) : 0;
}

static int write_tasks(struct import_output *out, const struct import_tasks *tasks,
		       const struct text *programs, size_t nr_logs, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	int32_t *first cleanup_free = calloc(nr_logs, sizeof(*first));
	int ret = first ? 0 : err_set_errno(err, -ENOMEM, "cannot write 'task.txt'");

	for (size_t i = 0; ret == 0 && i < tasks->nr; i++) {
		const struct import_task *task = tasks->all[i];
		const struct task_line line = { .type = TASK_LINE_TASK,
						.time_ns = task->first_ns,
						.pid = task->pid,
						.tid = task->tid };

		if (task->is_new_process)
			ret = put_session(out, &text, task, programs[task->log], &first[task->log],
					  err);
		task_line_encode(&line, &text);
	}
	return ret < 0 ? ret : append_text_file(out, "task.txt", &text, err);
}

static int add_tids(struct info *info, const struct import_tasks *tasks)
{
	int32_t *tids cleanup_free = calloc(tasks->nr + 1, sizeof(*tids));

	if (!tids)
		return -ENOMEM;
	for (size_t i = 0; i < tasks->nr; i++)
		tids[i] = tasks->all[i]->tid;
	return import_dir_add_tids(info, tids, tasks->nr);
}

static int publish_info(struct import_output *out, struct data_header *header,
			const struct info *info, struct uft_err *err)
{
	header->feat_mask |= FEAT_EVENT;
	return import_dir_publish(&out->dir, header, info, err);
}

static int update_info(struct import_output *out, const struct import_tasks *tasks,
		       struct uft_err *err)
{
	if (add_tids(&out->data.info, tasks) < 0)
		return err_set_errno(err, -ENOMEM, "cannot write 'info'");
	return publish_info(out, &out->data.header, &out->data.info, err);
}

static int write_info(struct import_output *out, const struct import_tasks *tasks,
		      const struct text *programs, uint64_t last_ns, struct uft_err *err)
{
	struct info info cleanup_info = { .elapsed_ns = last_ns - tasks->all[0]->first_ns };
	struct data_header header = import_dir_header(out->opts);

	if (import_dir_describe(out->opts, programs->at, text_left(programs), &info) < 0 ||
	    add_tids(&info, tasks) < 0)
		return err_set_errno(err, -ENOMEM, "cannot write 'info'");
	return publish_info(out, &header, &info, err);
}

int import_output_finish(struct import_output *out, const struct import_tasks *tasks,
			 const struct import_kinds *kinds, const struct text *programs,
			 size_t nr_logs, uint64_t last_ns, struct uft_err *err)
{
	int ret = write_kinds(out, kinds, err);

	if (ret == 0)
		ret = import_tasks_publish(tasks, out->dir.fd, err);
	if (ret == 0)
		ret = write_tasks(out, tasks, programs, nr_logs, err);
	if (ret == 0)
		ret = out->into ? update_info(out, tasks, err)
				: write_info(out, tasks, programs, last_ns, err);
	if (ret == 0)
		store_dir_give_to_user(&out->dir);
	return ret;
}
