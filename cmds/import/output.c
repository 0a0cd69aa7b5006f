/* The directory of imported events (see output.h). */
#include "cmds/import/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "cmds/record/run/infofile.h"
#include "config.h"
#include "utils/base/cleanup.h"
#include "utils/base/order.h"
#include "utils/base/vec.h"
#include "utils/format/event_data.h"
#include "utils/format/task_txt.h"
#include "utils/trace/event_kinds.h"

/* --- a recording that there is --- */

/* Nobody records into it, or imports. */
static int lock_dir(struct import_output *out, struct uft_err *err)
{
	int fd = open(out->into, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_set_errno(err, -errno, "cannot open '%s'", out->into);
	store_dir_use(&out->dir, fd);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_set(err, -EBUSY, "cannot import into '%s': somebody is writing to it",
			       out->into);
	return 0;
}

static int know_clock(struct import_output *out, const struct event_kinds *kinds,
		      struct uft_err *err)
{
	if (out->data.has_declared) {
		out->offset_ns = kinds->declared.offset_ns;
		return 0;
	}
	if (!(out->data.header.info_mask & INFO_UTC_OFFSET))
		return err_set(err, -EINVAL,
			       "cannot import into '%s': it does not say what time it was when it "
			       "was recorded",
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
	int ret = lock_dir(out, err);

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

/* --- a new one --- */

static int make_dir(struct import_output *out, struct uft_err *err)
{
	static const char options[] = "--event-full\n";
	const char *path = out->opts->data_dir;
	struct uft_err why = { 0 };
	int ret = store_dir_make(&out->dir, path, &why);

	if (ret == -EEXIST)
		return err_set(err, ret,
			       "cannot make '%s': it, or '%s.old', exists and is not a recording "
			       "that may be replaced; give another name with -d",
			       path, path);
	if (ret < 0)
		return err_set(err, ret, "%s", why.text);
	/* Without it readers leave out what is outside of functions. */
	return store_publish(&out->dir.store, "default.opts", options, strlen(options), err);
}

int import_output_open(struct import_output *out, const struct opts *opts,
		       struct import_tasks *tasks, struct import_kinds *kinds, struct uft_err *err)
{
	*out = (struct import_output){ .opts = opts,
				       .into = opts->import_into,
				       .dir = STORE_DIR_CLOSED };
	return out->into ? open_into(out, tasks, kinds, err) : make_dir(out, err);
}

void import_output_close(struct import_output *out)
{
	if (out->data.dir)
		data_close(&out->data);
	store_dir_close(&out->dir);
}

/* --- what is known when all is read --- */

static int append(struct import_output *out, const char *name, const struct strbuf *text,
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

	int ret = append(out, EVENT_DEFS_FILE, &definitions, err);

	return ret < 0 ? ret : append(out, "events.txt", &names, err);
}

/*
 * All processes of a log are one program, of the log's name, in one session, which is called by the first one's number: nobody else in
 * the recording has that.
 */
static int put_session(struct import_output *out, struct strbuf *text,
		       const struct import_task *task, const struct fst_log *log, int32_t *first,
		       struct uft_err *err)
{
	bool is_new = !*first;
	char map[NAME_MAX];
	struct task_line line = {
		.type = TASK_LINE_SESSION,
		.time_ns = task->first_ns,
		.pid = task->pid,
		.tid = task->pid,
		.path = log->prefix,
		.path_len = log->prefix_len,
	};

	if (is_new)
		*first = task->tid;
	snprintf(line.sid, sizeof(line.sid), "1%015x", (unsigned)*first);
	task_line_encode(&line, text);
	snprintf(map, sizeof(map), "sid-%s.map", line.sid);
	/* uftrace wants one, be it empty. */
	return is_new ? store_publish(&out->dir.store, map, "", 0, err) : 0;
}

static int write_tasks(struct import_output *out, const struct import_tasks *tasks,
		       const struct fst_log *logs, size_t nr_logs, struct uft_err *err)
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
			ret = put_session(out, &text, task, &logs[task->log], &first[task->log],
					  err);
		task_line_encode(&line, &text);
	}
	return ret < 0 ? ret : append(out, "task.txt", &text, err);
}

static int add_tids(struct info *info, const struct import_tasks *tasks)
{
	int32_t *tids = reallocarray(info->tids, info->nr_tids + tasks->nr, sizeof(*tids));

	if (!tids)
		return -ENOMEM;
	info->tids = tids;
	for (size_t i = 0; i < tasks->nr; i++)
		tids[info->nr_tids++] = tasks->all[i]->tid;
	qsort(tids, info->nr_tids, sizeof(*tids), order_i32);
	info->mask |= INFO_TASKINFO;
	return 0;
}

static int publish_info(struct import_output *out, struct data_header *header,
			const struct info *info, struct uft_err *err)
{
	uint8_t bytes[HEADER_SIZE];
	struct strbuf text cleanup_strbuf = { 0 };

	header->header_size = HEADER_SIZE;
	header->info_mask = info->mask;
	header->feat_mask |= FEAT_EVENT | FEAT_TASK_SESSION;
	header_encode(header, bytes);
	strbuf_add(&text, bytes, sizeof(bytes));
	info_encode(info, &text);
	if (strbuf_oom(&text))
		return err_set_errno(err, -ENOMEM, "cannot write 'info'");
	return store_publish(&out->dir.store, "info", text.data, text.len, err);
}

static int update_info(struct import_output *out, const struct import_tasks *tasks,
		       struct uft_err *err)
{
	if (add_tids(&out->data.info, tasks) < 0)
		return err_set_errno(err, -ENOMEM, "cannot write 'info'");
	return publish_info(out, &out->data.header, &out->data.info, err);
}

static int describe(struct import_output *out, const struct import_tasks *tasks,
		    const struct fst_log *logs, struct info *info)
{
	time_t now = time(NULL);
	char date[64];

	info->exename = strndup(logs->prefix, logs->prefix_len);
	info->cmdline = infofile_command_line(out->opts);
	info->version = strdup(UTRAIL_VERSION_TEXT);
	info->pattern_type = strdup(pattern_match_name(out->opts->match));
	info->record_date = ctime_r(&now, date) ? strndup(date, strcspn(date, "\n")) : strdup("");
	if (!info->exename || !info->cmdline || !info->version || !info->pattern_type ||
	    !info->record_date)
		return -ENOMEM;
	info->mask |= INFO_EXE_NAME | INFO_CMDLINE | INFO_VERSION | INFO_PATTERN_TYPE |
		      INFO_RECORD_DATE | INFO_UTC_OFFSET;
	return add_tids(info, tasks);
}

static int write_info(struct import_output *out, const struct import_tasks *tasks,
		      const struct fst_log *logs, uint64_t last_ns, struct uft_err *err)
{
	struct info info cleanup_info = { .elapsed_ns = last_ns - tasks->all[0]->first_ns };
	struct data_header header = {
		.version = HEADER_VERSION,
		.endian = BYTE_ORDER == BIG_ENDIAN ? HEADER_BIG_ENDIAN : HEADER_LITTLE_ENDIAN,
		.elf_class = sizeof(long) == 8 ? HEADER_CLASS_64 : HEADER_CLASS_32,
		.feat_mask = FEAT_SYM_REL_ADDR | FEAT_MAX_STACK,
		.max_stack = out->opts->max_stack,
	};

	if (describe(out, tasks, logs, &info) < 0)
		return err_set_errno(err, -ENOMEM, "cannot write 'info'");
	return publish_info(out, &header, &info, err);
}

int import_output_finish(struct import_output *out, const struct import_tasks *tasks,
			 const struct import_kinds *kinds, const struct fst_log *logs,
			 size_t nr_logs, uint64_t last_ns, struct uft_err *err)
{
	int ret = write_kinds(out, kinds, err);

	if (ret == 0)
		ret = import_tasks_publish(tasks, out->dir.fd, err);
	if (ret == 0)
		ret = write_tasks(out, tasks, logs, nr_logs, err);
	if (ret == 0)
		ret = out->into ? update_info(out, tasks, err)
				: write_info(out, tasks, logs, last_ns, err);
	if (ret == 0)
		store_dir_give_to_user(&out->dir);
	return ret;
}
