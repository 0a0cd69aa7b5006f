/* The command of a compiler, from an execution's arguments. */
#ifndef UTRAIL_BUILDDB_COMMAND_H
#define UTRAIL_BUILDDB_COMMAND_H

#include "utils/base/containers/words.h"
#include "utils/builddb/compiler/compiler.h"
#include "utils/pipeline/recording/executions.h"

/*
 * Set the empty @argv to the words of the command. Words of launchers, and words that the kernel
 * puts before a script, are left out. Reads no file. Returns 0 or -ENOMEM.
 *
 * @kind: gets the compiler; COMPILER_NONE: the program is no compiler
 */
int compiler_command(const struct execution *execution, struct words *argv,
		     enum compiler_kind *kind);

#endif
