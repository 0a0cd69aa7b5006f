/*
 * Files that dependencies ignore: by default those that the C library reads for itself, else the
 * user's list.
 */
#ifndef UTRAIL_BUILDDB_DEPS_IGNORED_H
#define UTRAIL_BUILDDB_DEPS_IGNORED_H

#include "utils/base/err.h"
#include "utils/pipeline/recording/executions.h"
#include "utils/pipeline/recording/files.h"

/*
 * Check that @list is a list of files to ignore: globs of whole paths separated by ';', whose `*`
 * matches slashes, too. The word "default" stands for the default list, "none" for an empty one. 0
 * or -ERR_USAGE.
 */
int deps_ignored_check(const char *list, struct uft_err *err);

/*
 * Hide the files that @list matches; NULL: "default". The default list hides no file in the first
 * execution's directory. 0 or -ENOMEM.
 */
int deps_ignored_hide(struct files *files, const struct executions *executions, const char *list);

#endif
