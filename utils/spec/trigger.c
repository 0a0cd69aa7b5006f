/* The language of filters and triggers (see trigger.h). */
#include "utils/spec/trigger.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/nearest.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/units.h"
#include "utils/spec/regex/list.h"

#define DEPTH_MAX 1024

static const struct {
	const char *name;
	uint32_t bit;
} reads[] = {
	{ "proc/statm", READ_STATM },	   { "page-fault", READ_PAGE_FAULT },
	{ "pmu-cycle", READ_PMU_CYCLE },   { "pmu-cache", READ_PMU_CACHE },
	{ "pmu-branch", READ_PMU_BRANCH },
};

static const struct {
	const char *name;
	enum color color;
} colors[] = {
	{ "red", COLOR_RED },	    { "green", COLOR_GREEN },	  { "blue", COLOR_BLUE },
	{ "yellow", COLOR_YELLOW }, { "magenta", COLOR_MAGENTA }, { "cyan", COLOR_CYAN },
	{ "bold", COLOR_BOLD },	    { "gray", COLOR_GRAY },
};

/*
 * Returns the actions that a spec of the option may name. uftrace ignores other actions, and so
 * does utrail.
 */
static uint32_t accepted_flags(enum spec_option option)
{
	switch (option) {
	case SPEC_FILTER:
		return TRIGGER_FILTER | TRIGGER_NOTRACE | TRIGGER_DEPTH | TRIGGER_TIME |
		       TRIGGER_SIZE | TRIGGER_CALLER | TRIGGER_HIDE | TRIGGER_CLEAR | TRIGGER_IF;
	case SPEC_TRIGGER:
		return ~(uint32_t)TRIGGER_LOCATIONS;
	case SPEC_CALLER:
		return TRIGGER_CLEAR;
	case SPEC_ARGUMENT:
		return TRIGGER_ARG | TRIGGER_CLEAR;
	case SPEC_RETVAL:
		return TRIGGER_RETVAL | TRIGGER_CLEAR;
	case SPEC_LOCATION:
		return TRIGGER_HIDE;
	case SPEC_HIDE:
	case SPEC_OPTIONS:
		break;
	}
	return 0;
}

/* The text of one spec; @at: index of the first character that is not parsed yet. */
struct parse {
	enum spec_option option;
	const char *text;
	size_t len;
	size_t at;
	struct spec *spec;
	struct strbuf args;
	struct uft_err *err;
};

static int refuse_trigger(struct parse *p, size_t at, const char *what)
{
	return err_set(p->err, -ERR_USAGE, "'%.*s': column %zu: %s", (int)p->len, p->text, at + 1,
		       what);
}

static int wrong_word(struct parse *p, size_t at, const char *kind, const struct nearest *near)
{
	struct strbuf text cleanup_strbuf = { 0 };

	strbuf_addf(&text, "there is no %s '%s'; did you mean ", kind, near->typed);
	nearest_text(near, "", &text);
	strbuf_addch(&text, '?');
	return refuse_trigger(p, at, strbuf_str(&text));
}

static int out_of_memory(struct parse *p)
{
	return err_set_errno(p->err, -ENOMEM, "cannot read '%.*s'", (int)p->len, p->text);
}

/* Report the error @why from another parser, for example parse_time(). */
static int wrong_value(struct parse *p, size_t at, const struct uft_err *why)
{
	return why->code == -ENOMEM ? out_of_memory(p) : refuse_trigger(p, at, why->text);
}

static int set_depth(struct parse *p, const char *value, size_t at)
{
	char *end;
	unsigned long depth = strtoul(value, &end, 10);

	if (!isdigit((unsigned char)value[0]) || *end || depth > DEPTH_MAX)
		return refuse_trigger(p, at, "expected a depth of 0 to 1024");
	p->spec->trigger.depth = depth;
	return 0;
}

static int add_counter(struct parse *p, const struct counter *counter, size_t at)
{
	if (counters_add(&p->spec->counters, counter) < 0)
		return refuse_trigger(p, at, COUNTERS_TOO_MANY);
	return 0;
}

static int set_read(struct parse *p, const char *value, size_t at)
{
	struct counter counter;
	struct nearest near;

	nearest_init(&near, value);
	for (size_t i = 0; i < ARRAY_SIZE(reads); i++) {
		if (strcasecmp(value, reads[i].name) == 0) {
			p->spec->trigger.read |= reads[i].bit;
			return 0;
		}
		nearest_offer(&near, reads[i].name);
	}
	if (counter_parse(value, &counter))
		return add_counter(p, &counter, at);
	counters_offer(&near);
	return wrong_word(p, at, "event", &near);
}

