/* C++ and Rust names as people read them (spec/output.md section 1.4). */
#ifndef UTRAIL_OBJECT_DEMANGLE_H
#define UTRAIL_OBJECT_DEMANGLE_H

#include "utils/base/strbuf.h"

enum demangle_mode {
	DEMANGLE_SIMPLE, /* scope and name only: no parameters, template arguments, return types */
	DEMANGLE_FULL,	 /* everything the demangler knows */
	DEMANGLE_NO,	 /* as in the object file */
};

/*
 * Append the readable form of @name to @out; a name that is not mangled, or that the demangler
 * does not know, is appended as it is. Memory failure shows in strbuf_oom(@out).
 */
void demangle(const char *name, enum demangle_mode mode, struct strbuf *out);

#endif
