/* The command of a compiler, of what an execution was called with. */
#ifndef UTRAIL_BUILDDB_COMMAND_H
#define UTRAIL_BUILDDB_COMMAND_H

#include "utils/base/containers/words.h"
#include "utils/builddb/compiler/compiler.h"
#include "utils/trace/recording/executions.h"

/*
 * The command without what the kernel puts in front of a script, and without launchers: append its
 * words to @argv, which is empty, and say in @kind which compiler it is. COMPILER_NONE: none. Only
 * the texts of @execution count. 0 or -ENOMEM.
 */
int compiler_command(const struct execution *execution, struct words *argv,
		     enum compiler_kind *kind);

#endif
