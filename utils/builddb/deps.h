/* The dependencies of files on each other, and findings about a build that follow from them. */
#ifndef UTRAIL_BUILDDB_DEPS_H
#define UTRAIL_BUILDDB_DEPS_H

#include "utils/base/sink.h"
#include "utils/builddb/make_rules.h"
#include "utils/trace/recording/executions.h"
#include "utils/trace/recording/files.h"

/*
 * All of these put text into @sink, with paths relative to the first execution's directory where
 * they are in it, and return 0 or -ENOMEM; those that change @files return -EDQUOT when that costs
 * more than these may (files_spend()).
 */

/*
 * Rules of make: those files that the executions made and left there, and what they are made of.
 * Files that are gone again, and pipes, are not in them.
 */
int deps_rules(const struct executions *executions, struct files *files, struct sink *sink);

/*
 * As comments of make: of these rules what is in the first execution's directory and not in
 * @declared.
 */
int deps_undeclared(const struct executions *executions, struct files *files,
		    const struct make_rules *declared, struct sink *sink);

/* A line for each file that @content is made of, whoever made that. */
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
