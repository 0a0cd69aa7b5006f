/*
 * Rules about arguments and return values of functions. The rules come from the options -A, -R
 * and -T, or from a recording.
 */
#ifndef UTRAIL_SPEC_ARGRULES_H
#define UTRAIL_SPEC_ARGRULES_H

#include "utils/spec/args/argspec.h"
#include "utils/spec/regex/pattern.h"

/* The subjects of rules. Rules of -A are about arguments, rules of -R about the return value. */
enum argrules_about {
	ARGRULES_ARGS = 1,
	ARGRULES_RETVAL = 2,
	ARGRULES_BOTH = 3,
};

/*
 * A rule: "NAME[@MODULE][@ITEM,...]" of doc/facts/language.md, "Specifications".
 *
 * @about: the subjects of the rule (enum argrules_about). @items has no specifications of other
 *         subjects
 * @clears: the subjects of the item `clear` (enum argrules_about). Earlier rules have no effect on
 *          the subjects in @clears
 * @module: beginning of the module's file name, or "PLT"; NULL: any
 * @is_auto: the specifications for @about are looked up in debug information and in a table
 *           (argfind.h)
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

/* Starts as { 0 } and ends with argrules_deinit(). */
struct argrules {
	struct argrule *rules;
	size_t nr;
};

void argrules_deinit(struct argrules *rules);
#define cleanup_argrules cleanup(argrules_deinit)

/*
 * The way in which a text of rules is parsed.
 *
 * @is_trigger: the text is from -T, and argrule.is_auto is set only for rules with "auto-args". If
 *         @is_trigger is false, argrule.is_auto is set only for rules that name no values
 * @is_lenient: the text is from a recording: skip invalid rules
 */
struct argrules_source {
	enum pattern_match match;
	enum argrules_about about;
	unsigned word_bytes;
	bool is_trigger;
	bool is_lenient;
};

/*
 * Add the rules of @text, separated by ';'. Returns 0 or -ENOMEM; -ERR_USAGE when a rule has an
 * invalid pattern; -EINVAL when another part of a rule is invalid. For an invalid rule, @err names
 * the rule and the mistake.
 */
int argrules_parse(struct argrules *rules, const char *text, const struct argrules_source *source,
		   struct uft_err *err);

struct argrules_subject {
	const char *name; /* demangled, or as in the symbol table */
	const char *module;
	bool is_plt;
	const char *others; /* other names of the function (demangle_others()); NULL: none */
};

/*
 * Apply the rules to a function: merge the items of the matching rules into @args and @retval.
 * Returns the subjects (enum argrules_about) of the matching rules with @is_auto, or -ENOMEM.
 * Subjects that a later matching rule clears are left out.
 */
int argrules_collect(const struct argrules *rules, const struct argrules_subject *subject,
		     struct argspecs *args, struct argspecs *retval);

#endif
