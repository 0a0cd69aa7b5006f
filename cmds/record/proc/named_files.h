/* The files that a task's names refer to: their places, as the recorder sees them. */
#ifndef UTRAIL_CMDS_RECORD_PROC_NAMED_FILES_H
#define UTRAIL_CMDS_RECORD_PROC_NAMED_FILES_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/containers/strbuf.h"

/*
 * A task's view of names.
 *
 * @base: the directory of relative names; "": it is not known
 * @dirfd: the same in the task's own words, a descriptor or AT_FDCWD: for when its path does not
 * help
 * @root: its root; NULL: only /proc/<tid> leads there, for it is in a mount namespace of its own,
 * or it was not needed yet
 * @is_late: it has gone on meanwhile: files may have moved
 */
struct view {
	pid_t tid;
	int dirfd;
	const char *base;
	const char *root;
	bool is_late;
};

/*
 * Make @name, as the task gave it, absolute by its base directory, and change nothing else. @out is
 * emptied first, here and below.
 */
void named_files_given(const struct view *view, const char *name, struct strbuf *out);

/*
 * Find the file itself, with all links followed, also that of the last name. @out is empty when
 * there is none.
 */
void named_files_target(const struct view *view, const char *name, struct strbuf *out);

/*
 * Open the same file for identification only (O_PATH), without reading. Returns a descriptor, or -1
 * with errno.
 */
int named_files_open(const struct view *view, const char *name);

/* True when that name exists, also as a link that leads nowhere. */
bool named_files_has(const struct view *view, const char *name);

/*
 * Find the place of the name: its directory with all links followed, and the last name unchanged.
 * If it cannot be found, the result is that of named_files_given().
 */
void named_files_of(const struct view *view, const char *name, struct strbuf *out);

#endif
