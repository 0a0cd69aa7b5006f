/* The language of --patch and --unpatch: which functions are to have a hook. */
#ifndef UTRAIL_SPEC_PATCHES_H
#define UTRAIL_SPEC_PATCHES_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"
#include "utils/spec/regex/pattern.h"

/*
 * One item of the list.
 *
 * @module: the beginning of the base name of the function's file, of the heap; NULL: the program
 *          itself
 * @takes_out: with `!` before it, or of --unpatch
 * @text: as typed, without `!`, of the heap
 * @generation: of the rules when it came: 0 is of the command line
 * @has_name, @has_match: of some function the name matched, and it could be as the rule says, so
 *                        far
 * @why_not: the reason why the first function that matched could not, of the heap; NULL when nobody
 *           has said so
 */
struct patch_rule {
	struct pattern name;
	char *module;
	bool takes_out;
	char *text;
	unsigned generation;
	bool has_name;
	bool has_match;
	char *why_not;
};

/*
 * In the order of the command line; after them those that the user has added while the program
 * runs. Starts as { 0 }, ends with patch_rules_deinit().
 *
 * @nr_first: the number of those of the command line
 * @generation: another one with each change
 */
struct patch_rules {
	struct patch_rule *rules;
	size_t nr;
	size_t nr_first;
	unsigned generation;
};

/*
 * "[!]FUNC[@MODULE]" separated by ';' (doc/facts/language.md, "Patches"); how FUNC is read says
 * @match. -ERR_USAGE with the column and the error, -ENOMEM.
 */
int patch_rules_parse(const char *text, enum pattern_match match, struct patch_rules *out,
		      struct uft_err *err);
void patch_rules_deinit(struct patch_rules *rules);

/*
 * A function: @name demangled, @others its other names (demangle_others()) or NULL; without a
 * symbol @name is NULL. @module: base name of its file. @can_be: it can be patched, @has_hook: it
 * has a hook all the same; @why_not: why it cannot, or NULL; which rules remember.
 */
struct patch_subject {
	const char *name;
	const char *others;
	const char *module;
	bool is_program;
	bool can_be;
	bool has_hook;
	const char *why_not;
};

enum patch_choice {
	PATCH_UNSAID, /* no rule is about it */
	PATCH_IN,
	PATCH_OUT,
};

/* The choice of the last rule that matches. Each that does is noted to have a match. */
enum patch_choice patch_rules_choose(struct patch_rules *rules,
				     const struct patch_subject *subject);

/* True when any rule is about it. Nothing is noted. */
bool patch_rules_match(const struct patch_rules *rules, const struct patch_subject *subject);

/* The choice of those rules alone that came after @generation. Nothing is noted. */
enum patch_choice patch_rules_choose_since(const struct patch_rules *rules,
					   const struct patch_subject *subject,
					   unsigned generation);

/* True when any rule of the command line puts hooks in, or takes some out. */
bool patch_rules_have(const struct patch_rules *rules, bool takes_out);

/* The same for files of which @module is the base name. */
bool patch_rules_are_about(const struct patch_rules *rules, const char *module, bool is_program,
			   bool takes_out);

/*
 * A change that may still be taken back, by patch_rules_undo(), or stays, by patch_rules_keep().
 *
 * @before: the rules as they were
 * @nr_new: the number of new ones: the last of the present ones
 */
struct patch_rules_change {
	struct patch_rule *before;
	size_t nr_before;
	size_t nr_new;
};

/*
 * Add the rules of @more, which is empty afterwards. A later rule of the user's with the same text
 * takes the place of an earlier one, so that their number stays small however often something is
 * switched. 0 or -ENOMEM, and then nothing has changed.
 */
int patch_rules_add(struct patch_rules *rules, struct patch_rules *more,
		    struct patch_rules_change *change);
void patch_rules_undo(struct patch_rules *rules, struct patch_rules_change *change);
void patch_rules_keep(struct patch_rules *rules, struct patch_rules_change *change);

#endif
