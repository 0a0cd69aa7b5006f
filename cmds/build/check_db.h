/* compile_commands.json: the compiler's command for each source of a program. */
#ifndef UTRAIL_CMDS_CHECK_DB_H
#define UTRAIL_CMDS_CHECK_DB_H

#include "utils/base/containers/words.h"

/*
 * An entry of compile_commands.json. All strings are allocated on the heap.
 *
 * @file, @output: may be relative to @directory; @output may be NULL
 * @argv: the compiler and its arguments; if the entry has the command as one text, the text is
 *         split by the rules of shells, but without expansions
 */
struct check_entry {
	char *directory;
	char *file;
	char *output;
	struct words argv;
};

/* The entries of all files that were loaded. Starts as { 0 } and ends with check_db_deinit(). */
struct check_db {
	struct check_entry *entries;
	size_t nr;
};

/*
 * Append the entries of the file @path, a clang "JSON Compilation Database". Returns 0, or a
 * negative errno. For -EINVAL, @err says where the format is wrong.
 */
int check_db_load(const char *path, struct check_db *db, struct uft_err *err);

/* Like check_db_load(), for a file whose @len bytes are in @data. Errors name @path. */
int check_db_parse(const char *path, const char *data, size_t len, struct check_db *db,
		   struct uft_err *err);

void check_db_deinit(struct check_db *db);
#define cleanup_check_db cleanup(check_db_deinit)

#endif
