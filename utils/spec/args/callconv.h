/* The calling convention: the places of arguments and results of given types. */
#ifndef UTRAIL_SPEC_CALLCONV_H
#define UTRAIL_SPEC_CALLCONV_H

#include "arch/isa.h"
#include "utils/object/dwarf/dwarf_info.h"
#include "utils/spec/args/argspec.h"

/*
 * Find the specifications of arguments and results of @func by the calling convention of @isa. The
 * places of values of C++ classes follow the Itanium C++ ABI. Each type leads to the same
 * specification as in uftrace (doc/formats/symbols.md, "Specifications from types"). Returns 0 or
 * -ENOMEM.
 *
 * If @isa does not define the place of a value, this value and all values after it are left out.
 *
 * CALLCONV_CLONE: the compiler has changed the function's parameters (foo.isra.0); only parameters
 * whose places are in debug information get a specification
 */
enum callconv_kind {
	CALLCONV_PLAIN,
	CALLCONV_CLONE
};
int callconv_specs(const struct isa *isa, const struct dwarf_func *func, enum callconv_kind kind,
		   struct argspecs *args, struct argspecs *retval);

#endif
