/* The dependencies between files, and findings about a build, such as commands that ran again. */
#ifndef UTRAIL_BUILDDB_DEPS_H
#define UTRAIL_BUILDDB_DEPS_H

#include "utils/base/sink.h"
#include "utils/builddb/make_rules.h"
#include "utils/pipeline/recording/executions.h"
#include "utils/pipeline/recording/files.h"

/*
 * These functions write text to @sink. Paths below the working directory of the recording's first
 * execution are written relative to this directory. A function with a result returns 0, -ENOMEM, or
 * -EDQUOT when files->cost exceeds files->cost_max (files_spend()).
 */

/*
 * Write rules of make. If the same executions have written several files, these files are the
 * targets of one rule. The prerequisites of a rule are the files on which the targets depend. Files
 * that are gone or hidden, and pipes, are left out.
 */
int deps_rules(const struct executions *executions, struct files *files, struct sink *sink);

/*
 * Find the dependencies that deps_rules() would write, and that the rules of @declared lack. Write
 * them as makefile comments. Only dependencies on files below the working directory of the
 * recording's first execution are written.
 */
int deps_undeclared(const struct executions *executions, struct files *files,
		    const struct make_rules *declared, struct sink *sink);

/*
 * Write a line for each file that @content depends on, directly or not. Files that are gone or
 * hidden, and pipes, have no line.
 */
int deps_needs(const struct executions *executions, struct files *files, uint32_t content,
	       struct sink *sink);

/* Like deps_needs(), but for each file that depends on @content, directly or not. */
int deps_used_by(const struct executions *executions, struct files *files, uint32_t content,
		 struct sink *sink);

/*
 * Write makefile comments: one line for each file that one execution has written, and that another
 * execution has read but not written. The read may be earlier than the write.
 */
void deps_read_again(const struct executions *executions, const struct files *files,
		     struct sink *sink);

/*
 * Write makefile comments: one line for each command that ran again with the same arguments,
 * directory and inputs. The command whose repetitions took the longest time in total is first.
 */
int deps_run_again(const struct executions *executions, const struct files *files,
		   struct sink *sink);

/* Write @path. deps_put_word() escapes characters that are special in makefiles. */
void deps_put_path(const struct executions *executions, const char *path, struct sink *sink);
void deps_put_word(const struct executions *executions, const char *path, struct sink *sink);

#endif
