/* The values that are captured at a function's calls (see argfind.h). */
#include "utils/spec/args/argfind.h"

#include <errno.h>

void argfound_deinit(struct argfound *found)
{
	argspecs_deinit(&found->args);
	argspecs_deinit(&found->retval);
	*found = (struct argfound){ 0 };
}

/*
 * Ask the source @fn for the missing specifications: those of the arguments, of the return value,
 * or of both. Returns the part of @missing for which another source must be asked, or a negative
 * errno.
 *
 * @missing: a set of bits (enum argrules_about)
 */
static int get_missing(const struct argfind *find, argfind_fn fn, int missing,
		       struct argfound *found, int *from)
{
	int told = missing && fn ? fn(find->self, missing, found) : 0;

	if (told < 0)
		return told;
	*from = told & missing;
	return missing & ~told;
}

/*
 * Give all specifications the format ARG_STRING. Drop each specification of a register, a word of
 * the stack or a floating-point argument, because these places hold no texts.
 */
static void make_texts(struct argspecs *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		struct argspec *spec = &list->specs[i];

		if (!argspec_is_text(spec)) {
			argspec_deinit(spec);
			continue;
		}
		spec->type = (struct arg_type){ ARG_STRING, sizeof(uint64_t) };
		spec->how = ARG_HOW_TEXT;
		list->specs[nr++] = *spec;
	}
	list->nr = nr;
}

int argfind_function(const struct argfind *find, const struct argrules_subject *subject,
		     struct argfound *found)
{
	int missing = argrules_collect(find->rules, subject, &found->args, &found->retval);

	if (missing < 0)
		return missing;
	if (find->is_auto)
		missing = ARGRULES_BOTH;
	/*
	 * If the rules have items for the arguments, ask no source for arguments. If the rules
	 * have an item for the result, ask no source for the result.
	 */
	if (found->args.nr)
		missing &= ~ARGRULES_ARGS;
	if (found->retval.nr)
		missing &= ~ARGRULES_RETVAL;
	missing = get_missing(find, find->debug, missing, found, &found->from_debug);
	if (missing >= 0)
		missing = get_missing(find, find->table, missing, found, &found->from_table);
	if (find->has_texts) {
		make_texts(&found->args);
		make_texts(&found->retval);
	}
	return MIN(missing, 0);
}
