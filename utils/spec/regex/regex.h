/* Matching of regular expressions in names, in time that is linear in the name's length. */
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
 * refused: they cannot be found in linear time.
 *
 * Patterns also come from recordings, and regexec(3) takes minutes for some of them. Here a byte of
 * a name costs at most one step for each part of the expression, whose number is limited, and
 * usually one in total.
 *
 * NULL with @err: -ERR_USAGE and the error in the expression, a phrase; -ENOMEM.
 */
struct regex *regex_create(const char *text, struct uft_err *err);
void regex_destroy(struct regex *regex);

/*
 * True when the expression matches anywhere in the @len bytes at @name. Threads are serialized. A
 * lack of memory makes it slower, without other effects.
 */
bool regex_finds(struct regex *regex, const char *name, size_t len);

/* For tests of that promise: the steps so far, and the maximum for a byte. */
size_t regex_steps(const struct regex *regex);
size_t regex_steps_per_byte(const struct regex *regex);

#endif
