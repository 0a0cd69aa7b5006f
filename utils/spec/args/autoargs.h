/*
 * Known arguments and results of functions of the C and C++ libraries and POSIX, for programs
 * without debug information.
 */
#ifndef UTRAIL_SPEC_AUTOARGS_H
#define UTRAIL_SPEC_AUTOARGS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"

/*
 * @args, @retval: items of utils/spec/args/argspec.h, separated by ','; NULL: none, or unknown
 */
struct autoargs {
	const char *name; /* as in the symbol table */
	const char *args;
	const char *retval;
};

/* Returns NULL when no row has this name. */
const struct autoargs *autoargs_find(const char *name);

/*
 * Returns the number of arguments of a call of @name, if some arguments in the row of @name are
 * optional: open() without O_CREAT has no mode. Returns SIZE_MAX when no argument in the row is
 * optional, or when the number cannot be found from @values.
 *
 * @values: the first @nr arguments
 */
size_t autoargs_count(const char *name, const uint64_t *values, size_t nr);

/*
 * Write the values of the keys argauto, retauto and enumauto of `info` (doc/formats/info.md,
 * "Argument specifications").
 */
void autoargs_put_args(struct strbuf *out);
void autoargs_put_retvals(struct strbuf *out);
void autoargs_put_enums(struct strbuf *out);

#endif
