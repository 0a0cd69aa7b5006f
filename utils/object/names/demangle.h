/* C++ and Rust names in readable form (doc/facts/text.md, "Names"). */
#ifndef UTRAIL_OBJECT_DEMANGLE_H
#define UTRAIL_OBJECT_DEMANGLE_H

#include "utils/base/containers/strbuf.h"

enum demangle_mode {
	/* Scope and name only: no parameters, template arguments, return types, ".part.0" */
	DEMANGLE_SIMPLE,
	DEMANGLE_FULL, /* all that the demangler knows */
	DEMANGLE_NO,   /* as in the object file */
};

/*
 * Append the readable form of @name to @out; a name that is not mangled, or unknown to the
 * demangler, is appended unchanged. Memory failure shows in strbuf_oom(@out).
 */
void demangle(const char *name, enum demangle_mode mode, struct strbuf *out);

/*
 * The length of @name without the suffixes that compilers append to the names of copies and parts
 * of a function: in "f.constprop.0.isra.0" that of "f".
 */
size_t demangle_plain_length(const char *name);

/*
 * Append to @out the other common names of symbol @name's function, which has another name in
 * @mode. These are the name without (or, when it is shown without, with) a compiler's suffixes;
 * that of a Rust function without its crate, and of its methods as "module::Type::method". Each
 * ends with a NUL, so that an empty one follows the last one.
 */
void demangle_others(const char *name, enum demangle_mode mode, struct strbuf *out);

#endif
