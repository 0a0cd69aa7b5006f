/* Finds the .sym file of a module in a directory. */
#ifndef UTRAIL_OBJECT_SYM_DIR_H
#define UTRAIL_OBJECT_SYM_DIR_H

#include <stdbool.h>

#include "utils/base/err.h"
#include "utils/format/sym.h"

/*
 * The module whose file is searched.
 *
 * @build_id: "": the module has none
 * @any_path: files may come from another place (--with-syms): the build-id decides if both have
 *            one, and paths need not match
 */
struct sym_query {
	const char *path;
	const char *build_id;
	bool any_path;
};

/*
 * True when a file with this header belongs to the module. If both build-ids are known, they
 * decide. Otherwise the paths must be equal, unless @query->any_path is set.
 */
bool sym_head_is_of(const struct sym_file_head *head, const struct sym_query *query);

/*
 * Read the symbols of a module from @dir into the empty @out (doc/formats/symbols.md, "Names of the
 * files"). 1; 0: there is no file; negative with @err for an unreadable file. *@name: name of the
 * file, which the caller frees; NULL: not wanted.
 */
int sym_dir_load(const char *dir, const struct sym_query *query, struct symtab *out, char **name,
		 struct uft_err *err);

#endif
