/*
 * Files that do not count as dependencies: the files of the user's list. Without a list: files that
 * the C library reads for its own purposes.
 */
#ifndef UTRAIL_BUILDDB_DEPS_IGNORED_H
#define UTRAIL_BUILDDB_DEPS_IGNORED_H

#include "utils/base/err.h"
#include "utils/pipeline/recording/executions.h"
#include "utils/pipeline/recording/files.h"

/*
 * Check a list of files to ignore: globs of whole paths, separated by ';'. `*` matches any
 * characters, including slashes. "default" stands for the default list, "none" for nothing. Returns
 * 0 or -ERR_USAGE.
 */
int deps_ignored_check(const char *list, struct uft_err *err);

/*
 * Hide the files that @list (NULL: "default") matches. The default list hides no file below the
 * first execution's directory. Returns 0 or -ENOMEM.
 */
int deps_ignored_hide(struct files *files, const struct executions *executions, const char *list);

#endif
