/* Files that dependencies ignore: those that the C library reads for itself, or the user's list. */
#ifndef UTRAIL_BUILDDB_DEPS_IGNORED_H
#define UTRAIL_BUILDDB_DEPS_IGNORED_H

#include "utils/base/err.h"
#include "utils/pipeline/recording/executions.h"
#include "utils/pipeline/recording/files.h"

/*
 * Check that @list is a list of files to ignore: globs of whole paths separated by ';', whose `*`
 * matches slashes, too. The word "default" represents those below, "none" an empty list. 0 or
 * -ERR_USAGE.
 */
int deps_ignored_check(const char *list, struct uft_err *err);

/*
 * Hide the files that @list matches; NULL: "default". The default ones hide no file in the first
 * execution's directory. 0 or -ENOMEM.
 */
int deps_ignored_hide(struct files *files, const struct executions *executions, const char *list);

#endif
