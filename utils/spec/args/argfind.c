/* Values that are captured of a function's calls (see argfind.h). */
#include "utils/spec/args/argfind.h"

#include <errno.h>

void argfound_deinit(struct argfound *found)
{
	argspecs_deinit(&found->args);
	argspecs_deinit(&found->retval);
	*found = (struct argfound){ 0 };
}

/* Ask for the missing ones; returns those that are missing then, or negative. */
static int get_missing(const struct argfind *find, argfind_fn fn, int missing,
		       struct argfound *found, int *from)
{
	int told = missing && fn ? fn(find->self, missing, found) : 0;

	if (told < 0)
		return told;
	*from = told & missing;
	return missing & ~told;
}

int argfind_function(const struct argfind *find, const struct argrules_subject *subject,
		     struct argfound *found)
{
	int missing = argrules_collect(find->rules, subject, &found->args, &found->retval);

	if (missing < 0)
		return missing;
	if (find->is_auto)
		missing = ARGRULES_BOTH;
	/* A full specification counts, and nothing else. */
	if (found->args.nr)
		missing &= ~ARGRULES_ARGS;
	if (found->retval.nr)
		missing &= ~ARGRULES_RETVAL;
	missing = get_missing(find, find->debug, missing, found, &found->from_debug);
	if (missing >= 0)
		missing = get_missing(find, find->table, missing, found, &found->from_table);
	return MIN(missing, 0);
}
