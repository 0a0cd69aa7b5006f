/*
 * Matching of regular expressions with names, in time that grows linearly with the length of a
 * name.
 */
#ifndef UTRAIL_SPEC_REGEX_H
#define UTRAIL_SPEC_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"

struct regex;

/*
 * Compile a POSIX extended regular expression, with the syntax and results of glibc's regcomp(3)
 * and regexec(3) in the C locale (also \w, \s, \b and the like). Returns NULL after an error. @err
 * then has -ENOMEM, or -ERR_USAGE with a phrase that names the error in the expression.
 *
 * Recordings may contain patterns for which regexec(3) takes minutes. Here, a byte of a name costs
 * at most regex_steps_per_byte() steps, and usually one. Back references are refused: they cannot
 * be matched in linear time. The number of nodes of an expression is limited.
 */
struct regex *regex_create(const char *text, struct uft_err *err);
void regex_destroy(struct regex *regex);

/*
 * True when the expression matches a part of the @len bytes at @name. Threads may share @regex:
 * while one thread searches, the others wait. When memory is short, the search is slower, but the
 * result is right.
 */
bool regex_finds(struct regex *regex, const char *name, size_t len);

/*
 * For tests. regex_steps() returns the number of steps of all past searches with @regex.
 * regex_steps_per_byte() returns the maximum number of steps for one byte of a name.
 */
size_t regex_steps(const struct regex *regex);
size_t regex_steps_per_byte(const struct regex *regex);

#endif
