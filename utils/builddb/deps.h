/* The dependencies of files on each other, and findings about a build that follow from them. */
#ifndef UTRAIL_BUILDDB_DEPS_H
#define UTRAIL_BUILDDB_DEPS_H

#include "utils/base/sink.h"
#include "utils/builddb/make_rules.h"
#include "utils/pipeline/recording/executions.h"
#include "utils/pipeline/recording/files.h"

/*
 * All of these write text to @sink, with paths relative to the first execution's directory if they
 * are in it, and return 0 or -ENOMEM; those that change @files return -EDQUOT when that costs more
 * than their limit (files_spend()).
 */

/*
 * Rules of make: the remaining outputs of the executions, and their inputs. Files that are gone,
 * and pipes, are not in them.
 */
int deps_rules(const struct executions *executions, struct files *files, struct sink *sink);

/*
 * As comments of make: those of these rules in the first execution's directory that are missing in
 * @declared.
 */
int deps_undeclared(const struct executions *executions, struct files *files,
		    const struct make_rules *declared, struct sink *sink);

/* A line for each file that @content depends on, independent of its maker. */
int deps_needs(const struct executions *executions, struct files *files, uint32_t content,
	       struct sink *sink);

/* A line for each file that was made of @content. */
int deps_used_by(const struct executions *executions, struct files *files, uint32_t content,
		 struct sink *sink);

/* As comments of make: the files that were made and then read. */
void deps_read_again(const struct executions *executions, const struct files *files,
		     struct sink *sink);

/*
 * As comments of make: the commands that ran again with the same arguments in the same directory,
 * and with the same inputs, those first that took longest.
 */
int deps_run_again(const struct executions *executions, const struct files *files,
		   struct sink *sink);

/* @path as those above have it, for people; as a word of a Makefile. */
void deps_put_path(const struct executions *executions, const char *path, struct sink *sink);
void deps_put_word(const struct executions *executions, const char *path, struct sink *sink);

#endif
