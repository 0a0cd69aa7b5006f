/* The --Event language: the chosen events, by name. */
#ifndef UTRAIL_SPEC_EVENTS_H
#define UTRAIL_SPEC_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/err.h"
#include "utils/spec/regex/pattern.h"

/* The origin of an event. */
enum event_origin {
	/* A static probe of the program (SDT), or one that the recorder implements (linux:...) */
	EVENT_OF_PROGRAM,
	EVENT_OF_KERNEL, /* a tracepoint of the kernel */
};

/*
 * One item of the list.
 *
 * @name: pattern for "provider:event"
 * @origin: EVENT_OF_KERNEL when "@kernel" follows the name
 * @text: as typed, on the heap
 */
struct event_rule {
	struct pattern name;
	enum event_origin origin;
	char *text;
};

/*
 * The user's choice; without any rule, no event is chosen. Starts as { 0 }, ends with
 * event_rules_deinit().
 */
struct event_rules {
	struct event_rule *rules;
	size_t nr;
};

/*
 * "NAME[@kernel]" separated by ';' (doc/facts/language.md, "Events"); @match tells how NAME is
 * read, as with names of functions. -ERR_USAGE with the column and the error, -ENOMEM.
 */
int event_rules_parse(const char *text, enum pattern_match match, struct event_rules *out,
		      struct uft_err *err);
void event_rules_deinit(struct event_rules *rules);

/* True when @rule means the event "provider:event" of @origin. */
bool event_rule_matches(const struct event_rule *rule, enum event_origin origin, const char *name);

/* True when any rule matches: such events are recorded. */
bool event_rules_match(const struct event_rules *rules, enum event_origin origin, const char *name);

/*
 * True when the name matches, independent of the event's origin: such events are shown. A rule with
 * "@kernel" shows events of the kernel only.
 */
bool event_rules_show(const struct event_rules *rules, enum event_origin origin, const char *name);

/* The kernel's events about each task, as bits: "linux:...". */
enum event_linux {
	EVENT_LINUX_TASKS = 1U << 0, /* task-new, task-exit */
	EVENT_LINUX_NAMES = 1U << 1, /* task-name */
	EVENT_LINUX_SCHED = 1U << 2, /* sched-in, sched-out, or schedule for both */
};

/* Returns the bits of enum event_linux for @rule, or for all of @rules. */
unsigned event_rule_linux(const struct event_rule *rule);
unsigned event_rules_linux(const struct event_rules *rules);

/* True when any rule is about @origin. */
bool event_rules_want(const struct event_rules *rules, enum event_origin origin);

#endif
