/* Makes records from the events of an etrace text (see etrace_event.h). */
#include "utils/builddb/etrace/etrace_event.h"

#include <sched.h>
#include <signal.h>

#include "utils/base/compiler.h"

/*
 * The largest number of empty arguments at the end of a command. An empty argument has no line, but
 * counts as one byte of argsize. So the lines may have fewer bytes than argsize says. If more than
 * EMPTY_MAX bytes are missing, lines must have been lost.
 */
#define EMPTY_MAX 4096U

static struct text text_at(const struct etrace_event *event, int number)
{
	const struct strbuf *text = &event->texts[number];

	return text_of(text->data, text->len);
}

static void add_act(struct etrace_reader *reader, struct etrace_task *task, enum proc_kind kind,
		    uint64_t time_ns, const struct proc_act *act)
{
	struct strbuf payload cleanup_strbuf = { 0 };

	proc_act_encode(act, &payload);
	etrace_reader_add(reader, task, kind, time_ns, &payload);
}

/* --- missing lines --- */

static const char *check_arguments(struct etrace_event *event)
{
	struct strbuf *args = &event->texts[ETRACE_ARGUMENT];
	size_t size = event->values[ETRACE_TEXTS];

	if (event->nr_args)
		strbuf_addch(args, '\0');
	if (args->len > size || size - args->len > EMPTY_MAX)
		return "the arguments do not have as many bytes as argsize says";
	strbuf_addchars(args, '\0', size - args->len);
	return NULL;
}

static const char *check_texts(struct etrace_event *event)
{
	const struct etrace_row *row = event->row;
	size_t all = 0;

	for (int i = 0; i < ETRACE_TEXTS && row->texts[i]; i++) {
		/* The original etrace writes the size of a mount's type, but not the type. */
		bool may_lack = row->kind == ETRACE_MOUNT && i == 2;

		if (event->has_text[i] && !event->has_value[i])
			return "it has a text of which it has no size";
		if (event->has_value[i] && event->texts[i].len != (size_t)event->values[i] &&
		    (event->has_text[i] || !may_lack))
			return "a text does not have as many bytes as its size says";
	}
	for (size_t i = 0; i < ARRAY_SIZE(event->texts); i++)
		all += event->texts[i].len;
	if (all > PROC_PAYLOAD_MAX / 2)
		return "its texts are longer than a recording takes";
	return row->kind == ETRACE_EXEC ? check_arguments(event) : NULL;
}

/* --- whole events --- */

/*
 * The way in which events of a kind become records.
 *
 * @take: makes the record; returns NULL, or a text that names an error in the event
 * @kind: kind of the record
 * @first: two events can describe one act. In a step for the second event, @first is the kind of
 *         the first event (etrace_task.half). In other steps, @first is not set
 * @flags: index of the flags in the event's values; -1: the event has no flags
 */
struct step {
	const char *(*take)(struct etrace_reader *reader, struct etrace_task *task,
			    const struct step *step);
	enum proc_kind kind;
	enum etrace_kind first;
	int flags;
};

static const char *add_exec(struct etrace_reader *reader, struct etrace_task *task,
			    const struct step *step)
{
	const struct etrace_event *event = &task->event;
	const struct proc_exec exec = {
		.interpreter = text_at(event, 0),
		.program = text_at(event, 1),
		.cwd = text_at(event, 2),
		.args = text_at(event, ETRACE_ARGUMENT),
	};
	struct strbuf payload cleanup_strbuf = { 0 };

	proc_exec_encode(&exec, &payload);
	etrace_reader_add(reader, task, PROC_EXEC, event->time_ns, &payload);
	if (!task->exec_ns)
		task->exec_ns = event->time_ns;
	return NULL;
}

/*
 * Returns the system call that made a process. The kernel implements fork(2) and vfork(2) by
 * clone(2). So the flags of clone(2) show which of the three system calls was used.
 */
static enum proc_fork_how how_of(const struct etrace_task *task)
{
	if (task->half != ETRACE_CLONE)
		return PROC_BY_FORK;
	if ((task->half_flags & CSIGNAL) != SIGCHLD)
		return PROC_BY_CLONE;
	return task->half_flags & CLONE_VFORK ? PROC_BY_VFORK : PROC_BY_FORK;
}

