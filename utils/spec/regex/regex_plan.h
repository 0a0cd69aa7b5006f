/* Compiles a regular expression to the automaton that the probe runs. */
#ifndef UTRAIL_SPEC_REGEX_PLAN_H
#define UTRAIL_SPEC_REGEX_PLAN_H

#include "utils/base/err.h"
#include "utils/format/probe/automaton.h"

/*
 * Compile @regex, which regex_create() accepts (utils/spec/regex/regex.h). The automaton finds what
 * regexec(3) finds in the C locale. -ERR_USAGE with the reason for expressions that have no
 * automaton. Such an expression has more than 64 places that take a character, or back references
 * and other escapes of letters, or `^` and `$` elsewhere than at the ends of the outermost
 * alternatives.
 */
int regex_plan(const char *regex, struct automaton *out, struct uft_err *err);

#endif
