/* `utrail build --as=deps`: dependencies between files. */
#ifndef UTRAIL_CMDS_BUILD_DEPS_H
#define UTRAIL_CMDS_BUILD_DEPS_H

#include "cmds/opts.h"
#include "utils/base/err.h"
#include "utils/base/sink.h"
#include "utils/pipeline/recording/executions.h"
#include "utils/pipeline/recording/files.h"

/*
 * Write to @sink what @opts request: the answer about one file, or all dependencies.
 * Returns 0, or a negative error with @err.
 */
int build_deps(const struct opts *opts, const struct executions *executions, struct files *files,
	       struct sink *sink, struct uft_err *err);

#endif
