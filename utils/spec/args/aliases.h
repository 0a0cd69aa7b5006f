/* Chooses the displayed name of a function with several names, and lists all names. */
#ifndef UTRAIL_SPEC_ALIASES_H
#define UTRAIL_SPEC_ALIASES_H

#include <stdbool.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/sym.h"
#include "utils/object/names/demangle.h"
#include "utils/spec/filters.h"

/*
 * True when the user has named this function.
 *
 * @others: the other names of the same symbol, from demangle_others()
 */
typedef bool (*is_asked_for_fn)(void *arg, const struct strbuf *name, const char *others);

/*
 * A function in @symbols may have aliases. If the user has named the function by an alias, and not
 * by its displayed name, the alias becomes the displayed name. Returns 0 or -ENOMEM.
 */
int aliases_prefer(struct symtab *symbols, enum demangle_mode mode, is_asked_for_fn is_asked_for,
		   void *arg);

/* Like aliases_prefer(), for names in filters. @module: base name of the file of @symbols. */
int aliases_prefer_filtered(struct symtab *symbols, struct filters *filters,
			    enum demangle_mode mode, const char *module);

/*
 * List all names of @sym, one of @symbols. strbuf_oom() tells when memory was short. A function of
 * the kernel has only one name.
 *
 * @name: the displayed name
 * @others: the other names, in the form of demangle_others()
 */
void aliases_all_names(const struct symtab *symbols, const struct symbol *sym,
		       enum demangle_mode mode, struct strbuf *name, struct strbuf *others);

#endif
