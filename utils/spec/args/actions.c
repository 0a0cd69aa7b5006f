/* The words that name actions in specs (see actions.h). */
#include "utils/spec/args/actions.h"

#include <string.h>
#include <strings.h>

#include "utils/spec/regex/list.h"

const struct action actions[] = {
	{ "filter", TRIGGER_FILTER, ACTION_PLAIN },
	{ "notrace", TRIGGER_NOTRACE, ACTION_PLAIN },
	{ "depth", TRIGGER_DEPTH, ACTION_DEPTH },
	{ "time", TRIGGER_TIME, ACTION_TIME },
	{ "size", TRIGGER_SIZE, ACTION_SIZE },
	{ "caller", TRIGGER_CALLER, ACTION_PLAIN },
	{ "hide", TRIGGER_HIDE, ACTION_PLAIN },
	{ "trace", TRIGGER_TRACE, ACTION_PLAIN },
	{ "trace_on", TRIGGER_TRACE_ON, ACTION_PLAIN },
	{ "trace-on", TRIGGER_TRACE_ON, ACTION_PLAIN },
	{ "traceon", TRIGGER_TRACE_ON, ACTION_PLAIN },
	{ "trace_off", TRIGGER_TRACE_OFF, ACTION_PLAIN },
	{ "trace-off", TRIGGER_TRACE_OFF, ACTION_PLAIN },
	{ "traceoff", TRIGGER_TRACE_OFF, ACTION_PLAIN },
	{ "finish", TRIGGER_FINISH, ACTION_PLAIN },
	{ "callsite", TRIGGER_CALLSITE, ACTION_PLAIN },
	{ "read", TRIGGER_READ, ACTION_READ },
	{ "color", TRIGGER_COLOR, ACTION_COLOR },
	{ "backtrace", TRIGGER_BACKTRACE, ACTION_PLAIN },
	{ "recover", TRIGGER_RECOVER, ACTION_PLAIN },
	{ "auto-args", TRIGGER_AUTO_ARGS, ACTION_PLAIN },
	{ "clear", TRIGGER_CLEAR, ACTION_NAMES },
	{ NULL },
};

const struct action_group action_groups[] = {
	{ "arg", TRIGGER_ARG },
	{ "fparg", TRIGGER_ARG },
	{ "retval", TRIGGER_RETVAL },
	{ "filter", TRIGGER_FILTER },
	{ "notrace", TRIGGER_NOTRACE },
	{ "depth", TRIGGER_DEPTH },
	{ "time", TRIGGER_TIME },
	{ "size", TRIGGER_SIZE },
	{ "caller", TRIGGER_CALLER },
	{ "hide", TRIGGER_HIDE },
	{ "trace", TRIGGER_TRACE | TRIGGER_TRACE_ON | TRIGGER_TRACE_OFF },
	{ "finish", TRIGGER_FINISH },
	{ "callsite", TRIGGER_CALLSITE },
	{ "read", TRIGGER_READ },
	{ "color", TRIGGER_COLOR },
	{ "backtrace", TRIGGER_BACKTRACE },
	{ "recover", TRIGGER_RECOVER },
	{ "if", TRIGGER_IF },
	{ NULL },
};

static bool is_word(const char *word, const char *text, size_t len)
{
	return strlen(word) == len && strncasecmp(word, text, len) == 0;
}

const struct action *action_find(const char *word, size_t len)
{
	for (const struct action *action = actions; action->word; action++) {
		if (is_word(action->word, word, len))
			return action;
	}
	return NULL;
}

uint32_t action_group_flags(const char *name, size_t len)
{
	for (const struct action_group *group = action_groups; group->name; group++) {
		if (is_word(group->name, name, len))
			return group->flags;
	}
	return 0;
}

bool action_is_item(const char *item)
{
	return spec_begins_with(item, "if:") || action_find(item, strcspn(item, "="));
}
