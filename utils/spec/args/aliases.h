/* Functions of several names: which of them is shown. */
#ifndef UTRAIL_SPEC_ALIASES_H
#define UTRAIL_SPEC_ALIASES_H

#include <stdbool.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/sym.h"
#include "utils/object/names/demangle.h"
#include "utils/spec/filters.h"

/*
 * True when the user asks for a function of this name. @others: as demangle_others() makes them; of
 * this name alone.
 */
typedef bool (*is_asked_for_fn)(void *arg, const struct strbuf *name, const char *others);

/*
 * Functions of @symbols get the one of their names that the user asks for, when the user does not
 * ask for the one that they have. 0 or -ENOMEM.
 */
int aliases_prefer(struct symtab *symbols, enum demangle_mode mode, is_asked_for_fn is_asked_for,
		   void *arg);

/* The same for functions that filters ask for in the module of which @module is the base name. */
int aliases_prefer_filtered(struct symtab *symbols, struct filters *filters,
			    enum demangle_mode mode, const char *module);

/*
 * All names of @sym, which is one of @symbols: the one that is shown replaces @name, and the others
 * replace @others, in the form of demangle_others(). Functions of the kernel have one, as it
 * stands. Memory failure shows in strbuf_oom().
 */
void aliases_all_names(const struct symtab *symbols, const struct symbol *sym,
		       enum demangle_mode mode, struct strbuf *name, struct strbuf *others);

#endif
