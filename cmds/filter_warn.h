/* Warnings about filters that match nothing, with the names that were probably meant. */
#ifndef UTRAIL_CMDS_FILTER_WARN_H
#define UTRAIL_CMDS_FILTER_WARN_H

#include "cmds/opts.h"
#include "utils/format/sym.h"

/* Names of functions, demangled. The struct starts as { 0 } and ends with func_names_deinit(). */
struct func_names {
	struct strbuf text; /* the names, one after the other, each with its NUL */
	int demangle;	    /* an enum demangle_mode */
};

void func_names_deinit(struct func_names *names);
#define cleanup_func_names cleanup(func_names_deinit)

/* Add the functions of @symbols. */
void func_names_add(struct func_names *names, const struct symtab *symbols);

/*
 * Warn about each spec with an action that the spec's option does not accept. The warning names the
 * first such action of the spec. When the command records without -k, also warn about filters of
 * kernel functions.
 */
void filter_warn_ignored(const struct opts *opts);

/*
 * True when filter_warn_unmatched() will print a warning. If false, the caller need not collect the
 * argument @names of filter_warn_unmatched().
 */
bool filter_has_unmatched(const struct opts *opts);

/*
 * Warn about filters that have matched no function, and suggest the most similar names of @names.
 * Returns true when a warning says that the filters exclude all functions.
 */
bool filter_warn_unmatched(const struct opts *opts, const struct func_names *names);

#endif
