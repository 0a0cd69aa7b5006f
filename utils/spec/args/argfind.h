/*
 * The values that are captured at a function's calls. The user's rules (argrules.h), debug
 * information, and a table of functions (autoargs.h) describe such values.
 */
#ifndef UTRAIL_SPEC_ARGFIND_H
#define UTRAIL_SPEC_ARGFIND_H

#include "utils/spec/args/argrules.h"

/*
 * The specifications of the values to capture at calls of a function. Starts as { 0 } and ends with
 * argfound_deinit().
 *
 * @retval: a list, of which only the first specification is used
 * @from_debug: the values whose specifications come from debug information, as a set of bits:
 *         ARGRULES_ARGS, ARGRULES_RETVAL
 * @from_table: the values whose specifications come from a table of functions, as the same bits.
 *         The specifications of all other values come from rules
 */
struct argfound {
	struct argspecs args;
	struct argspecs retval;
	int from_debug;
	int from_table;
};

void argfound_deinit(struct argfound *found);
#define cleanup_argfound cleanup(argfound_deinit)

/*
 * A source of specifications. @about is a set of bits (enum argrules_about): arguments, return
 * value, or both. The source finds specifications for @about, and adds the specifications to
 * @found. Returns a negative errno, or the bits of @about that need no other source. For the other
 * bits, the caller asks the next source.
 */
typedef int (*argfind_fn)(void *self, int about, struct argfound *found);

/*
 * @is_auto: look up all functions, even those without a rule (-a)
 * @debug, @table: two sources of specifications. @debug is asked first. NULL: there is no such
 *         source
 * @self: the first argument of @debug and @table
 * @has_texts: the values are texts, even if rules ask for other formats (utils/format/callables.h)
 */
struct argfind {
	const struct argrules *rules;
	bool is_auto;
	argfind_fn debug;
	argfind_fn table;
	void *self;
	bool has_texts;
};

/*
 * Find the specifications of the values to capture at calls of the function @subject. Add these
 * specifications to @found, which must be empty. Returns 0 or a negative errno.
 *
 * The recorder captures values by these specifications. A reader calls this function to find the
 * same specifications, and parses payloads with the specifications (doc/formats/info.md, "Argument
 * specifications").
 */
int argfind_function(const struct argfind *find, const struct argrules_subject *subject,
		     struct argfound *found);

#endif
