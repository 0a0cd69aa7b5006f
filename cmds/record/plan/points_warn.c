/* Warns about events of the program (see points.h). */
#include "cmds/record/plan/points.h"

#include <string.h>

#include "utils/base/containers/nearest.h"

static bool is_matched(const struct points *points, const struct event_rule *rule)
{
	strbuf_list_each (&points->names, name) {
		if (event_rule_matches(rule, EVENT_OF_PROGRAM, name))
			return true;
	}
	return false;
}

/*
 * True when the program has events of the rule's provider. The text of the rule is "PROVIDER:NAME".
 */
static bool has_provider(const struct points *points, const struct event_rule *rule)
{
	size_t len = strcspn(rule->text, ":");

	strbuf_list_each (&points->names, name) {
		if (strncmp(name, rule->text, len) == 0 && name[len] == ':')
			return true;
	}
	return false;
}

static void warn_about_rule(const struct points *points, const struct event_rule *rule,
			    const struct msg *msg)
{
	struct strbuf words cleanup_strbuf = { 0 };
	struct nearest near;

	nearest_init(&near, rule->text);
	strbuf_list_each (&points->names, name)
		nearest_offer(&near, name);
	if (nearest_is_close(&near))
		nearest_text(&near, "", &words);
	if (!words.len && strchr(rule->text, ':') && !has_provider(points, rule))
		msg_warn(msg,
			 "option '--Event': the program has no event '%s' (--list-event shows "
			 "those that it has); one of the kernel's is '%s@kernel'",
			 rule->text, rule->text);
	else
		msg_warn(msg, "option '--Event': the program has no event '%s'%s%s", rule->text,
			 words.len ? "; the nearest: " : " (--list-event shows those that it has)",
			 strbuf_str(&words));
}

void points_warn(const struct points *points, unsigned long long nr_failed, bool has_processes,
		 const struct msg *msg)
{
	strbuf_list_each (&points->complaints, complaint)
		msg_warn(msg, "%s", complaint);
	msg_warn_nr(msg, nr_failed,
		    "{function or probe|functions or probes} of the program could not be patched: "
		    "no memory near its code, the code is not that of the file, or a thread stayed "
		    "in it");
	if (points->error)
		msg_warn(msg, "cannot write 'events.txt': %s", strerror(-points->error));
	/*
	 * If no process has reported itself, no rule could match. Warnings about rules would
	 * mislead the user.
	 */
	if (!has_processes)
		return;
	for (size_t i = 0; points->rules && i < points->rules->nr; i++) {
		const struct event_rule *rule = &points->rules->rules[i];

		if (rule->origin == EVENT_OF_PROGRAM && !event_rule_linux(rule) &&
		    !is_matched(points, rule))
			warn_about_rule(points, rule, msg);
	}
}
