/* C++ and Rust names in readable form (doc/facts/text.md, "Names"). */
#ifndef UTRAIL_OBJECT_DEMANGLE_H
#define UTRAIL_OBJECT_DEMANGLE_H

#include "utils/base/containers/strbuf.h"

enum demangle_mode {
	/* Scope and name, without parameters, template arguments, return type and ".part.0" */
	DEMANGLE_SIMPLE,
	DEMANGLE_FULL, /* all of the demangler's text */
	DEMANGLE_NO,   /* the name as it is in the object file */
};

/*
 * Append the readable form of @name. A name that is not mangled, or that no demangler can read, is
 * appended as it is. DEMANGLE_SIMPLE removes suffixes (demangle_plain_length()) from every name.
 * strbuf_oom() tells when memory was short.
 */
void demangle(const char *name, enum demangle_mode mode, struct strbuf *out);

/*
 * Returns the length of @name without suffixes. Compilers add suffixes to the names of copies and
 * parts of a function. For "f.constprop.0.isra.0", the result is the length of "f".
 */
size_t demangle_plain_length(const char *name);

/*
 * Append the other names by which users may know the function that has the symbol @name. Each name
 * ends in a NUL, and an empty name follows the last one:
 *
 * - if the symbol has suffixes of compilers (".part.0"): for DEMANGLE_SIMPLE, the name with these
 *   suffixes; for other modes, the name without these suffixes
 * - the name of a Rust function without its crate
 * - "module::Type::method" for methods
 */
void demangle_others(const char *name, enum demangle_mode mode, struct strbuf *out);

#endif
