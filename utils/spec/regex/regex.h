/* Regular expressions, found in names in time that grows with the name's length only. */
#ifndef UTRAIL_SPEC_REGEX_H
#define UTRAIL_SPEC_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"

struct regex;

/*
 * POSIX extended regular expressions as regcomp(3) and regexec(3) of glibc take them in the C
 * locale, \w, \s, \b and the like included; the results are the same. Only back references are
 * refused: nobody can find them in linear time.
 *
 * Patterns come from recordings, too, and regexec(3) takes minutes for some of them. Here a byte of
 * a name costs at most one step for each part of the expression, whose number is limited; most
 * often it costs one in all.
 *
 * NULL with @err: -ERR_USAGE and the error in the expression, a phrase; -ENOMEM.
 */
struct regex *regex_create(const char *text, struct uft_err *err);
void regex_destroy(struct regex *regex);

/*
 * True when it is found anywhere in the @len bytes at @name. Threads wait for each other. Memory
 * that is short makes it slower, and no more than that.
 */
bool regex_finds(struct regex *regex, const char *name, size_t len);

/*
 * For tests of that promise: the steps that were made so far, and how many a byte may cost at most.
 */
size_t regex_steps(const struct regex *regex);
size_t regex_steps_per_byte(const struct regex *regex);

#endif
