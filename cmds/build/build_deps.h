/* `utrail build --as=deps`: dependencies between files. */
#ifndef UTRAIL_CMDS_BUILD_DEPS_H
#define UTRAIL_CMDS_BUILD_DEPS_H

#include "cmds/opts.h"
#include "utils/base/err.h"
#include "utils/base/sink.h"
#include "utils/pipeline/recording/executions.h"
#include "utils/pipeline/recording/files.h"

/*
 * Write dependencies to @sink. If opts->needs names a file, write the files that this file depends
 * on. If opts->used_by names a file, write the files that depend on this file. Without these two
 * options, write the dependencies of all files. Returns 0, or a negative error with @err.
 */
int build_deps(const struct opts *opts, const struct executions *executions, struct files *files,
	       struct sink *sink, struct uft_err *err);

#endif
