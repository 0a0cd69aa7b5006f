/* Matching of regular expressions in names, in time that is linear in the name's length. */
#ifndef UTRAIL_SPEC_REGEX_H
#define UTRAIL_SPEC_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"

struct regex;

/*
 * Compile a POSIX extended regular expression. Syntax and results are those of glibc's regcomp(3)
 * and regexec(3) in the C locale, with \w, \s, \b and the like. Only back references are refused:
 * they cannot be matched in linear time.
 *
 * Patterns also come from recordings, and regexec(3) takes minutes for some of them. Here a byte of
 * a name costs at most one step for each part of the expression, and the number of parts is
 * limited. Usually a byte costs one step.
 *
 * NULL with @err: -ERR_USAGE and the error in the expression, a phrase; -ENOMEM.
 */
struct regex *regex_create(const char *text, struct uft_err *err);
void regex_destroy(struct regex *regex);

/*
 * True when the expression matches anywhere in the @len bytes at @name. Calls of several threads
 * wait for each other. Lack of memory only makes the search slower.
 */
bool regex_finds(struct regex *regex, const char *name, size_t len);

/* For tests of the linear time: the steps so far, and the maximum for a byte. */
size_t regex_steps(const struct regex *regex);
size_t regex_steps_per_byte(const struct regex *regex);

#endif
