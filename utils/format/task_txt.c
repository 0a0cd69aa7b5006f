/* `task.txt`: the log of sessions, tasks, forks and dlopened libraries (see task_txt.h). */
#include "utils/format/task_txt.h"

#include <errno.h>

#include "utils/base/units.h"

static void put_time(struct strbuf *out, const char *word, uint64_t ns)
{
	strbuf_addf(out, "%s timestamp=" SECONDS_FORMAT, word, SECONDS_OF(ns));
}

static void put_path(struct strbuf *out, const char *key, const struct task_line *line)
{
	strbuf_addf(out, " %s=\"", key);
	text_put_name(out, line->path, line->path_len);
	strbuf_addch(out, '"');
}

void task_line_encode(const struct task_line *line, struct strbuf *out)
{
	switch (line->type) {
	case TASK_LINE_SESSION:
		put_time(out, "SESS", line->time_ns);
		strbuf_addf(out, " pid=%d sid=%s", line->pid, line->sid);
		put_path(out, "exename", line);
		break;
	case TASK_LINE_TASK:
		put_time(out, "TASK", line->time_ns);
		strbuf_addf(out, " tid=%d pid=%d", line->tid, line->pid);
		break;
	case TASK_LINE_FORK:
		put_time(out, "FORK", line->time_ns);
		strbuf_addf(out, " pid=%d ppid=%d", line->pid, line->ppid);
		break;
	case TASK_LINE_DLOPEN:
		put_time(out, "DLOP", line->time_ns);
		strbuf_addf(out, " tid=%d sid=%s base=%llx", line->tid, line->sid,
			    (unsigned long long)line->base);
		put_path(out, "libname", line);
		break;
	}
	strbuf_addch(out, '\n');
}

static bool get_sid(struct text *in, struct task_line *line)
{
	if (!text_word(in, " sid=") || text_left(in) < SESSION_ID_LEN)
		return false;
	/* The session id becomes part of a file name, so only letters and digits are allowed. */
	for (size_t i = 0; i < SESSION_ID_LEN; i++) {
		char c = in->at[i];

		if ((c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z'))
			return false;
	}
	memcpy(line->sid, in->at, SESSION_ID_LEN);
	line->sid[SESSION_ID_LEN] = '\0';
	in->at += SESSION_ID_LEN;
	return true;
}

/* Parse @key="..." up to the last quote of the line, since the path itself may contain quotes. */
static bool get_path(struct text *in, const char *key, struct task_line *line)
{
	if (!text_word(in, " ") || !text_word(in, key) || !text_word(in, "=\""))
		return false;

	const char *quote = memrchr(in->at, '"', text_left(in));

	if (!quote)
		return false;
	line->path = in->at;
	line->path_len = quote - in->at;
	return true;
}

static bool get_session(struct text *in, struct task_line *line)
{
	return (text_word(in, " pid=") || text_word(in, " tid=")) && text_i32(in, &line->pid) &&
	       get_sid(in, line) && get_path(in, "exename", line);
}

static bool get_task(struct text *in, struct task_line *line)
{
	return text_word(in, " tid=") && text_i32(in, &line->tid) && text_word(in, " pid=") &&
	       text_i32(in, &line->pid);
}

static bool get_fork(struct text *in, struct task_line *line)
{
	return text_word(in, " pid=") && text_i32(in, &line->pid) && text_word(in, " ppid=") &&
	       text_i32(in, &line->ppid);
}

static bool get_dlopen(struct text *in, struct task_line *line)
{
	return text_word(in, " tid=") && text_i32(in, &line->tid) && get_sid(in, line) &&
	       text_word(in, " base=") && text_hex(in, &line->base) &&
	       get_path(in, "libname", line);
}

static const struct line_form {
	const char *word;
	enum task_line_type type;
	bool (*get)(struct text *in, struct task_line *line);
	const char *expected;
} line_forms[] = {
	{ "SESS", TASK_LINE_SESSION, get_session,
	  "SESS timestamp=<s>.<ns> pid=<pid> sid=<16 characters> exename=\"<path>\"" },
	{ "TASK", TASK_LINE_TASK, get_task, "TASK timestamp=<s>.<ns> tid=<tid> pid=<pid>" },
	{ "FORK", TASK_LINE_FORK, get_fork, "FORK timestamp=<s>.<ns> pid=<pid> ppid=<pid>" },
	{ "DLOP", TASK_LINE_DLOPEN, get_dlopen,
	  "DLOP timestamp=<s>.<ns> tid=<tid> sid=<16 characters> base=<hex> libname=\"<path>\"" },
};

int task_line_decode(struct text in, struct task_line *line, struct uft_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(line_forms); i++) {
		const struct line_form *form = &line_forms[i];
		struct task_line got = { .type = form->type };

		if (!text_word(&in, form->word))
			continue;
		if (!text_word(&in, " timestamp=") || !text_fixed(&in, 9, &got.time_ns) ||
		    !form->get(&in, &got))
			return err_set(err, -EINVAL, "expected '%s'", form->expected);
		*line = got;
		return 0;
	}
	return err_set(err, -EINVAL, "expected a line with SESS, TASK, FORK or DLOP");
}

int task_txt_next(struct text *in, struct task_line *line, struct uft_err *err)
{
	struct text one;
	bool whole;

	while (text_line(in, &one, &whole)) {
		if (one.at == one.end)
			continue;

		int ret = task_line_decode(one, line, whole ? err : NULL);

		if (ret < 0)
			return whole ? ret : 0;
		return 1;
	}
	return 0;
}