static int set_color(struct parse *p, const char *value, size_t at)
{
	struct nearest near;

	nearest_init(&near, value);
	for (size_t i = 0; i < ARRAY_SIZE(colors); i++) {
		if (strcasecmp(value, colors[i].name) == 0) {
			p->spec->trigger.color = colors[i].color;
			return 0;
		}
		nearest_offer(&near, colors[i].name);
	}
	return wrong_word(p, at, "color", &near);
}

static int set_value(struct parse *p, enum action_value kind, const char *value, size_t at)
{
	struct trigger *trigger = &p->spec->trigger;
	struct uft_err why = { 0 };

	switch (kind) {
	case ACTION_DEPTH:
		return set_depth(p, value, at);
	case ACTION_TIME:
		return parse_time(value, &trigger->time_ns, &why) < 0 ? wrong_value(p, at, &why)
								      : 0;
	case ACTION_SIZE:
		return parse_size(value, &trigger->size, &why) < 0 ? wrong_value(p, at, &why) : 0;
	case ACTION_READ:
		return set_read(p, value, at);
	case ACTION_COLOR:
		return set_color(p, value, at);
	case ACTION_PLAIN:
	case ACTION_NAMES:
		break;
	}
	return 0;
}

/*
 * True when the option accepts the action @flag. Otherwise, @name is stored in spec->ignored,
 * unless spec->ignored already has the name of an earlier action.
 */
static bool accepts(struct parse *p, uint32_t flag, const char *name)
{
	bool is_accepted = accepted_flags(p->option) & flag;

	if (!is_accepted && !p->spec->ignored)
		p->spec->ignored = name;
	return is_accepted;
}

