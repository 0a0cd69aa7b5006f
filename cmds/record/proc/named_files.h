/* The files that a task means by names: their places, as the recorder sees them. */
#ifndef UTRAIL_CMDS_RECORD_PROC_NAMED_FILES_H
#define UTRAIL_CMDS_RECORD_PROC_NAMED_FILES_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/containers/strbuf.h"

/*
 * From where a task looks.
 *
 * @base: the directory that relative names begin at; "": it is not known
 * @dirfd: the same in the task's own words, a descriptor or AT_FDCWD: for when its path does not
 * help
 * @root: its root; NULL: only /proc/<tid> leads there, for it is in a mount namespace of its own,
 * or nobody has asked yet
 * @is_late: it has gone on meanwhile: what was there may be elsewhere
 */
struct view {
	pid_t tid;
	int dirfd;
	const char *base;
	const char *root;
	bool is_late;
};

/*
 * @name as the task gave it, made absolute by what it is relative to and nothing more. @out is
 * emptied first, here and below.
 */
void named_files_given(const struct view *view, const char *name, struct strbuf *out);

/* The file itself, all links followed, those of the last name, too. Nothing when there is none. */
void named_files_target(const struct view *view, const char *name, struct strbuf *out);

/*
 * A descriptor of the same file that says which it is and reads nothing (O_PATH), or -1 with errno.
 */
int named_files_open(const struct view *view, const char *name);

/* True when there is a file of that name, or a link, even one that leads nowhere. */
bool named_files_has(const struct view *view, const char *name);

/*
 * The place of the name: its directory with all links followed, and the last name as it is. A place
 * that cannot be found is as named_files_given() has it.
 */
void named_files_of(const struct view *view, const char *name, struct strbuf *out);

#endif
