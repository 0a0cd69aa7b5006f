/* The language of --patch and --unpatch (see patches.h). */
#include "utils/spec/patches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/spec/regex/list.h"

static int parse_one(struct patch_rules *out, enum pattern_match match, const char *text,
		     const char *at, size_t len, struct uft_err *err)
{
	struct patch_rule *rules = vec_grow(out->rules, out->nr, sizeof(*rules));
	struct patch_rule *rule;
	struct uft_err why = { 0 };

	if (!rules)
		return err_set_errno(err, -ENOMEM, "cannot read '%s'", text);
	out->rules = rules;
	rule = &rules[out->nr];
	*rule = (struct patch_rule){ .takes_out = *at == '!' };
	if (rule->takes_out) {
		at++;
		len--;
	}

	/* A function's name may contain '@', so the module begins after the last '@'. */
	const char *module = memrchr(at, '@', len);
	size_t name_len = module ? (size_t)(module - at) : len;

	if (!name_len)
		return err_set(err, -ERR_USAGE, "'%s': column %zu: expected the name of a function",
			       text, at - text + 1);
	if (module && module + 1 == at + len)
		return err_set(err, -ERR_USAGE, "'%s': column %zu: expected the name of a file",
			       text, module - text + 2);

	int ret = pattern_init(&rule->name, match, at, name_len, &why);

	if (ret < 0)
		return err_set(err, ret, "'%s': column %zu: %s", text, at - text + 1, why.text);
	out->nr++;
	rule->text = strndup(at, len);
	rule->module = module ? strndup(module + 1, at + len - module - 1) : NULL;
	if (!rule->text || (module && !rule->module))
		return err_set_errno(err, -ENOMEM, "cannot read '%s'", text);
	return 0;
}

int patch_rules_parse(const char *text, enum pattern_match match, struct patch_rules *out,
		      struct uft_err *err)
{
	struct patch_rules rules = { 0 };
	int ret = 0;

	for (struct spec_piece one = { 0 }; ret == 0 && spec_list_next(text, &one);)
		ret = parse_one(&rules, match, text, one.at, one.len, err);
	rules.nr_first = rules.nr;
	if (ret < 0)
		patch_rules_deinit(&rules);
	else
		*out = rules;
	return ret;
}

static void deinit_rule(struct patch_rule *rule)
{
	pattern_deinit(&rule->name);
	free(rule->module);
	free(rule->text);
	free(rule->why_not);
}

void patch_rules_deinit(struct patch_rules *rules)
{
	for (size_t i = 0; i < rules->nr; i++)
		deinit_rule(&rules->rules[i]);
	free(rules->rules);
	*rules = (struct patch_rules){ 0 };
}

static bool is_of_module(const struct patch_rule *rule, const char *module, bool is_program)
{
	return rule->module ? strncmp(module, rule->module, strlen(rule->module)) == 0 : is_program;
}

/*
 * If a function has no name, patterns are compared with the text "?". So a pattern that matches
 * every name also matches functions without a name.
 */
#define NAMELESS "?"

static bool matches_patch_rule(const struct patch_rule *rule, const struct patch_subject *subject)
{
	const char *name = subject->name ? subject->name : NAMELESS;

	return is_of_module(rule, subject->module, subject->is_program) &&
	       pattern_matches_any(&rule->name, name, strlen(name), subject->others);
}

enum patch_choice patch_rules_choose(struct patch_rules *rules, const struct patch_subject *subject)
{
	enum patch_choice choice = PATCH_UNSAID;

	for (size_t i = 0; i < rules->nr; i++) {
		struct patch_rule *rule = &rules->rules[i];

		if (!matches_patch_rule(rule, subject))
			continue;
		rule->has_name = true;
		rule->has_match |= subject->can_be || (subject->has_hook && !rule->takes_out);
		if (!rule->why_not && subject->why_not)
			rule->why_not = strdup(subject->why_not);
		choice = rule->takes_out ? PATCH_OUT : PATCH_IN;
	}
	return choice;
}

