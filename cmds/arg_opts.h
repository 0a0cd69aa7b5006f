/*
 * Parses the arguments of -A, -R and -a, and the argument actions of -T. Writes the resulting rules
 * into the recording's file `info`.
 */
#ifndef UTRAIL_CMDS_ARG_OPTS_H
#define UTRAIL_CMDS_ARG_OPTS_H

#include "cmds/opts.h"
#include "utils/spec/args/argrules.h"

/*
 * Parse opts->specs into @rules, which must be empty. The order of @rules is the order in which the
 * rules are applied. Returns 0, -ENOMEM, or -ERR_USAGE with the error message in @err.
 */
int arg_opts_parse(const struct opts *opts, struct argrules *rules, struct uft_err *err);

/*
 * Write the value of a key of `info`, in the form of uftrace. The key argspec has the @rules for
 * arguments. The key retspec has the @rules for results. The value is "" when there are no such
 * rules.
 *
 * @about: selects the key: ARGRULES_ARGS for argspec, or ARGRULES_RETVAL for retspec
 * @has_callables: after each rule without a module, write a second form of the rule. The second
 *         form is for functions of Python (utils/format/callables.h)
 */
void arg_opts_put(const struct argrules *rules, enum argrules_about about, bool has_callables,
		  struct strbuf *out);

/*
 * Write a rule for -a. The rule makes uftrace read python.fake.dbg, the debug information about
 * Python's functions. Writes nothing for MATCH_SIMPLE: no simple pattern matches all names.
 *
 * @match: the kind of the patterns in the recording's `info`
 */
void arg_opts_put_auto(enum pattern_match match, struct strbuf *out);

#endif
