/* Debug information of traced modules: read once per file, and saved as .dbg files. */
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
 * The debug information of the file @path, empty if it has none; NULL when memory is short. Lives
 * as long as @debug.
 */
const struct dwarf_info *debuginfo_of(struct debuginfo *debug, const char *path);

/* True when debuginfo_of() was asked for it. */
bool debuginfo_has(const struct debuginfo *debug, const char *path);

/* The function of symbol @sym, or NULL. */
const struct dwarf_func *debuginfo_func(const struct dwarf_info *info, const struct symbol *sym);

/*
 * True when the compiler has changed its parameters from those of the source (foo.isra.0,
 * foo.constprop.0, foo.part.0).
 */
bool symbol_is_clone(const struct symbol *sym);

#endif