bool patch_rules_match(const struct patch_rules *rules, const struct patch_subject *subject)
{
	for (size_t i = 0; i < rules->nr; i++) {
		if (matches_patch_rule(&rules->rules[i], subject))
			return true;
	}
	return false;
}

enum patch_choice patch_rules_choose_since(const struct patch_rules *rules,
					   const struct patch_subject *subject, unsigned generation)
{
	enum patch_choice choice = PATCH_UNSAID;

	for (size_t i = 0; i < rules->nr; i++) {
		const struct patch_rule *rule = &rules->rules[i];

		if (rule->generation > generation && matches_patch_rule(rule, subject))
			choice = rule->takes_out ? PATCH_OUT : PATCH_IN;
	}
	return choice;
}

bool patch_rules_have(const struct patch_rules *rules, bool takes_out)
{
	for (size_t i = 0; i < rules->nr_first; i++) {
		if (rules->rules[i].takes_out == takes_out)
			return true;
	}
	return false;
}

bool patch_rules_are_about(const struct patch_rules *rules, const char *module, bool is_program,
			   bool takes_out)
{
	for (size_t i = 0; i < rules->nr; i++) {
		if (rules->rules[i].takes_out == takes_out &&
		    is_of_module(&rules->rules[i], module, is_program))
			return true;
	}
	return false;
}

/* --- changes --- */

/*
 * True when one of the @nr rules in @new has the same text and the same kind of pattern as @former.
 */
static bool is_said_anew(const struct patch_rule *former, const struct patch_rule *new, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (new[i].name.match == former->name.match &&
		    strcmp(new[i].text, former->text) == 0)
			return true;
	}
	return false;
}

/* True when @change has replaced the rule @index of change->before. */
static bool is_replaced(const struct patch_rules *rules, const struct patch_rules_change *change,
			size_t index)
{
	return index >= rules->nr_first &&
	       is_said_anew(&change->before[index], &rules->rules[rules->nr - change->nr_new],
			    change->nr_new);
}

int patch_rules_add(struct patch_rules *rules, struct patch_rules *more,
		    struct patch_rules_change *change)
{
	size_t nr = rules->nr + more->nr;
	struct patch_rule *both = calloc(nr + 1, sizeof(*both));
	size_t kept = 0;

	if (!both)
		return -ENOMEM;
	*change = (struct patch_rules_change){ rules->rules, rules->nr, more->nr };
	for (size_t i = 0; i < rules->nr; i++) {
		if (i < rules->nr_first || !is_said_anew(&rules->rules[i], more->rules, more->nr))
			both[kept++] = rules->rules[i];
	}
	rules->generation++;
	for (size_t i = 0; i < more->nr; i++) {
		both[kept] = more->rules[i];
		both[kept++].generation = rules->generation;
	}
	free(more->rules);
	*more = (struct patch_rules){ 0 };
	rules->rules = both;
	rules->nr = kept;
	return 0;
}

void patch_rules_undo(struct patch_rules *rules, struct patch_rules_change *change)
{
	size_t kept = 0;

	/*
	 * A rule that @change has not replaced is in change->before and in rules->rules. The copy
	 * in rules->rules has newer values of has_name, has_match and why_not, so keep this copy.
	 */
	for (size_t i = 0; i < change->nr_before; i++) {
		if (!is_replaced(rules, change, i))
			change->before[i] = rules->rules[kept++];
	}
	while (kept < rules->nr)
		deinit_rule(&rules->rules[kept++]);
	free(rules->rules);
	rules->rules = change->before;
	rules->nr = change->nr_before;
	rules->generation++;
}

void patch_rules_keep(struct patch_rules *rules, struct patch_rules_change *change)
{
	for (size_t i = 0; i < change->nr_before; i++) {
		if (is_replaced(rules, change, i))
			deinit_rule(&change->before[i]);
	}
	free(change->before);
}
