/* Keeps debug information of traced modules: each file is read once. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_DEBUGINFO_H
#define UTRAIL_CMDS_RECORD_PLAN_DEBUGINFO_H

#include "utils/base/err.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/sym.h"
#include "utils/object/dwarf/dwarf_info.h"

/*
 * The debug information read so far; @problem: the first error. Starts as { 0 }, ends with
 * debuginfo_deinit().
 */
struct debuginfo {
	struct debuginfo_file *files;
	struct uft_err problem;
};

void debuginfo_deinit(struct debuginfo *debug);

/*
 * Returns the debug information of the file @path, which is empty if the file has none, or NULL
 * when memory is short. It lives as long as @debug.
 */
const struct dwarf_info *debuginfo_of(struct debuginfo *debug, const char *path);

/* True when debuginfo_of() was called for the file. */
bool debuginfo_has(const struct debuginfo *debug, const char *path);

/* Returns the function of symbol @sym, or NULL. */
const struct dwarf_func *debuginfo_func(const struct dwarf_info *info, const struct symbol *sym);

/*
 * True when the compiler has changed the function's parameters from those of the source
 * (foo.isra.0, foo.constprop.0, foo.part.0).
 */
bool symbol_is_clone(const struct symbol *sym);

#endif
