/*
 * The calling convention: from the types of a function's parameters to their locations at the call.
 */
#ifndef UTRAIL_SPEC_CALLCONV_H
#define UTRAIL_SPEC_CALLCONV_H

#include "arch/isa.h"
#include "utils/object/dwarf/dwarf_info.h"
#include "utils/spec/args/argspec.h"

/*
 * Specifications of the arguments and results of @func, by the calling convention of @isa (for
 * classes, the Itanium C++ ABI). A value whose place @isa does not define is left out, with all
 * values after it. The formats are those that uftrace derives from the same types
 * (doc/formats/symbols.md, "Specifications from types").
 *
 * CALLCONV_CLONE: the compiler has changed the function's parameters (foo.isra.0): only parameters
 * with locations in debug information count
 *
 * 0 or -ENOMEM.
 */
enum callconv_kind {
	CALLCONV_PLAIN,
	CALLCONV_CLONE
};
int callconv_specs(const struct isa *isa, const struct dwarf_func *func, enum callconv_kind kind,
		   struct argspecs *args, struct argspecs *retval);

#endif
