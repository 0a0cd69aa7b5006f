/* The command of a compiler, from an execution's arguments. */
#ifndef UTRAIL_BUILDDB_COMMAND_H
#define UTRAIL_BUILDDB_COMMAND_H

#include "utils/base/containers/words.h"
#include "utils/builddb/compiler/compiler.h"
#include "utils/pipeline/recording/executions.h"

/*
 * Set @argv, which is empty, to the words of the command, without the words that the kernel puts
 * before a script, and without launchers. Set @kind; COMPILER_NONE: the program is no compiler. No
 * file is read. 0 or -ENOMEM.
 */
int compiler_command(const struct execution *execution, struct words *argv,
		     enum compiler_kind *kind);

#endif
