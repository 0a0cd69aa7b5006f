/*
 * Argument specifications of functions: the strings of -A and -R, and those that a recording
 * carries.
 */
#ifndef UTRAIL_SPEC_ARGRULES_H
#define UTRAIL_SPEC_ARGRULES_H

#include "utils/spec/args/argspec.h"
#include "utils/spec/regex/pattern.h"

/* The subjects that a string of rules may speak of: -A has arguments, -R the return value. */
enum argrules_about {
	ARGRULES_ARGS = 1,
	ARGRULES_RETVAL = 2,
	ARGRULES_BOTH = 3,
};

/*
 * "NAME[@MODULE][@ITEM,...]" of doc/facts/language.md, "Specifications".
 *
 * @about: enum argrules_about: the subjects of @items, or those to find out by itself when there
 *         are none
 * @clears: enum argrules_about: earlier rules about these are forgotten, `clear`
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
 * Add the rules of @text, separated by ';'. -EINVAL names the text that cannot be read, with its
 * column; -ENOMEM.
 *
 * @is_trigger: the text is that of -T: a rule that has no items about arguments says nothing about
 *              them, and "auto-args" asks for those that can be found
 * @is_lenient: the text is from a recording: items that are not about arguments are skipped, and so
 *              are those that cannot be read
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
 * Apply the rules to a function: its items go to @args and @retval, merged. The bits of enum
 * argrules_about that are returned tell the subjects that it shall find out by itself, because a
 * rule without items is about them.
 */
int argrules_collect(const struct argrules *rules, const struct argrules_subject *subject,
		     struct argspecs *args, struct argspecs *retval);

#endif