static const char *add_fork(struct etrace_reader *reader, struct etrace_task *task,
			    const struct step *step)
{
	const struct etrace_event *event = &task->event;
	bool has_flags = task->half == ETRACE_CLONE;
	struct strbuf payload cleanup_strbuf = { 0 };
	struct etrace_task *child;
	size_t nr;

	if (event->values[0] <= 0 || (uint64_t)event->values[0] == task->upid)
		return "no child can have that number";
	child = etrace_reader_child(reader, event->values[0]);
	if (!child)
		return NULL;
	proc_fork_encode(&(struct proc_fork){ .how = how_of(task),
					      .flags = has_flags ? task->half_flags : 0 },
			 &payload);
	nr = etrace_reader_add(reader, task, PROC_FORK, has_flags ? task->half_ns : event->time_ns,
			       &payload);
	if (nr != SIZE_MAX)
		reader->records[nr].child = child;
	task->half = ETRACE_NOTHING;
	return NULL;
}

static const char *add_exit(struct etrace_reader *reader, struct etrace_task *task,
			    const struct step *step)
{
	struct strbuf payload cleanup_strbuf = { 0 };

	proc_exit_encode((int)(((uint64_t)task->event.values[0] & 0xff) << 8), &payload);
	etrace_reader_add(reader, task, PROC_EXIT, task->event.time_ns, &payload);
	return NULL;
}

/*
 * Add a record of open(2) with the path of the file. If the program has used another name for the
 * file, the record contains this name as well.
 */
static const char *add_open(struct etrace_reader *reader, struct etrace_task *task,
			    const struct step *step)
{
	const struct etrace_event *event = &task->event;
	struct text path = text_at(event, 0);
	struct text given = text_at(event, 1);
	bool is_same = text_left(&path) == text_left(&given) &&
		       memcmp(path.at, given.at, text_left(&path)) == 0;
	const struct proc_act act = {
		.numbers = { event->values[4], event->values[2], event->values[3] },
		.texts = { path, is_same ? text_of("", 0) : given, text_of("", 0) },
	};

	add_act(reader, task, PROC_OPEN, event->time_ns, &act);
	return NULL;
}

static const char *add_numbers(struct etrace_reader *reader, struct etrace_task *task,
			       const struct step *step)
{
	const int64_t *values = task->event.values;
	struct proc_act act = { .numbers = { values[0], values[1], values[2] } };

	if (step->kind == PROC_CLOSE)
		act.numbers[1] = act.numbers[0];
	add_act(reader, task, step->kind, task->event.time_ns, &act);
	return NULL;
}

/* Add a record with the event's texts, and with the event's flags unless step->flags is -1. */
static const char *add_texts(struct etrace_reader *reader, struct etrace_task *task,
			     const struct step *step)
{
	const struct etrace_event *event = &task->event;
	struct proc_act act = { .texts = { text_at(event, 0), text_at(event, 1),
					   text_at(event, 2) } };

	if (step->flags >= 0)
		act.numbers[0] = event->values[step->flags];
	add_act(reader, task, step->kind, event->time_ns, &act);
	return NULL;
}

/* --- events of two halves --- */

static const char *begin_half(struct etrace_reader *reader, struct etrace_task *task,
			      const struct step *step)
{
	const struct etrace_event *event = &task->event;

	task->half = event->row->kind;
	task->half_ns = event->time_ns;
	task->half_flags = event->values[step->flags];
	task->half_has_flags = event->has_value[step->flags];
	strbuf_reset(&task->half_text);
	strbuf_add(&task->half_text, event->texts[0].data ? event->texts[0].data : "",
		   event->texts[0].len);
	return NULL;
}

static struct proc_act act_of_half(const struct etrace_task *task)
{
	return (struct proc_act){
		.numbers = { task->half_flags, task->half_has_flags },
		.texts = { text_of(task->half_text.data, task->half_text.len), text_of("", 0),
			   text_of("", 0) },
	};
}

static const char *end_half(struct etrace_reader *reader, struct etrace_task *task,
			    const struct step *step)
{
	struct proc_act act = act_of_half(task);

	if (task->half != step->first)
		return "nothing tells from where";
	act.texts[1] = text_at(&task->event, 0);
	task->half = ETRACE_NOTHING;
	reader->oom |= strbuf_oom(&task->half_text);
	add_act(reader, task, step->kind, task->half_ns, &act);
	return NULL;
}

/*
 * Add a failed act. The record has no errno, because the log has none. Some acts have two events in
 * the log: the first event describes the act, and the second event reports the failure. If the log
 * has the first event, the record gets the content and the time of the first event. If the file of
 * a rename or of a link did not exist, the log lacks the first event.
 */
static const char *fail_half(struct etrace_reader *reader, struct etrace_task *task,
			     const struct step *step)
{
	bool has_first = task->half == step->first && step->first != ETRACE_NOTHING;
	struct proc_act act = { 0 };

	if (has_first && step->first == ETRACE_CLONE) {
		act.numbers[0] = (uint32_t)task->half_flags;
		act.numbers[1] = task->half_flags >> 32;
	} else if (has_first) {
		act = act_of_half(task);
		reader->oom |= strbuf_oom(&task->half_text);
	}
	task->half = ETRACE_NOTHING;
	add_act(reader, task, step->kind, has_first ? task->half_ns : task->event.time_ns, &act);
	return NULL;
}

