/* The debug information of traced modules. Each file is read only once. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_DEBUGINFO_H
#define UTRAIL_CMDS_RECORD_PLAN_DEBUGINFO_H

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/sym.h"
#include "utils/object/dwarf/dwarf_info.h"

/*
 * The debug information that was read. The struct starts as { 0 }. debuginfo_deinit() frees its
 * content.
 *
 * @problem: the first error -E2BIG or -ENODATA of object_dwarf_load(). Other errors are ignored
 */
struct debuginfo {
	struct debuginfo_file *files;
	struct uft_err problem;
};

void debuginfo_deinit(struct debuginfo *debug);

/*
 * Returns the debug information of the file @path. If the file has no debug information, the result
 * is a struct without entries. Returns NULL when memory is short. The result is valid until
 * debuginfo_deinit().
 */
const struct dwarf_info *debuginfo_of(struct debuginfo *debug, const char *path);

/* True when debuginfo_of() was called for the file. */
bool debuginfo_has(const struct debuginfo *debug, const char *path);

/* Returns the debug information of the function with the symbol @sym, or NULL. */
const struct dwarf_func *debuginfo_func(const struct dwarf_info *info, const struct symbol *sym);

/*
 * True for a clone of a function (foo.isra.0, foo.constprop.0, foo.part.0). A clone may have other
 * parameters than the original function.
 */
bool symbol_is_clone(const struct symbol *sym);

#endif
