/* Finds the places of the files to which a task's names refer, as the recorder sees them. */
#ifndef UTRAIL_CMDS_RECORD_PROC_NAMED_FILES_H
#define UTRAIL_CMDS_RECORD_PROC_NAMED_FILES_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/containers/strbuf.h"

/*
 * The view in which a task resolves names.
 *
 * @base: the directory of relative names; "": unknown
 * @dirfd: a descriptor of @base in the task, or AT_FDCWD. It is used when a file cannot be opened
 *         by its whole path, for example because the path is too long
 * @root: the root of the task. If it is NULL, /proc/<tid>/root is used: the caller has not read the
 *        root, or the task is in another mount namespace
 * @is_late: the task has gone on since it gave the name, so files may have moved
 */
struct view {
	pid_t tid;
	int dirfd;
	const char *base;
	const char *root;
	bool is_late;
};

/*
 * Make an absolute path from the base directory and @name, as the task gave it. Links, "." and ".."
 * are not resolved. This function and the functions below empty @out first.
 */
void named_files_given(const struct view *view, const char *name, struct strbuf *out);

/*
 * Find the file itself. All links are followed, also in the last name. @out is empty if there is no
 * file with that name.
 */
void named_files_target(const struct view *view, const char *name, struct strbuf *out);

/*
 * Open the file that named_files_target() finds. The descriptor can only identify the file
 * (O_PATH), not read it. Returns the descriptor, or -1 with errno.
 */
int named_files_open(const struct view *view, const char *name);

/* True when the name exists. A link exists even if its target does not. */
bool named_files_has(const struct view *view, const char *name);

/*
 * Find the place of the name: the directory with all links resolved, and the last name unchanged.
 * If the directory does not exist, the result is that of named_files_given().
 */
void named_files_of(const struct view *view, const char *name, struct strbuf *out);

#endif
