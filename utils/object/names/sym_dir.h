/* Finds the file of a module in a folder of .sym files. */
#ifndef UTRAIL_OBJECT_SYM_DIR_H
#define UTRAIL_OBJECT_SYM_DIR_H

#include <stdbool.h>

#include "utils/base/err.h"
#include "utils/format/sym.h"

/*
 * The module whose file is searched.
 *
 * @path, @build_id: of the module; "" when it has no build-id
 * @any_path: the files may come from another place (--with-syms): only the build-id must match,
 *            if both have one
 */
struct sym_query {
	const char *path;
	const char *build_id;
	bool any_path;
};

/*
 * True when a file with this header belongs to the module. The build-ids decide, if both are known.
 * Otherwise the paths must be equal, unless @query->any_path is set.
 */
bool sym_head_is_of(const struct sym_file_head *head, const struct sym_query *query);

/*
 * Read the symbols of a module from @dir into the empty @out (doc/formats/symbols.md, "Names of the
 * files"): 1, or 0 when there are none. *@name becomes the file's name, which the caller frees,
 * unless @name is NULL. An unreadable file is an error.
 */
int sym_dir_load(const char *dir, const struct sym_query *query, struct symtab *out, char **name,
		 struct uft_err *err);

#endif
