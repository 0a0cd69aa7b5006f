/* Functions of several names: which of them is shown. */
#ifndef UTRAIL_SPEC_ALIASES_H
#define UTRAIL_SPEC_ALIASES_H

#include <stdbool.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/sym.h"
#include "utils/object/names/demangle.h"
#include "utils/spec/filters.h"

/*
 * True when the user has chosen a function of this name. @others: the other names of the same
 * symbol, from demangle_others().
 */
typedef bool (*is_asked_for_fn)(void *arg, const struct strbuf *name, const char *others);

/*
 * Rename functions of @symbols to an alias that the user has chosen, if the user has not chosen
 * their own name. 0 or -ENOMEM.
 */
int aliases_prefer(struct symtab *symbols, enum demangle_mode mode, is_asked_for_fn is_asked_for,
		   void *arg);

/*
 * Like aliases_prefer(), for functions that filters name in the module with the base name @module.
 */
int aliases_prefer_filtered(struct symtab *symbols, struct filters *filters,
			    enum demangle_mode mode, const char *module);

/*
 * List all names of @sym, one of @symbols. The displayed name is written to @name, the other names
 * to @others, in the form of demangle_others(). Functions of the kernel have only their own. Memory
 * failure shows in strbuf_oom().
 */
void aliases_all_names(const struct symtab *symbols, const struct symbol *sym,
		       enum demangle_mode mode, struct strbuf *name, struct strbuf *others);

#endif
