/* Chooses which values of calls of Python functions are recorded. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_NAMES_CALLABLE_VALUES_H
#define UTRAIL_CMDS_RECORD_PLAN_NAMES_CALLABLE_VALUES_H

#include "cmds/record/plan/names/callables.h"
#include "utils/format/callables.h"

/*
 * Choose the values to record of calls of @c by the user's rules: set @c->values and @c->told, and
 * put the capture program into the empty @steps. Returns false when no value is recorded.
 */
bool callable_values_choose(const struct capture_settings *settings, struct callable *c,
			    struct strbuf *steps);

/*
 * Texts that specify the first @nr arguments: "arg1/s,arg2/s". callable_items_of() returns such a
 * text, which is valid while @items is.
 */
#define CALLABLE_ITEM_BYTES sizeof("arg36/s,")

struct callable_items {
	char texts[CALLABLE_ARGS_MAX + 1][CALLABLE_ARGS_MAX * CALLABLE_ITEM_BYTES];
};

const char *callable_items_of(struct callable_items *items, uint32_t nr);

#endif
