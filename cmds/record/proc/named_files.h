/*
 * Finds the files to which path names of a task lead. The results are paths in the recorder's view
 * of the file system.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_NAMED_FILES_H
#define UTRAIL_CMDS_RECORD_PROC_NAMED_FILES_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/containers/strbuf.h"

/*
 * The view in which a task resolves names.
 *
 * @base: the directory in which the search for a relative name begins; "": unknown
 * @dirfd: a descriptor of @base in the task, or AT_FDCWD. The descriptor is used when a file cannot
 *         be opened by its whole path, for example because the path is too long
 * @root: the root of the task. NULL: /proc/<tid>/root is used, because the caller has not read the
 *        root, or because the task is in another mount namespace
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
 * Put the base directory before @name if @name is relative. Links, "." and ".." are not resolved.
 * This function and the functions below empty @out first.
 */
void named_files_given(const struct view *view, const char *name, struct strbuf *out);

/*
 * Find the file to which @name leads. Links in all components of @name are followed, including the
 * last component. If the file does not exist, @out is empty.
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
 * Find the path of the directory entry @name. Links in the directory part of @name are resolved.
 * The last component is not resolved, even if it is a link. If the directory cannot be found, the
 * result is the path that named_files_given() makes.
 */
void named_files_of(const struct view *view, const char *name, struct strbuf *out);

#endif
