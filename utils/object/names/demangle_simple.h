/* Makes "scope::name" from mangled C++ names, for DEMANGLE_SIMPLE. */
#ifndef UTRAIL_OBJECT_DEMANGLE_SIMPLE_H
#define UTRAIL_OBJECT_DEMANGLE_SIMPLE_H

#include <stdbool.h>

#include "utils/base/containers/strbuf.h"

/* The longest readable name that is made. */
#define DEMANGLED_MAX (64U << 10)

/*
 * Append the simple form (demangle.h) of @mangled, which begins with "_Z" (Itanium C++ ABI, 5.1
 * "External Names"). Returns false for a malformed name, and for one whose form is longer than
 * DEMANGLED_MAX. After a failure, invalid text follows the old content of @out.
 *
 * The function skips types, template arguments and expressions. So the function takes a tenth of
 * the time that full demangling takes. Unlike libiberty, this function accepts "sr3std...", which
 * clang writes for every std::vector.
 */
bool demangle_simple(const char *mangled, struct strbuf *out);

#endif