/* Add an action. If two actions exclude each other, the later one counts. */
static void add_flag(struct trigger *trigger, uint32_t flag)
{
	static const uint32_t opposites[][2] = {
		{ TRIGGER_FILTER, TRIGGER_NOTRACE },
		{ TRIGGER_TRACE_ON, TRIGGER_TRACE_OFF },
		{ TRIGGER_LOCATION, TRIGGER_LOCATION_OUT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(opposites); i++) {
		if (flag == opposites[i][0] || flag == opposites[i][1])
			trigger->flags &= ~(opposites[i][0] | opposites[i][1]);
	}
	trigger->flags |= flag;
}

/*
 * Parse the action `clear`. @names: the text "a+b" of `clear=a+b`, which the function
 * changes; NULL: `clear` has no names, and removes all actions
 */
static int parse_clear(struct parse *p, char *names, size_t at)
{
	uint32_t cleared = names ? 0 : ~0U;

	for (char *name = names; name;) {
		char *plus = strchr(name, '+');
		struct nearest near;
		uint32_t flags;

		if (plus)
			*plus = '\0';
		flags = action_group_flags(name, strlen(name));
		if (!flags) {
			nearest_init(&near, name);
			for (size_t i = 0; action_groups[i].name; i++)
				nearest_offer(&near, action_groups[i].name);
			return wrong_word(p, at + (name - names), "action", &near);
		}
		cleared |= flags;
		name = plus ? plus + 1 : NULL;
	}
	if (accepts(p, TRIGGER_CLEAR, "clear")) {
		p->spec->trigger.flags |= TRIGGER_CLEAR;
		p->spec->cleared |= cleared;
	}
	return 0;
}

/*
 * Parse an action whose word begins at offset @at.
 *
 * @value: the text after the "=", which the function may change; NULL: there is no "="
 * @value_at: the offset at which @value begins
 */
static int parse_action(struct parse *p, const struct action *action, char *value, size_t at,
			size_t value_at)
{
	struct strbuf text cleanup_strbuf = { 0 };

	if (action->value == ACTION_NAMES)
		return parse_clear(p, value, value_at);
	if (action->value == ACTION_PLAIN && value) {
		strbuf_addf(&text, "action '%s' takes no value", action->word);
		return refuse_trigger(p, value_at - 1, strbuf_str(&text));
	}
	if (action_needs_value(action) && !value) {
		strbuf_addf(&text, "action '%s' needs a value: '%s=...'", action->word,
			    action->word);
		return refuse_trigger(p, at, strbuf_str(&text));
	}

	int ret = set_value(p, action->value, value, value_at);

	if (ret < 0)
		return ret;
	if (accepts(p, action->flag, action->word))
		add_flag(&p->spec->trigger, action->flag);
	return 0;
}

/*
 * Returns the flag of an item about an argument or return value (utils/spec/args/argspec.h), or 0
 * for any other item.
 */
static uint32_t args_flag(const char *item)
{
	if (spec_begins_with(item, "arg") && isdigit((unsigned char)item[3]))
		return TRIGGER_ARG;
	if (spec_begins_with(item, "fparg") && isdigit((unsigned char)item[5]))
		return TRIGGER_ARG;
	if (spec_begins_with(item, "retval") && (!item[6] || strchr("/%", item[6])))
		return TRIGGER_RETVAL;
	return 0;
}

static int parse_args(struct parse *p, const char *item, uint32_t flag)
{
	if (!accepts(p, flag, flag == TRIGGER_ARG ? "arg" : "retval"))
		return 0;
	if (p->args.len)
		strbuf_addch(&p->args, ',');
	strbuf_addstr(&p->args, item);
	p->spec->trigger.flags |= flag;
	return 0;
}

static int parse_if(struct parse *p, const char *text, size_t at)
{
	struct uft_err why = { 0 };
	size_t wrong_at = 0;
	struct cond cond;

	if (cond_parse(text, strlen(text), &cond, &wrong_at, &why) < 0)
		return wrong_value(p, at + wrong_at, &why);
	cond_deinit(&p->spec->cond);
	p->spec->cond = cond;
	if (accepts(p, TRIGGER_IF, "if:"))
		p->spec->trigger.flags |= TRIGGER_IF;
	return 0;
}

static int parse_module(struct parse *p, const char *item, size_t at)
{
	struct spec *spec = p->spec;

	if (spec->module_kind != MODULE_ANY)
		return refuse_trigger(p, at, "there can be only one module");
	if (strcasecmp(item, "plt") == 0) {
		spec->module_kind = MODULE_PLT;
	} else if (strcmp(item, "kernel") == 0 || strcmp(item, "k") == 0) {
		spec->module_kind = MODULE_KERNEL;
	} else {
		spec->module_kind = MODULE_NAMED;
		spec->module = strdup(item);
		if (!spec->module)
			return out_of_memory(p);
	}
	return 0;
}

static int unknown_action(struct parse *p, const char *word, size_t at)
{
	struct nearest near;

	nearest_init(&near, word);
	for (const struct action *action = actions; action->word; action++)
		nearest_offer(&near, action->word);
	return wrong_word(p, at, "action", &near);
}

/*
 * Parse the item that begins at offset @at. @item is a copy of this item. The function may change
 * the copy.
 */
static int parse_item(struct parse *p, char *item, size_t at)
{
	uint32_t args = args_flag(item);

	if (!*item)
		return refuse_trigger(p, at, "expected an action or a module");
	if (spec_begins_with(item, "if:"))
		return parse_if(p, item + 3, at + 3);
	if (args)
		return parse_args(p, item, args);

	char *value = strchr(item, '=');

	if (value)
		*value++ = '\0';

	size_t value_at = value ? at + (value - item) : at;
	const struct action *action = action_find(item, strlen(item));

	if (action)
		return parse_action(p, action, value, at, value_at);
	return value ? unknown_action(p, item, at) : parse_module(p, item, at);
}

static int parse_items(struct parse *p)
{
	while (p->at <= p->len) {
		size_t len = spec_item_length(p->text + p->at, p->len - p->at);
		char *item cleanup_free = strndup(p->text + p->at, len);

		if (!item)
			return out_of_memory(p);

		int ret = parse_item(p, item, p->at);

		if (ret < 0)
			return ret;
		p->at += len + 1;
	}
	return 0;
}

static uint32_t implied_flag(enum spec_option option, bool is_negated)
{
	switch (option) {
	case SPEC_FILTER:
		return is_negated ? TRIGGER_NOTRACE : TRIGGER_FILTER;
	case SPEC_CALLER:
		return TRIGGER_CALLER;
	case SPEC_HIDE:
		return TRIGGER_HIDE;
	case SPEC_LOCATION:
		return is_negated ? TRIGGER_LOCATION_OUT : TRIGGER_LOCATION;
	default:
		return 0;
	}
}

/* Returns the actions that a spec of the option can clear. */
static uint32_t cleared_flags(enum spec_option option)
{
	switch (option) {
	case SPEC_FILTER:
		return TRIGGER_FILTER | TRIGGER_NOTRACE;
	case SPEC_CALLER:
		return TRIGGER_CALLER;
	/* -A and -R clear only actions that record values (argrules.c). */
	case SPEC_ARGUMENT:
	case SPEC_RETVAL:
		return TRIGGER_ARG | TRIGGER_RETVAL | TRIGGER_AUTO_ARGS;
	default:
		return ~0U;
	}
}

/*
 * Add the action that the option implies: -F f implies filter. With the item `clear`
 * (-F f@clear), add no action.
 */
static void apply_option(struct parse *p, bool is_negated)
{
	struct trigger *trigger = &p->spec->trigger;

	if (trigger->flags & TRIGGER_CLEAR) {
		p->spec->cleared &= cleared_flags(p->option);
		if (!p->spec->cleared && !p->spec->ignored)
			p->spec->ignored = "clear";
		return;
	}
	if (p->option == SPEC_LOCATION && (trigger->flags & TRIGGER_HIDE)) {
		trigger->flags &= ~(uint32_t)TRIGGER_HIDE;
		is_negated = true;
	}
	for (uint32_t flags = implied_flag(p->option, is_negated); flags; flags &= flags - 1)
		add_flag(trigger, flags & -flags);
	if ((p->option == SPEC_ARGUMENT || p->option == SPEC_RETVAL) && !p->args.len)
		trigger->flags |= TRIGGER_AUTO_ARGS;
}

/*
 * If a location is a regular expression without '*', '^' and '$', it matches whole components of a
 * path: "lib" matches "src/lib/a.c", not "src/library.c" (doc/facts/language.md, "Source
 * locations").
 */
static int location_pattern(struct parse *p, enum pattern_match match, const char *name, size_t len)
{
	struct strbuf regex cleanup_strbuf = { 0 };

	if (match != MATCH_REGEX || memchr(name, '*', len) || memchr(name, '^', len) ||
	    memchr(name, '$', len))
		return pattern_init(&p->spec->pattern, match, name, len, p->err);
	strbuf_addstr(&regex, "^((.*/)*)");
	for (size_t i = 0; i < len; i++) {
		if (name[i] == '.' || name[i] == '+')
			strbuf_addch(&regex, '\\');
		strbuf_addch(&regex, name[i]);
	}
	strbuf_addstr(&regex, "($|(/.*))");
	if (strbuf_oom(&regex))
		return out_of_memory(p);
	return pattern_init(&p->spec->pattern, match, regex.data, regex.len, p->err);
}

static int parse_name(struct parse *p, enum pattern_match match, bool *is_negated)
{
	const char *name = p->text;
	const char *end = memchr(p->text, '@', p->len);
	size_t len = end ? (size_t)(end - name) : p->len;
	bool takes_not = p->option == SPEC_FILTER || p->option == SPEC_LOCATION;

	*is_negated = takes_not && len && name[0] == '!';
	if (*is_negated) {
		name++;
		len--;
	}
	if (len == 0)
		return refuse_trigger(p, name - p->text, "expected the name of a function");
	p->at = end ? (size_t)(end + 1 - p->text) : p->len + 1;

	struct uft_err *err = p->err;
	struct uft_err why = { 0 };

	p->err = &why;

	int ret = p->option == SPEC_LOCATION
			  ? location_pattern(p, match, name, len)
			  : pattern_init(&p->spec->pattern, match, name, len, &why);

	p->err = err;
	return ret < 0 ? wrong_value(p, name - p->text, &why) : 0;
}

int spec_parse(enum spec_option option, enum pattern_match match, const char *text, size_t len,
	       struct spec *spec, struct uft_err *err)
{
	struct parse p = { option, text, len, .spec = spec, .err = err };
	bool is_negated;

	*spec = (struct spec){ 0 };
	spec->text = strndup(text, len);

	int ret = spec->text ? parse_name(&p, match, &is_negated) : out_of_memory(&p);

	if (ret == 0)
		ret = parse_items(&p);
	if (ret == 0 && strbuf_oom(&p.args))
		ret = out_of_memory(&p);
	if (ret == 0) {
		apply_option(&p, is_negated);
		spec->args = p.args.data;
		return 0;
	}
	strbuf_deinit(&p.args);
	spec_deinit(spec);
	return ret;
}

void spec_deinit(struct spec *spec)
{
	pattern_deinit(&spec->pattern);
	cond_deinit(&spec->cond);
	free(spec->text);
	free(spec->module);
	free(spec->args);
	*spec = (struct spec){ 0 };
}
