/* The command of a compiler, from an execution's arguments. */
#ifndef UTRAIL_BUILDDB_COMMAND_H
#define UTRAIL_BUILDDB_COMMAND_H

#include "utils/base/containers/words.h"
#include "utils/builddb/compiler/compiler.h"
#include "utils/pipeline/recording/executions.h"

/*
 * Find the command without the kernel's additions for a script, and without launchers. Append its
 * words to @argv, which is empty, and set @kind: COMPILER_NONE when it is not a compiler. Only the
 * texts of @execution count. 0 or -ENOMEM.
 */
int compiler_command(const struct execution *execution, struct words *argv,
		     enum compiler_kind *kind);

#endif
