/* Compiles a regular expression to the automaton that the probe runs. */
#ifndef UTRAIL_SPEC_REGEX_PLAN_H
#define UTRAIL_SPEC_REGEX_PLAN_H

#include "utils/base/err.h"
#include "utils/format/probe/automaton.h"

/*
 * Compile @regex, which regex_create() has accepted, to an automaton that matches as regexec(3) in
 * the C locale does. Returns 0, or -ERR_USAGE with the reason why @regex has no automaton. The most
 * important reasons:
 *
 * - more than 64 parts that match one character each
 * - a backslash before a letter or digit, for example in a back reference
 * - `^` or `$` elsewhere than at the ends of the outermost alternatives
 */
int regex_plan(const char *regex, struct automaton *out, struct uft_err *err);

#endif
