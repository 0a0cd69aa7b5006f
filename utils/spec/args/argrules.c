/* Rules about arguments and return values of functions (see argrules.h). */
#include "utils/spec/args/argrules.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "utils/base/containers/vec.h"
#include "utils/spec/args/actions.h"
#include "utils/spec/regex/list.h"

static void argrule_deinit(struct argrule *rule)
{
	pattern_deinit(&rule->pattern);
	argspecs_deinit(&rule->items);
	free(rule->module);
	free(rule->text);
}

void argrules_deinit(struct argrules *rules)
{
	for (size_t i = 0; i < rules->nr; i++)
		argrule_deinit(&rules->rules[i]);
	free(rules->rules);
	*rules = (struct argrules){ 0 };
}

static bool is_wanted(const struct argrules_source *source, const struct argspec *spec)
{
	return source->about & (spec->kind == ARG_KIND_RETVAL ? ARGRULES_RETVAL : ARGRULES_ARGS);
}

static int add_argument(struct argrule *rule, const char *item,
			const struct argrules_source *source, struct uft_err *err)
{
	struct argspec spec;
	int ret = argspec_parse(item, strlen(item), source->word_bytes, &spec, err);

	if (ret < 0)
		return ret;
	rule->is_auto &= source->is_trigger;
	if (!is_wanted(source, &spec)) {
		argspec_deinit(&spec);
		return 0;
	}
	spec.is_exact = rule->pattern.match == MATCH_SIMPLE;
	if (argspecs_add(&rule->items, &spec) < 0)
		return err_set_errno(err, -ENOMEM, "cannot read arguments");
	return 0;
}

/*
 * If @item is "clear" or, for example, "clear=arg+time+retval", returns the subjects that @item
 * clears (enum argrules_about). Otherwise returns 0.
 */
static uint8_t cleared_by(const char *item)
{
	uint8_t clears = 0;

	if (strncasecmp(item, "clear", 5) != 0 || (item[5] && item[5] != '='))
		return 0;
	if (!item[5])
		return ARGRULES_BOTH;
	for (const char *at = item + 6; *at; at += at[0] == '+') {
		size_t len = strcspn(at, "+");
		uint32_t flags = action_group_flags(at, len);

		clears |= flags & TRIGGER_ARG ? ARGRULES_ARGS : 0;
		clears |= flags & TRIGGER_RETVAL ? ARGRULES_RETVAL : 0;
		at += len;
	}
	return clears;
}

static int add_item(struct argrule *rule, const char *item, const struct argrules_source *source,
		    struct uft_err *err)
{
	if (argspec_is_item(item, strlen(item)))
		return add_argument(rule, item, source, err);
	if (strcasecmp(item, "auto-args") == 0) {
		rule->is_auto |= source->is_trigger;
		return 0;
	}
	rule->clears |= cleared_by(item);
	if (action_is_item(item))
		return 0;
	/*
	 * An item that is no action, argument or return value is the name of a module
	 * (doc/facts/language.md, "Specifications"). But an item such as "arg" or "argx" is
	 * probably a wrong argument. add_argument() reports the error.
	 */
	if (spec_begins_with(item, "arg") || spec_begins_with(item, "fparg") ||
	    spec_begins_with(item, "retval"))
		return add_argument(rule, item, source, err);
	if (rule->module)
		return err_set(err, -EINVAL, "'%s': there is a module already: '%s'", item,
			       rule->module);
	rule->module = strdup(item);
	return rule->module ? 0 : err_set_errno(err, -ENOMEM, "cannot read arguments");
}

/* Take the next item from *@items, which becomes NULL after the last one. */
static char *next_item(char **items)
{
	char *item = *items;

	if (!item)
		return NULL;

	char *end = item + spec_item_length(item, SIZE_MAX);

	*items = *end ? end + 1 : NULL;
	*end = '\0';
	return item;
}

static int fill_rule(struct argrule *rule, char *text, const struct argrules_source *source,
		     struct uft_err *err)
{
	char *items = text;
	char *name = strsep(&items, "@");
	int ret = pattern_init(&rule->pattern, source->match, name, strlen(name), err);

	rule->is_auto = !source->is_trigger;
	rule->about = source->about;
	for (char *item; ret == 0 && (item = next_item(&items));)
		ret = *item ? add_item(rule, item, source, err) : 0;
	return ret;
}

static int add_rule(struct argrules *rules, const char *text, const struct argrules_source *source,
		    struct uft_err *err)
{
	char *copy cleanup_free = strdup(text);
	struct argrule *all = vec_grow(rules->rules, rules->nr, sizeof(*all));
	struct argrule rule = { .text = strdup(text) };

	if (all)
		rules->rules = all;
	if (!copy || !all || !rule.text) {
		argrule_deinit(&rule);
		return err_set_errno(err, -ENOMEM, "cannot read '%s'", text);
	}

	struct uft_err why = { 0 };
	int ret = fill_rule(&rule, copy, source, &why);

	if (ret < 0) {
		argrule_deinit(&rule);
		return err_set(err, ret, "'%s': %s", text, why.text);
	}
	rules->rules[rules->nr++] = rule;
	return 0;
}

int argrules_parse(struct argrules *rules, const char *text, const struct argrules_source *source,
		   struct uft_err *err)
{
	struct spec_piece piece = { 0 };
	int ret = 0;

	while (ret == 0 && spec_list_next(text, &piece)) {
		char *one cleanup_free = strndup(piece.at, piece.len);

		if (!one)
			return err_set_errno(err, -ENOMEM, "cannot read arguments");
		if (*one != '!')
			ret = add_rule(rules, one, source, source->is_lenient ? NULL : err);
		if (source->is_lenient && (ret == -EINVAL || ret == -ERR_USAGE))
			ret = 0;
	}
	return ret;
}

static bool is_about(const struct argrule *rule, const struct argrules_subject *subject)
{
	const char *module = rule->module;

	if (module && strcasecmp(module, "PLT") == 0) {
		if (!subject->is_plt)
			return false;
	} else if (module && strncmp(subject->module, module, strlen(module)) != 0) {
		return false;
	}
	return pattern_matches_any(&rule->pattern, subject->name, strlen(subject->name),
				   subject->others);
}

int argrules_collect(const struct argrules *rules, const struct argrules_subject *subject,
		     struct argspecs *args, struct argspecs *retval)
{
	int wants_auto = 0;

	for (size_t i = 0; i < rules->nr; i++) {
		const struct argrule *rule = &rules->rules[i];

		if (!is_about(rule, subject))
			continue;
		if (rule->clears & ARGRULES_ARGS)
			argspecs_deinit(args);
		if (rule->clears & ARGRULES_RETVAL)
			argspecs_deinit(retval);
		wants_auto &= ~rule->clears;
		if (rule->is_auto)
			wants_auto |= rule->about;
		for (size_t k = 0; k < rule->items.nr; k++) {
			const struct argspec *spec = &rule->items.specs[k];
			struct argspecs *to = spec->kind == ARG_KIND_RETVAL ? retval : args;
			int ret = argspecs_add_copy(to, spec);

			if (ret < 0)
				return ret;
		}
	}
	return wants_auto;
}
