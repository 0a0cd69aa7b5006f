/* Finds the command of a compiler in the arguments of a recorded execution (executions.h). */
#ifndef UTRAIL_BUILDDB_COMMAND_H
#define UTRAIL_BUILDDB_COMMAND_H

#include "utils/base/containers/words.h"
#include "utils/builddb/compiler/compiler.h"
#include "utils/pipeline/recording/executions.h"

/*
 * Put the words of the command into @argv, which must be empty. Words of launchers are left out. If
 * the command is a script, the words that the kernel adds to the command are left out. Reads no
 * file. Returns 0 or -ENOMEM.
 *
 * @kind: gets the kind of the compiler; COMPILER_NONE: the program is no compiler
 */
int compiler_command(const struct execution *execution, struct words *argv,
		     enum compiler_kind *kind);

#endif
