/* Compiles a regular expression to the automaton that the probe runs. */
#ifndef UTRAIL_SPEC_REGEX_PLAN_H
#define UTRAIL_SPEC_REGEX_PLAN_H

#include "utils/base/err.h"
#include "utils/format/probe/automaton.h"

/*
 * @regex is a regular expression that regex_create() takes (utils/spec/regex/regex.h). The
 *        automaton finds the same as regexec(3), in the C locale. -ERR_USAGE with the reason when
 *        an automaton cannot: more than 64 places that take a character, back references and other
 *        escapes of letters, `^` and `$` elsewhere than at the ends of the outermost alternatives.
 */
int regex_plan(const char *regex, struct automaton *out, struct uft_err *err);

#endif
