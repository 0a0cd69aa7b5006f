/* Finds the files that a task's names refer to: their places, as the recorder sees them. */
#ifndef UTRAIL_CMDS_RECORD_PROC_NAMED_FILES_H
#define UTRAIL_CMDS_RECORD_PROC_NAMED_FILES_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/containers/strbuf.h"

/*
 * A task's view of names.
 *
 * @base: the directory of relative names; "": unknown
 * @dirfd: a descriptor of @base in the task, or AT_FDCWD, for use when the path does not help
 * @root: the task's root; NULL: use /proc/<tid>/root, since the task is in another mount namespace,
 *        or the root was not needed yet
 * @is_late: the task has gone on meanwhile, so files may have moved
 */
struct view {
	pid_t tid;
	int dirfd;
	const char *base;
	const char *root;
	bool is_late;
};

/*
 * Make an absolute path of @name, as the task gave it, by the base directory; nothing else is
 * changed. This function and those below empty @out first.
 */
void named_files_given(const struct view *view, const char *name, struct strbuf *out);

/*
 * Find the file itself, with all links followed, also that of the last name. @out is empty when
 * there is no file.
 */
void named_files_target(const struct view *view, const char *name, struct strbuf *out);

/*
 * Open the file that named_files_target() finds, for identification only (O_PATH), without reading.
 * Returns a descriptor, or -1 with errno.
 */
int named_files_open(const struct view *view, const char *name);

/* True when the name exists. A link that leads nowhere exists, too. */
bool named_files_has(const struct view *view, const char *name);

/*
 * Find the place of the name: its directory without links, and the last name unchanged. Without
 * such a directory, the result is that of named_files_given().
 */
void named_files_of(const struct view *view, const char *name, struct strbuf *out);

#endif
