/* `task.txt`: the log of sessions, tasks, forks and dlopened libraries, one line each. */
#ifndef UTRAIL_FORMAT_TASK_TXT_H
#define UTRAIL_FORMAT_TASK_TXT_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/text.h"

#define SESSION_ID_LEN 16

enum task_line_type {
	TASK_LINE_SESSION, /* SESS: a process image begins (start or exec) */
	TASK_LINE_TASK,	   /* TASK: a process or thread begins */
	TASK_LINE_FORK,	   /* FORK: a process begins as a copy of another one */
	TASK_LINE_DLOPEN,  /* DLOP: dlopen(3) has loaded a library */
};

/*
 * One line (doc/formats/tasks.md, "task.txt"), with these fields:
 *
 *   SESSION   pid sid path (of the program)
 *   TASK      tid pid
 *   FORK      pid (of the child) ppid
 *   DLOPEN    tid sid base path (of the library)
 *
 * @path: has @path_len bytes and no NUL at the end. task_line_decode() lets @path point into the
 *        text @in
 */
struct task_line {
	enum task_line_type type;
	uint64_t time_ns;
	int32_t pid;
	int32_t tid;
	int32_t ppid;
	char sid[SESSION_ID_LEN + 1];
	uint64_t base;
	const char *path;
	size_t path_len;
};

/* Append the line and a newline to @out. A newline within the path becomes \012. */
void task_line_encode(const struct task_line *line, struct strbuf *out);

/*
 * Decode a line without newline. Returns 0. If the line is invalid, returns -EINVAL with the
 * expected form in @err, and does not change @line.
 */
int task_line_decode(struct text in, struct task_line *line, struct uft_err *err);

/*
 * Take the next line of a file. Blank lines are skipped. An invalid last line without newline
 * counts as the end of the file, because a recorder that was killed leaves such a line.
 * Returns 1 with @line, 0 at the end, or a negative errno when a line is invalid.
 */
int task_txt_next(struct text *in, struct task_line *line, struct uft_err *err);

#endif
