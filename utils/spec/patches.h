/* The language of --patch and --unpatch: the functions that get a hook. */
#ifndef UTRAIL_SPEC_PATCHES_H
#define UTRAIL_SPEC_PATCHES_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"
#include "utils/spec/regex/pattern.h"

/*
 * One item of the list.
 *
 * @module: the beginning of the base name of the function's file, on the heap; NULL: the program
 *          itself
 * @takes_out: the rule removes hooks: it has a leading `!`, or is from --unpatch
 * @text: as typed, without `!`, on the heap
 * @generation: the generation of patch_rules when this rule was added; 0: rules of the command line
 * @has_name: a function has matched the rule by name so far; @has_match: the rule could be applied
 *           to one
 * @why_not: the reason why the rule could not be applied to the first such function, on the heap;
 *           NULL: none so far
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
 * Rules in the order of the command line, and then those that the user has added while the program
 * runs. Starts as { 0 }, ends with patch_rules_deinit().
 *
 * @nr_first: the number of rules of the command line
 * @generation: incremented with each change
 */
struct patch_rules {
	struct patch_rule *rules;
	size_t nr;
	size_t nr_first;
	unsigned generation;
};

/*
 * "[!]FUNC[@MODULE]" separated by ';' (doc/facts/language.md, "Patches"); @match tells how FUNC is
 * read. -ERR_USAGE with the column and the error, -ENOMEM.
 */
int patch_rules_parse(const char *text, enum pattern_match match, struct patch_rules *out,
		      struct uft_err *err);
void patch_rules_deinit(struct patch_rules *rules);

/*
 * A function: @name demangled, @others its other names (demangle_others()) or NULL; without a
 * symbol @name is NULL. @module: base name of its file. @can_be: the function can be patched,
 * @has_hook: it already has a hook. @why_not: the reason why it cannot be patched, or NULL. Rules
 * store it.
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
	PATCH_UNSAID, /* no rule matches the function */
	PATCH_IN,
	PATCH_OUT,
};

/* Returns the choice of the last matching rule. All matching rules are marked as matched. */
enum patch_choice patch_rules_choose(struct patch_rules *rules,
				     const struct patch_subject *subject);

/* True when any rule matches the function. No rule is marked. */
bool patch_rules_match(const struct patch_rules *rules, const struct patch_subject *subject);

/* Like patch_rules_choose(), for the rules added after @generation only. No rule is marked. */
enum patch_choice patch_rules_choose_since(const struct patch_rules *rules,
					   const struct patch_subject *subject,
					   unsigned generation);

/* True when any rule of the command line inserts hooks, or removes some. */
bool patch_rules_have(const struct patch_rules *rules, bool takes_out);

/* Like patch_rules_have(), for rules about the file with the base name @module. */
bool patch_rules_are_about(const struct patch_rules *rules, const char *module, bool is_program,
			   bool takes_out);

/*
 * A change that can be undone by patch_rules_undo(), or confirmed by patch_rules_keep().
 *
 * @before: the rules before the change
 * @nr_new: number of new rules, the last ones of the present rules
 */
struct patch_rules_change {
	struct patch_rule *before;
	size_t nr_before;
	size_t nr_new;
};

/*
 * Add the rules of @more, which is empty afterwards. A rule that the user repeats while the program
 * runs replaces the earlier one with the same text. So the number of rules stays small after many
 * switches. 0 or -ENOMEM; after a failure nothing has changed.
 */
int patch_rules_add(struct patch_rules *rules, struct patch_rules *more,
		    struct patch_rules_change *change);
void patch_rules_undo(struct patch_rules *rules, struct patch_rules_change *change);
void patch_rules_keep(struct patch_rules *rules, struct patch_rules_change *change);

#endif