/*
 * Add a mount or an unmount, at first as an act that has succeeded. If the task's next event
 * reports a failure, fail_mount() changes the record.
 */
static const char *begin_mount(struct etrace_reader *reader, struct etrace_task *task,
			       const struct step *step)
{
	add_texts(reader, task, step);
	task->half = task->event.row->kind;
	task->half_flags = reader->nr_records;
	return NULL;
}

static const char *fail_mount(struct etrace_reader *reader, struct etrace_task *task,
			      const struct step *step)
{
	if (task->half == step->first && task->half_flags &&
	    task->half_flags <= reader->nr_records) {
		reader->records[task->half_flags - 1].kind = step->kind;
		task->half = ETRACE_NOTHING;
		return NULL;
	}
	return fail_half(reader, task, &(struct step){ .kind = step->kind });
}

void etrace_event_end_half(struct etrace_reader *reader, struct etrace_task *task)
{
	task->half = ETRACE_NOTHING;
}

/* --- any event --- */

/*
 * If a mount fails, the next event of its task reports the failure. Any other next event means that
 * the mount has succeeded.
 */
static void settle_mount(struct etrace_task *task)
{
	enum etrace_kind kind = task->event.row->kind;

	if ((task->half == ETRACE_MOUNT && kind != ETRACE_MOUNT_FAILED) ||
	    (task->half == ETRACE_UMOUNT && kind != ETRACE_UMOUNT_FAILED))
		task->half = ETRACE_NOTHING;
}

static const struct step steps[] = {
	[ETRACE_EXEC] = { add_exec },
	[ETRACE_FORK] = { add_fork },
	[ETRACE_EXIT] = { add_exit },
	[ETRACE_OPEN] = { add_open },
	[ETRACE_CLOSE] = { add_numbers, PROC_CLOSE },
	[ETRACE_DUP] = { add_numbers, PROC_DUP },
	[ETRACE_PIPE] = { add_numbers, PROC_PIPE },
	[ETRACE_SYMLINK] = { add_texts, PROC_SYMLINK, .flags = -1 },
	[ETRACE_COMM] = { add_texts, PROC_NAME, .flags = -1 },
	[ETRACE_CLONE] = { begin_half, .flags = 0 },
	[ETRACE_RENAME_FROM] = { begin_half, .flags = 1 },
	[ETRACE_LINK_FROM] = { begin_half, .flags = 1 },
	[ETRACE_RENAME_TO] = { end_half, PROC_RENAME, ETRACE_RENAME_FROM },
	[ETRACE_LINK_TO] = { end_half, PROC_LINK, ETRACE_LINK_FROM },
	[ETRACE_MOUNT] = { begin_mount, PROC_MOUNT, .flags = 3 },
	[ETRACE_UMOUNT] = { begin_mount, PROC_UMOUNT, .flags = 1 },
	[ETRACE_RENAME_FAILED] = { fail_half, PROC_RENAME_FAILED, ETRACE_RENAME_FROM },
	[ETRACE_LINK_FAILED] = { fail_half, PROC_LINK_FAILED, ETRACE_LINK_FROM },
	[ETRACE_SYMLINK_FAILED] = { fail_half, PROC_SYMLINK_FAILED },
	[ETRACE_CLONE_FAILED] = { fail_half, PROC_CLONE_FAILED, ETRACE_CLONE },
	[ETRACE_MOUNT_FAILED] = { fail_mount, PROC_MOUNT_FAILED, ETRACE_MOUNT },
	[ETRACE_UMOUNT_FAILED] = { fail_mount, PROC_UMOUNT_FAILED, ETRACE_UMOUNT },
};

static const char *add_event(struct etrace_reader *reader, struct etrace_task *task)
{
	const struct step *step = &steps[task->event.row->kind];

	settle_mount(task);
	return step->take(reader, task, step);
}

void etrace_event_finish(struct etrace_reader *reader, struct etrace_task *task)
{
	struct etrace_event *event = &task->event;
	const char *problem;

	if (!event->row)
		return;
	if (!event->is_wrong) {
		problem = check_texts(event);
		if (!problem)
			problem = add_event(reader, task);
		if (problem)
			reader->note(reader->self, event->line, 0, problem);
	}
	for (size_t i = 0; i < ARRAY_SIZE(event->texts); i++)
		reader->oom |= strbuf_oom(&event->texts[i]);
	event->row = NULL;
}
