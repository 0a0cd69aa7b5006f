/* Scope and name of a mangled C++ name: the text of DEMANGLE_SIMPLE. */
#ifndef UTRAIL_OBJECT_DEMANGLE_SIMPLE_H
#define UTRAIL_OBJECT_DEMANGLE_SIMPLE_H

#include <stdbool.h>

#include "utils/base/containers/strbuf.h"

/*
 * Append the simple form (demangle.h) of @mangled, which begins with "_Z". Types, template
 * arguments and expressions are skipped, which takes a tenth of the time of full demangling. Some
 * names of clang, with "sr3std..." as in every std::vector, can be read here and not by libiberty.
 * False when the name is not well-formed: then invalid text follows the old end of @out. The
 * grammar is that of the Itanium C++ ABI, section 5.1 "External Names".
 */
bool demangle_simple(const char *mangled, struct strbuf *out);

#endif
