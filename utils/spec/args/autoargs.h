/*
 * Known specifications of functions of the C and C++ libraries and POSIX without debug information:
 * their arguments and results.
 */
#ifndef UTRAIL_SPEC_AUTOARGS_H
#define UTRAIL_SPEC_AUTOARGS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"

/* @args, @retval: items of utils/spec/args/argspec.h, separated by ','; NULL: none, or unknown */
struct autoargs {
	const char *name; /* as in the symbol table */
	const char *args;
	const char *retval;
};

/* Find the row of function @name, or NULL. */
const struct autoargs *autoargs_find(const char *name);

/*
 * Count the arguments that a call of the variadic function @name really has, of those in its row:
 * open() without O_CREAT has no mode. @values: the first @nr arguments. When these do not tell the
 * number, all arguments of the row count.
 */
size_t autoargs_count(const char *name, const uint64_t *values, size_t nr);

/*
 * Write the tables in the form of recordings (doc/formats/info.md, "Argument specifications"): keys
 * argauto, retauto and enumauto of `info`.
 */
void autoargs_put_args(struct strbuf *out);
void autoargs_put_retvals(struct strbuf *out);
void autoargs_put_enums(struct strbuf *out);

#endif
