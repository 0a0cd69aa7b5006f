/* Finds the .sym file of a module in a directory. */
#ifndef UTRAIL_OBJECT_SYM_DIR_H
#define UTRAIL_OBJECT_SYM_DIR_H

#include <stdbool.h>

#include "utils/base/err.h"
#include "utils/format/sym.h"

/*
 * The module whose .sym file is wanted.
 *
 * @build_id: the build-id of the module; "" if the module has no build-id
 * @any_path: the path in the .sym file may differ from @path (--with-syms). If the file and the
 *         module both have a build-id, the build-ids must be equal in spite of @any_path
 */
struct sym_query {
	const char *path;
	const char *build_id;
	bool any_path;
};

/*
 * True when a file with this header belongs to the module. If the header and the module both have a
 * build-id, the build-ids must be equal, and the paths do not matter. Otherwise, the paths must be
 * equal, unless @query->any_path is set or the header has no path.
 */
bool sym_head_is_of(const struct sym_file_head *head, const struct sym_query *query);

/*
 * Read the symbols of a module from @dir into the empty @out (doc/formats/symbols.md, "Names of the
 * files"). Returns 1 on success, 0 when @dir has no file of the module, or a negative error with
 * @err for an unreadable file or directory.
 *
 * @name: gets the file's name, for free(3); may be NULL
 */
int sym_dir_load(const char *dir, const struct sym_query *query, struct symtab *out, char **name,
		 struct uft_err *err);

#endif
