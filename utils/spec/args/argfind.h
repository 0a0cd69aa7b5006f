/*
 * Values that are captured of a function's calls: those that were asked for, and the places to look
 * for those that were asked for without a specification.
 */
#ifndef UTRAIL_SPEC_ARGFIND_H
#define UTRAIL_SPEC_ARGFIND_H

#include "utils/spec/args/argrules.h"

/*
 * @retval: at most one counts, the first
 * @from_debug, @from_table: enum argrules_about: which of them debug information has told, or a
 * table of functions; the others are from rules
 *
 * Starts as { 0 }, ends with argfound_deinit().
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
 * A source that may know a function: fill in @found the facts about @about (enum argrules_about).
 * Returns of which of these nobody else is to be asked, though it may be that nothing was found; or
 * a negative errno.
 */
typedef int (*argfind_fn)(void *self, int about, struct argfound *found);

/*
 * @is_auto: functions that no rule is about are looked for, too (-a)
 * @has_texts: values of this function are texts, whatever rules say of their format: those of
 *             utils/format/callables.h
 * @debug, @table: the functions that are asked, in this order, with @self; NULL: none
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
 * Find the values that are captured of the function @subject, into the empty @found. Recorder and
 * reader both go by this: a reader has to come to the same specifications, or it cannot take
 * payloads apart (doc/formats/info.md, "Argument specifications"). 0 or negative errno.
 */
int argfind_function(const struct argfind *find, const struct argrules_subject *subject,
		     struct argfound *found);

#endif
