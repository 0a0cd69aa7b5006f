/* The --Event language (see events.h). */
#include "utils/spec/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "utils/base/containers/vec.h"
#include "utils/spec/regex/list.h"

static bool is_kernel(const char *suffix, size_t len)
{
	return (len == 1 && (*suffix | 0x20) == 'k') ||
	       (len == strlen("kernel") && strncasecmp(suffix, "kernel", len) == 0);
}

static int parse_one(struct event_rules *out, enum pattern_match match, const char *text,
		     const char *at, size_t len, struct uft_err *err)
{
	struct event_rule *rules = vec_grow(out->rules, out->nr, sizeof(*rules));
	struct event_rule rule = { .origin = EVENT_OF_PROGRAM };
	/* An event's name may contain '@'. So only the last '@' can begin the suffix "@kernel". */
	const char *suffix = memrchr(at, '@', len);
	size_t name_len = suffix ? (size_t)(suffix - at) : len;

	if (!rules)
		return err_set_errno(err, -ENOMEM, "cannot read '%s'", text);
	out->rules = rules;
	if (suffix && !is_kernel(suffix + 1, at + len - suffix - 1))
		return err_set(err, -ERR_USAGE,
			       "'%s': column %zu: expected nothing or 'kernel' after '@'", text,
			       suffix - text + 2);
	if (!name_len)
		return err_set(err, -ERR_USAGE, "'%s': column %zu: expected PROVIDER:EVENT", text,
			       at - text + 1);
	if (suffix)
		rule.origin = EVENT_OF_KERNEL;

	struct uft_err why = { 0 };
	int ret = pattern_init(&rule.name, match, at, name_len, &why);

	if (ret < 0)
		return err_set(err, ret, "'%s': column %zu: %s", text, at - text + 1, why.text);
	rule.text = strndup(at, len);
	rules[out->nr++] = rule;
	return rule.text ? 0 : err_set_errno(err, -ENOMEM, "cannot read '%s'", text);
}

int event_rules_parse(const char *text, enum pattern_match match, struct event_rules *out,
		      struct uft_err *err)
{
	struct event_rules rules = { 0 };
	int ret = 0;

	for (struct spec_piece one = { 0 }; ret == 0 && spec_list_next(text, &one);)
		ret = parse_one(&rules, match, text, one.at, one.len, err);
	if (ret < 0)
		event_rules_deinit(&rules);
	else
		*out = rules;
	return ret;
}

void event_rules_deinit(struct event_rules *rules)
{
	for (size_t i = 0; i < rules->nr; i++) {
		pattern_deinit(&rules->rules[i].name);
		free(rules->rules[i].text);
	}
	free(rules->rules);
	*rules = (struct event_rules){ 0 };
}

bool event_rule_matches(const struct event_rule *rule, enum event_origin origin, const char *name)
{
	return rule->origin == origin && pattern_matches(&rule->name, name, strlen(name));
}

bool event_rules_match(const struct event_rules *rules, enum event_origin origin, const char *name)
{
	for (size_t i = 0; i < rules->nr; i++) {
		if (event_rule_matches(&rules->rules[i], origin, name))
			return true;
	}
	return false;
}

bool event_rules_show(const struct event_rules *rules, enum event_origin origin, const char *name)
{
	return event_rules_match(rules, origin, name) ||
	       (origin == EVENT_OF_KERNEL && event_rules_match(rules, EVENT_OF_PROGRAM, name));
}

bool event_rules_want(const struct event_rules *rules, enum event_origin origin)
{
	for (size_t i = 0; i < rules->nr; i++) {
		if (rules->rules[i].origin == origin)
			return true;
	}
	return false;
}

unsigned event_rule_linux(const struct event_rule *rule)
{
	static const struct {
		const char *name;
		enum event_linux bit;
	} events[] = {
		{ "linux:task-new", EVENT_LINUX_TASKS },  { "linux:task-exit", EVENT_LINUX_TASKS },
		{ "linux:task-name", EVENT_LINUX_NAMES }, { "linux:sched-in", EVENT_LINUX_SCHED },
		{ "linux:sched-out", EVENT_LINUX_SCHED }, { "linux:schedule", EVENT_LINUX_SCHED },
	};
	unsigned bits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		if (event_rule_matches(rule, EVENT_OF_PROGRAM, events[i].name))
			bits |= events[i].bit;
	}
	return bits;
}

unsigned event_rules_linux(const struct event_rules *rules)
{
	unsigned bits = 0;

	for (size_t i = 0; i < rules->nr; i++)
		bits |= event_rule_linux(&rules->rules[i]);
	return bits;
}
