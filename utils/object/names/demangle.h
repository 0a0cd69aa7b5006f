/* C++ and Rust names in readable form (doc/facts/text.md, "Names"). */
#ifndef UTRAIL_OBJECT_DEMANGLE_H
#define UTRAIL_OBJECT_DEMANGLE_H

#include "utils/base/containers/strbuf.h"

enum demangle_mode {
	/* Scope and name only, without parameters, template arguments, return types, ".part.0" */
	DEMANGLE_SIMPLE,
	DEMANGLE_FULL, /* with everything that the demangler knows */
	DEMANGLE_NO,   /* as in the object file */
};

/*
 * Append the readable form of @name to @out; a name that is not mangled, or unknown to the
 * demangler, is appended unchanged. Memory failure shows in strbuf_oom(@out).
 */
void demangle(const char *name, enum demangle_mode mode, struct strbuf *out);

/*
 * Returns the length of @name without the suffixes that compilers append to names of copies and
 * parts of a function: for "f.constprop.0.isra.0", the length of "f".
 */
size_t demangle_plain_length(const char *name);

/*
 * Append to @out the other usual names of symbol @name's function: all but its name in @mode. These
 * are the name without a compiler's suffixes (or with them, when @mode removes them), a Rust
 * function's name without its crate, and "module::Type::method" for methods. Each name ends with a
 * NUL; an empty name follows the last one.
 */
void demangle_others(const char *name, enum demangle_mode mode, struct strbuf *out);

#endif
