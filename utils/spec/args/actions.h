/* The words of actions in specs such as `f@filter,depth=2`. */
#ifndef UTRAIL_UTILS_SPEC_ACTIONS_H
#define UTRAIL_UTILS_SPEC_ACTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The actions as bits (doc/facts/language.md, "Actions"). */
enum trigger_flags {
	TRIGGER_FILTER = 1U << 0,
	TRIGGER_NOTRACE = 1U << 1,
	TRIGGER_DEPTH = 1U << 2,
	TRIGGER_TIME = 1U << 3,
	TRIGGER_SIZE = 1U << 4,
	TRIGGER_CALLER = 1U << 5,
	TRIGGER_HIDE = 1U << 6,
	TRIGGER_TRACE = 1U << 7,
	TRIGGER_TRACE_ON = 1U << 8,
	TRIGGER_TRACE_OFF = 1U << 9,
	TRIGGER_FINISH = 1U << 10,
	TRIGGER_CALLSITE = 1U << 11,
	TRIGGER_READ = 1U << 12,
	TRIGGER_COLOR = 1U << 13,
	TRIGGER_BACKTRACE = 1U << 14,
	TRIGGER_RECOVER = 1U << 15,
	TRIGGER_AUTO_ARGS = 1U << 16,
	TRIGGER_ARG = 1U << 17,	   /* argN, fpargN: listed in spec.args (utils/spec/trigger.h) */
	TRIGGER_RETVAL = 1U << 18, /* retval: listed in spec.args */
	TRIGGER_IF = 1U << 19,
	TRIGGER_CLEAR = 1U << 20,    /* remove actions that earlier specs gave */
	TRIGGER_LOCATION = 1U << 21, /* -L: functions of a matching file, without their callees */
	TRIGGER_LOCATION_OUT = 1U << 22, /* -L with `!`: leave out functions of a matching file */
};

#define TRIGGER_LOCATIONS (TRIGGER_LOCATION | TRIGGER_LOCATION_OUT)

/*
 * The kind of an action's value, WORD=VALUE. A value of the kind ACTION_NAMES is optional. A value
 * of another kind is required.
 */
enum action_value {
	ACTION_PLAIN, /* the action has no value */
	ACTION_DEPTH,
	ACTION_TIME,
	ACTION_SIZE,
	ACTION_READ,
	ACTION_COLOR,
	ACTION_NAMES, /* names of actions, as in `clear=depth+time` */
};

/*
 * A word for an action. Some actions have alternative words, such as `trace_on` and `traceon`.
 *
 * @flag: one bit of enum trigger_flags
 */
struct action {
	const char *word;
	uint32_t flag;
	enum action_value value;
};

static inline bool action_needs_value(const struct action *action)
{
	return action->value != ACTION_PLAIN && action->value != ACTION_NAMES;
}

/*
 * All actions that are one word, with or without a value. The last element has no word. Arguments,
 * return values and conditions (`if:`) are not in the table.
 */
extern const struct action actions[];

/*
 * Returns the action whose word is the @len bytes at @word, or NULL. Upper case and lower case are
 * not distinguished.
 */
const struct action *action_find(const char *word, size_t len);

/* A name that `clear=` accepts. @flags: the actions that are removed (enum trigger_flags) */
struct action_group {
	const char *name;
	uint32_t flags;
};

/* All names that `clear=` accepts. The last element has no name. */
extern const struct action_group action_groups[];

/*
 * Returns the actions of the group whose name is the @len bytes at @name, or 0. Upper case and
 * lower case are not distinguished.
 */
uint32_t action_group_flags(const char *name, size_t len);

/*
 * True when @item, an item of a spec, is an action with or without a value, or a condition. For
 * items about arguments and return values, use argspec_is_item().
 */
bool action_is_item(const char *item);

#endif
