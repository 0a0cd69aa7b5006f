/* compile_commands.json: the compiler's command for each source of a program. */
#ifndef UTRAIL_CMDS_CHECK_DB_H
#define UTRAIL_CMDS_CHECK_DB_H

#include "utils/base/containers/words.h"

/*
 * @directory, @file: of the heap; @file may be relative to @directory
 * @output: the same; NULL when the entry has none
 * @argv: the compiler and its arguments; a command in one text was split into words as by a
 * shell, without expansions
 */
struct check_entry {
	char *directory;
	char *file;
	char *output;
	struct words argv;
};

/* Starts as { 0 }, ends with check_db_deinit(). */
struct check_db {
	struct check_entry *entries;
	size_t nr;
};

/*
 * Append the entries of the file @path. -EINVAL, with the place, for another format; -ENOMEM;
 * errors of opening and reading. The format is that of clang's "JSON Compilation Database".
 */
int check_db_load(const char *path, struct check_db *db, struct uft_err *err);

/* The same of @len bytes; @path is for errors. */
int check_db_parse(const char *path, const char *data, size_t len, struct check_db *db,
		   struct uft_err *err);

void check_db_deinit(struct check_db *db);
#define cleanup_check_db cleanup(check_db_deinit)

#endif
