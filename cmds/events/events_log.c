/*
 * `utrail events check`: checks log files. A log has one line for each event. Programs declare
 * these events with libutrail-trace.
 */
#include "cmds/events/events_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmds/cmd.h"
#include "utils/base/cleanup.h"
#include "utils/format/fstrace/line.h"

/* At most this many problems of one file are reported. More of them would tell nothing new. */
#define PROBLEMS_SHOWN 20

/* In the messages, lines and bytes of a log are counted from 1, as editors do. */
void log_problems_note(struct log_problems *problems, const char *path, uint64_t number, size_t at,
		       const char *wrong)
{
	unsigned long long line = number;

	if (problems->path != path)
		log_problems_end(problems);
	problems->path = path;
	problems->nr_all++;
	if (++problems->nr > PROBLEMS_SHOWN)
		return;
	if (problems->msg)
		msg_warn(problems->msg, "%s:%llu:%zu: %s", path, line, at + 1, wrong);
	else
		msg_list("%s:%llu:%zu: %s", path, line, at + 1, wrong);
}

void log_problems_end(struct log_problems *problems)
{
	unsigned long long more = problems->nr > PROBLEMS_SHOWN ? problems->nr - PROBLEMS_SHOWN : 0;

	problems->nr = 0;
	if (more && problems->msg)
		msg_warn(problems->msg, "%s: and %llu more lines are wrong", problems->path, more);
	else if (more)
		msg_list("%s: and %llu more lines are wrong", problems->path, more);
}

static void check_line(struct log_problems *problems, const char *path, uint64_t number,
		       const char *text, size_t len)
{
	bool is_ended = text[len - 1] == '\n';
	struct fst_line line;
	size_t at;
	const char *wrong = fst_line_parse(text, len - is_ended, &line, &at);

	if (!wrong && !is_ended) {
		wrong = "the line has no end";
		at = len;
	}
	if (wrong)
		log_problems_note(problems, path, number, at, wrong);
}

/* Checks one file. The number of its lines is added to @nr_lines. */
static int check_file(const char *path, struct log_problems *problems, uint64_t *nr_lines,
		      struct uft_err *err)
{
	FILE *file cleanup_file = fopen(path, "re");
	char *text cleanup_free = NULL;
	uint64_t number = 0;
	size_t room = 0;
	ssize_t len;

	if (!file)
		return err_set_errno(err, -errno, "cannot open '%s'", path);
	while ((len = getline(&text, &room, file)) > 0)
		check_line(problems, path, ++number, text, len);
	if (!feof(file))
		return err_set_errno(err, -errno, "cannot read '%s'", path);
	log_problems_end(problems);
	*nr_lines += number;
	return 0;
}

int events_log_check(const struct opts *opts, struct uft_err *err)
{
	struct log_problems problems = { 0 };
	uint64_t nr_lines = 0;

	for (int i = 1; i < opts->nr_args; i++) {
		int ret = check_file(opts->args[i], &problems, &nr_lines, err);

		if (ret < 0)
			return ret;
	}
	msg_list("%llu of %llu lines in %d files are wrong", (unsigned long long)problems.nr_all,
		 (unsigned long long)nr_lines, opts->nr_args - 1);
	return problems.nr_all ? CMD_FAILED : CMD_DONE;
}
