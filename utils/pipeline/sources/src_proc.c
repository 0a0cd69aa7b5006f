/* Source of events: proc.dat (see src_proc.h). */
#include "utils/pipeline/sources/src_proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/kernel/perf_dat.h"
#include "utils/format/proc_dat.h"
#include "utils/pipeline/recording/proc_file.h"
#include "utils/pipeline/stages/stage.h"

/*
 * One file. It is read one event ahead: if @has_next is true, this event is @next.
 *
 * @damage: the damage of the file, until it is reported
 * @shown: the payload of the last delivered event
 */
struct src_proc {
	struct source source;
	struct source_context context;
	struct proc_file file;
	struct proc_record next;
	bool has_next;
	struct uft_err damage;
	struct strbuf shown;
};

static uint64_t proc_next_ns(struct source *source)
{
	const struct src_proc *src = (const struct src_proc *)source;

	/* The time 0 makes the caller call proc_read() soon. proc_read() reports the damage. */
	return src->has_next ? src->next.time_ns : src->damage.code ? 0 : UINT64_MAX;
}

static bool is_known(uint32_t kind)
{
	return kind >= PROC_FORK && kind < PROC_BEYOND;
}

/* Go to the next record that is needed, if there is one. */
static void advance_proc(struct src_proc *src)
{
	int got;

	src->has_next = false;
	do {
		got = proc_file_next(&src->file, &src->next, &src->damage);
	} while (got > 0 && !is_known(src->next.kind));
	if (got > 0) {
		src->has_next = true;
		/* UINT64_MAX means that there is no event. */
		src->next.time_ns = MIN(src->next.time_ns, UINT64_MAX - 1);
	}
}

/* List a task that task.txt lacks, for example a task without a probe. */
static int note_newcomer(struct src_proc *src, int32_t tid, int32_t pid)
{
	struct task_list *list = src->context.newcomers;
	struct task *task;

	if (!list || data_task(src->context.data, tid))
		return 0;
	task = task_list_get(list, tid);
	if (!task)
		return -ENOMEM;
	/* If the beginning of the task was not recorded, only this record has the task's pid. */
	if (task->pid == tid && !task->start_ns && pid > 0)
		task->pid = pid;
	return 0;
}

static int note_child(struct src_proc *src)
{
	const struct proc_record *rec = &src->next;
	struct task_list *list = src->context.newcomers;
	struct proc_fork made;

	if (rec->kind != PROC_FORK || !src->context.takes_notes ||
	    !proc_fork_decode(rec->data, rec->len, src->context.data->is_big_endian, &made))
		return 0;

	struct task *task = data_task(src->context.data, made.child);

	/*
	 * If a task has executed another program before the task's first record, task.txt does not
	 * contain the task's parent.
	 */
	if (task && !task->ppid)
		task->ppid = rec->pid;
	if (task || !list)
		return 0;
	task = task_list_get(list, made.child);
	if (!task)
		return -ENOMEM;
	/*
	 * The kernel may give the tid of an ended task to a new task. If task->start_ns is set,
	 * @task may describe an earlier task with the tid made.child, and is not changed.
	 */
	if (task->start_ns)
		return 0;
	task->pid = made.child_pid;
	task->ppid = rec->pid;
	task->is_fork = made.child_pid != rec->pid;
	task->start_ns = rec->time_ns;
	return 0;
}

/*
 * Store a task's name. As in the kernel, the name is the base name of the executable file, or a
 * name that the task has given itself.
 */
static int note_name(struct src_proc *src)
{
	const struct proc_record *rec = &src->next;
	bool big = src->context.data->is_big_endian;
	char comm[PERF_COMM_MAX] = "";
	struct proc_exec exec;
	struct proc_act act;
	struct text name;

	if (!src->context.takes_notes)
		return 0;
	if (rec->kind == PROC_EXEC && proc_exec_decode(rec->data, rec->len, big, &exec))
		name = exec.program;
	else if (rec->kind == PROC_NAME && proc_act_decode(rec->data, rec->len, big, &act))
		name = act.texts[0];
	else
		return 0;

	const char *slash = memrchr(name.at, '/', text_left(&name));

	if (slash && rec->kind == PROC_EXEC)
		name.at = slash + 1;

	size_t len = MIN(text_left(&name), sizeof(comm) - 1);

	memcpy(comm, name.at, len);
	return len ? data_name_task(src->context.data, rec->tid, rec->time_ns, comm) : 0;
}

static int take_notes(struct src_proc *src)
{
	int ret = note_newcomer(src, src->next.tid, src->next.pid);

	if (ret == 0)
		ret = note_child(src);
	return ret == 0 ? note_name(src) : ret;
}

static int show_proc_event(struct src_proc *src, struct event *event)
{
	size_t len = MIN(src->next.len, (uint32_t)UINT16_MAX);

	strbuf_reset(&src->shown);
	strbuf_add(&src->shown, src->next.data, len);
	if (strbuf_oom(&src->shown))
		return -ENOMEM;
	*event = (struct event){
		.time_ns = src->next.time_ns,
		.id = EVENT_ID_PROC + src->next.kind,
		.data = (const uint8_t *)strbuf_str(&src->shown),
		.data_len = len,
		.type = EVENT_POINT,
	};
	return 0;
}

/* Deliver one record at a time, since recordings have few of them. */
static ssize_t proc_read(struct source *source, struct event *events, size_t max, uint64_t until_ns,
			 struct uft_err *err)
{
	struct src_proc *src = (struct src_proc *)source;
	int ret;

	if (!src->has_next && src->damage.code) {
		int code = src->damage.code;

		err_set(err, code, "%s", src->damage.text);
		err_clear(&src->damage);
		return code;
	}
	if (!src->has_next || src->next.time_ns > until_ns)
		return 0;
	ret = take_notes(src);
	if (ret == 0)
		ret = show_proc_event(src, events);
	if (ret < 0)
		return err_set_errno(err, ret, "cannot read what task %d did", src->next.tid);
	source->tid = src->next.tid;
	source->other_tid = src->next.pid;
	source->task = data_task(src->context.data, src->next.tid);
	advance_proc(src);
	return 1;
}

static int proc_more(struct source *source, struct uft_err *err)
{
	struct src_proc *src = (struct src_proc *)source;

	if (!src->has_next)
		advance_proc(src);
	return 0;
}

static void proc_close(struct source *source)
{
	struct src_proc *src = (struct src_proc *)source;

	proc_file_close(&src->file);
	strbuf_deinit(&src->shown);
	free(src);
}

static int open_file(const struct source_context *context, struct source_list *list,
		     struct uft_err *err)
{
	static const struct source_ops ops = { proc_next_ns, proc_read, proc_more, proc_close };
	const struct trace_data *data = context->data;
	struct src_proc *src = calloc(1, sizeof(*src));

	if (!src)
		return err_set_errno(err, -ENOMEM, "cannot read what processes did");
	src->source.ops = &ops;
	src->context = *context;

	int ret = proc_file_open(&src->file, data->dir, data->is_big_endian, err);

	if (ret < 0) {
		proc_close(&src->source);
		return ret == -ENOENT ? 0 : ret;
	}
	advance_proc(src);
	ret = source_list_add(list, &src->source);
	return ret < 0 ? err_set_errno(err, ret, "cannot read what processes did") : 0;
}

static bool wants(const struct stage_config *stages)
{
	return stages->show_events;
}

const struct source_kind src_proc_kind = { .name = "proc", .open = open_file, .wants = wants };
