/* Argument specifications of functions: the strings of -A and -R, and those in a recording. */
#ifndef UTRAIL_SPEC_ARGRULES_H
#define UTRAIL_SPEC_ARGRULES_H

#include "utils/spec/args/argspec.h"
#include "utils/spec/regex/pattern.h"

/* The subjects of rules: those of -A are about arguments, those of -R about the return value. */
enum argrules_about {
	ARGRULES_ARGS = 1,
	ARGRULES_RETVAL = 2,
	ARGRULES_BOTH = 3,
};

/*
 * "NAME[@MODULE][@ITEM,...]" of doc/facts/language.md, "Specifications".
 *
 * @about: enum argrules_about: the subjects of @items; without items, the subjects to look up
 *         automatically
 * @clears: enum argrules_about: the subjects whose earlier rules are dropped (`clear`)
 * @module: a prefix of the module's file name, or "PLT"; NULL: any
 * @text: the user's words
 */
struct argrule {
	struct pattern pattern;
	char *module;
	char *text;
	struct argspecs items;
	uint8_t about;
	uint8_t clears;
	bool is_auto;
};

/* Starts as { 0 }, ends with argrules_deinit(). */
struct argrules {
	struct argrule *rules;
	size_t nr;
};

void argrules_deinit(struct argrules *rules);
#define cleanup_argrules cleanup(argrules_deinit)

/*
 * Add the rules of @text, separated by ';'. -EINVAL names the invalid text, with its column;
 * -ENOMEM.
 *
 * @is_trigger: the text is from -T: a rule without items about arguments does not concern
 *              arguments, and "auto-args" requests all that can be found
 * @is_lenient: the text is from a recording: invalid items, and items that are not about arguments,
 *              are skipped
 */
struct argrules_source {
	enum pattern_match match;
	enum argrules_about about;
	unsigned word_bytes;
	bool is_trigger;
	bool is_lenient;
};
int argrules_parse(struct argrules *rules, const char *text, const struct argrules_source *source,
		   struct uft_err *err);

/* The function that rules are asked about. */
struct argrules_subject {
	const char *name; /* demangled, or as in the symbol table */
	const char *module;
	bool is_plt;
	const char *others; /* its other names (demangle_others()); NULL: none */
};

/*
 * Apply the rules to a function: merge the items for it into @args and @retval. Returns the
 * subjects (enum argrules_about) of rules without items, which are to be looked up automatically.
 */
int argrules_collect(const struct argrules *rules, const struct argrules_subject *subject,
		     struct argspecs *args, struct argspecs *retval);

#endif
