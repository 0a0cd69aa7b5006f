/* `utrail events check`: logs of events that programs declare (libutrail-trace). */
#include "cmds/events_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/cmd.h"
#include "utils/base/cleanup.h"
#include "utils/fstrace/line.h"

/* More of one file tell nothing new. */
#define PROBLEMS_SHOWN 20

struct tally {
	uint64_t nr_lines, nr_wrong;
	int nr_files;
};

/* Lines and bytes are counted from 1, as editors do. */
static void check_line(const char *path, uint64_t number, const char *text, size_t len,
		       uint64_t *nr_wrong)
{
	bool is_ended = text[len - 1] == '\n';
	struct fst_line line;
	size_t at;
	const char *wrong = fst_line_parse(text, len - is_ended, &line, &at);

	if (!wrong && !is_ended) {
		wrong = "the line has no end";
		at = len;
	}
	if (wrong && ++*nr_wrong <= PROBLEMS_SHOWN)
		msg_list("%s:%llu:%zu: %s", path, (unsigned long long)number, at + 1, wrong);
}

static int check_file(const char *path, struct tally *tally, struct uft_err *err)
{
	FILE *file cleanup_file = fopen(path, "re");
	char *text cleanup_free = NULL;
	uint64_t number = 0, nr_wrong = 0;
	size_t room = 0;
	ssize_t len;

	if (!file)
		return err_set_errno(err, -errno, "cannot open '%s'", path);
	while ((len = getline(&text, &room, file)) > 0)
		check_line(path, ++number, text, len, &nr_wrong);
	if (!feof(file))
		return err_set_errno(err, -errno, "cannot read '%s'", path);
	if (nr_wrong > PROBLEMS_SHOWN)
		msg_list("%s: and %llu more lines are wrong", path,
			 (unsigned long long)(nr_wrong - PROBLEMS_SHOWN));
	tally->nr_files++;
	tally->nr_lines += number;
	tally->nr_wrong += nr_wrong;
	return 0;
}

int events_log_check(const struct opts *opts, struct uft_err *err)
{
	struct tally tally = { 0 };

	for (int i = 1; i < opts->nr_args; i++) {
		int ret = check_file(opts->args[i], &tally, err);

		if (ret < 0)
			return ret;
	}
	msg_list("%llu of %llu lines in %d files are wrong", (unsigned long long)tally.nr_wrong,
		 (unsigned long long)tally.nr_lines, tally.nr_files);
	return tally.nr_wrong ? CMD_FAILED : CMD_DONE;
}
