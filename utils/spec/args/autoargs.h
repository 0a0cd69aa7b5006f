/*
 * A table of the arguments and results of library functions, for programs without debug
 * information. The functions belong to POSIX, or to the libraries of C and C++.
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
 * Returns the number of arguments of a call of @name, if @name has optional arguments. For example,
 * open() without O_CREAT has no mode. Returns SIZE_MAX when @name has no optional arguments, or if
 * @values do not tell the number.
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
