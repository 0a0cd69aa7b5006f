/* Rules of --patch and --unpatch. A rule inserts hooks into functions, or removes hooks. */
#ifndef UTRAIL_SPEC_PATCHES_H
#define UTRAIL_SPEC_PATCHES_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"
#include "utils/spec/regex/pattern.h"

/*
 * @module: beginning of the base name of the function's file, on the heap; NULL: the program itself
 * @takes_out: the rule removes hooks: it begins with `!`, or is from --unpatch
 * @is_unpatch: the rule is from --unpatch
 * @text: as typed, without `!`, on the heap
 * @generation: value of patch_rules.generation after the rule was added; 0: a rule of the command
 *         line
 * @has_name: at least one function has matched the rule
 * @has_match: at least one matching function can be patched, or already has the hook that the rule
 *         inserts
 * @why_not: the first reason for which a matching function cannot be patched; on the heap, or NULL
 */
struct patch_rule {
	struct pattern name;
	char *module;
	bool takes_out;
	bool is_unpatch;
	char *text;
	unsigned generation;
	bool has_name;
	bool has_match;
	char *why_not;
};

/*
 * The rules of the command line in their order, then rules that the user has added while the
 * program runs. Starts as { 0 } and ends with patch_rules_deinit().
 *
 * @nr_first: number of rules of the command line
 * @generation: grows with each change
 */
struct patch_rules {
	struct patch_rule *rules;
	size_t nr;
	size_t nr_first;
	unsigned generation;
};

/*
 * Parse rules "[!]FUNC[@MODULE]", separated by ';' (doc/facts/language.md, "Patches"). @match
 * tells how FUNC is read. Returns 0, -ENOMEM, or -ERR_USAGE with the column and the error.
 */
int patch_rules_parse(const char *text, enum pattern_match match, struct patch_rules *out,
		      struct uft_err *err);
void patch_rules_deinit(struct patch_rules *rules);

/*
 * A function.
 *
 * @name: demangled; NULL: the function has no symbol
 * @others: other names (demangle_others()), or NULL
 * @module: base name of the file that contains the function
 * @can_be: the function can be patched
 * @has_hook: the function has a hook already
 * @why_not: the reason why the function cannot be patched, or NULL. Rules keep a copy of the text
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

/*
 * Returns the choice of the last matching rule. Updates has_name, has_match and why_not of every
 * matching rule.
 */
enum patch_choice patch_rules_choose(struct patch_rules *rules,
				     const struct patch_subject *subject);

/* True when a rule matches the function. Unlike patch_rules_choose(), changes no rule. */
bool patch_rules_match(const struct patch_rules *rules, const struct patch_subject *subject);

/*
 * Looks only at rules that were added after @generation. Returns the choice of the last of these
 * rules that matches @subject. Changes no rule.
 */
enum patch_choice patch_rules_choose_since(const struct patch_rules *rules,
					   const struct patch_subject *subject,
					   unsigned generation);

/* True when a rule of the command line has the given @takes_out (struct patch_rule). */
bool patch_rules_have(const struct patch_rules *rules, bool takes_out);

/*
 * True when a rule with the given @takes_out applies to the file with the base name @module. The
 * rule may be from the command line, or from a later change.
 */
bool patch_rules_are_about(const struct patch_rules *rules, const char *module, bool is_program,
			   bool takes_out);

/*
 * A change that patch_rules_undo() undoes, or patch_rules_keep() confirms.
 *
 * @before: the rules before the change
 * @nr_new: number of new rules, which are now the last ones
 */
struct patch_rules_change {
	struct patch_rule *before;
	size_t nr_before;
	size_t nr_new;
};

/*
 * Add the rules of @more, which is empty afterwards. Returns 0, or -ENOMEM without any change.
 *
 * A new rule replaces an earlier rule with the same text and kind of pattern. Rules of the command
 * line are not replaced. The list therefore stays short when a user switches hooks many times.
 */
int patch_rules_add(struct patch_rules *rules, struct patch_rules *more,
		    struct patch_rules_change *change);
void patch_rules_undo(struct patch_rules *rules, struct patch_rules_change *change);
void patch_rules_keep(struct patch_rules *rules, struct patch_rules_change *change);

#endif
