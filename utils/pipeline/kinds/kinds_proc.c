/* Types of events: acts of processes (see src_proc.h). */
#include <string.h>
#include <sys/wait.h>

#include "utils/format/event_ids.h"
#include "utils/format/proc_dat.h"
#include "utils/pipeline/kinds/event_kind.h"

static const struct event_field fork_fields[] = {
	{ "child", FIELD_INT, 4 },
	{ "process", FIELD_INT, 4 },
	{ "by", FIELD_TEXT },
	{ "flags", FIELD_HEX },
};
static const struct event_field exec_fields[] = {
	{ "program", FIELD_TEXT }, { "interpreter", FIELD_TEXT }, { "cwd", FIELD_TEXT },
	{ "args", FIELD_TEXT },	   { "thread", FIELD_INT },
};
static const struct event_field exit_fields[] = {
	{ "status", FIELD_INT },
	{ "signal", FIELD_INT },
};

static bool get_fork(const struct event_kind *kind, const struct event_context *context,
		     size_t index, struct event_value *out)
{
	static const char *const words[] = {
		[PROC_BY_FORK] = "fork",
		[PROC_BY_VFORK] = "vfork",
		[PROC_BY_CLONE] = "clone",
	};
	const struct event *event = context->event;
	struct proc_fork made;

	if (index < 2)
		return event_payload_get(kind, context, index, out);
	if (!event->data ||
	    !proc_fork_decode(event->data, event->data_len, context->data->is_big_endian, &made))
		return false;
	if (index == 3) {
		*out = (struct event_value){ .type = FIELD_HEX, .number = made.flags };
		return made.flags;
	}
	if (made.how >= ARRAY_SIZE(words) || !words[made.how])
		return false;
	*out = (struct event_value){ .type = FIELD_TEXT,
				     .text = text_of(words[made.how], strlen(words[made.how])) };
	return true;
}

static bool decode_exec(const struct event_context *context, struct proc_exec *exec)
{
	const struct event *event = context->event;

	return event->data &&
	       proc_exec_decode(event->data, event->data_len, context->data->is_big_endian, exec);
}

static bool same_text(const struct text *a, const struct text *b)
{
	return text_left(a) == text_left(b) && memcmp(a->at, b->at, text_left(a)) == 0;
}

/*
 * Get a field of an event "proc:exec". The field "interpreter" is missing if the program is no
 * script. The field "thread" is missing if the process's leader has called execve(2), or if the
 * thread that has called execve(2) is unknown.
 */
static bool get_exec(const struct event_kind *kind, const struct event_context *context,
		     size_t index, struct event_value *out)
{
	struct proc_exec exec;

	if (!decode_exec(context, &exec))
		return false;

	const struct text *texts[] = { &exec.program, &exec.interpreter, &exec.cwd, &exec.args };
	bool is_old = context->task && exec.old_tid == context->task->tid;

	*out = (struct event_value){ .type = kind->fields[index].type };
	if (index == ARRAY_SIZE(texts)) {
		out->number = (int64_t)exec.old_tid;
		return exec.old_tid > 0 && !is_old;
	}
	if (index == 1 && same_text(&exec.program, &exec.interpreter))
		return false;
	out->text = *texts[index];
	if (index == 3 && text_left(&out->text) && !out->text.end[-1])
		out->text.end--;
	return text_left(texts[index]) > 0;
}

/* Write a text such as "/usr/bin/gcc: gcc -c x.c cwd=/src". */
static void put_exec(const struct event_kind *kind, const struct event_context *context,
		     struct strbuf *out)
{
	struct proc_exec exec;
	struct text arg;

	if (!decode_exec(context, &exec))
		return;
	event_word_put(&exec.program, out);
	strbuf_addch(out, ':');
	while (proc_next_arg(&exec.args, &arg)) {
		strbuf_addch(out, ' ');
		event_word_put(&arg, out);
	}
	strbuf_addstr(out, " cwd=");
	event_word_put(&exec.cwd, out);
	if (!same_text(&exec.program, &exec.interpreter)) {
		strbuf_addstr(out, " interpreter=");
		event_word_put(&exec.interpreter, out);
	}
}

static bool get_exit(const struct event_kind *kind, const struct event_context *context,
		     size_t index, struct event_value *out)
{
	const struct event *event = context->event;
	int status;

	if (!event->data ||
	    !proc_exit_decode(event->data, event->data_len, context->data->is_big_endian, &status))
		return false;
	*out = (struct event_value){ .type = FIELD_INT };
	out->number = index == 0 ? WEXITSTATUS(status) : WTERMSIG(status);
	return (index == 1) == WIFSIGNALED(status);
}

static const struct event_kind rows[] = {
	{ EVENT_ID_PROC_FORK, "proc:fork", EVENT_FIELDS(fork_fields), .get = get_fork },
	{ EVENT_ID_PROC_EXEC, "proc:exec", EVENT_FIELDS(exec_fields), .get = get_exec,
	  .put = put_exec },
	{ EVENT_ID_PROC_EXIT, "proc:exit", EVENT_FIELDS(exit_fields), .get = get_exit },
};

const struct event_rows event_rows_proc = { rows, ARRAY_SIZE(rows) };
