/* The --Event language: rules that choose events by their names. */
#ifndef UTRAIL_SPEC_EVENTS_H
#define UTRAIL_SPEC_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"
#include "utils/spec/regex/pattern.h"

enum event_origin {
	EVENT_OF_PROGRAM, /* a static probe (SDT), or an event of the recorder (linux:...) */
	EVENT_OF_KERNEL,  /* a tracepoint of the kernel */
};

/*
 * @name: pattern for "provider:event"
 * @text: as typed, without the separators; on the heap
 */
struct event_rule {
	struct pattern name;
	enum event_origin origin;
	char *text;
};

/*
 * The events that the user has chosen: those that a rule matches. Starts as { 0 } and ends with
 * event_rules_deinit().
 */
struct event_rules {
	struct event_rule *rules;
	size_t nr;
};

/*
 * Parse items "NAME[@kernel]", separated by ';' (doc/facts/language.md, "Events"). @match tells
 * how NAME is read. Returns 0, -ENOMEM with @err, or -ERR_USAGE with @err. For -ERR_USAGE, @err
 * gives the column of the error in @text, and the reason.
 */
int event_rules_parse(const char *text, enum pattern_match match, struct event_rules *out,
		      struct uft_err *err);
void event_rules_deinit(struct event_rules *rules);

/* True when @rule matches the event @name, "provider:event", of @origin. */
bool event_rule_matches(const struct event_rule *rule, enum event_origin origin, const char *name);

/* True when the event is to be recorded: a rule matches the event. */
bool event_rules_match(const struct event_rules *rules, enum event_origin origin, const char *name);

/*
 * True when the event is shown: a rule matches the event's name and origin. A rule with "@kernel"
 * matches only events of the kernel. A rule without "@kernel" matches events of the program and of
 * the kernel.
 */
bool event_rules_show(const struct event_rules *rules, enum event_origin origin, const char *name);

/* Events "linux:..." that the kernel reports about each task, as bits. */
enum event_linux {
	EVENT_LINUX_TASKS = 1U << 0, /* task-new, task-exit */
	EVENT_LINUX_NAMES = 1U << 1, /* task-name */
	EVENT_LINUX_SCHED = 1U << 2, /* sched-in, sched-out, schedule (both) */
};

/* Returns the bits of the events that @rule, or any of @rules, chooses. */
unsigned event_rule_linux(const struct event_rule *rule);
unsigned event_rules_linux(const struct event_rules *rules);

bool event_rules_want(const struct event_rules *rules, enum event_origin origin);

#endif
