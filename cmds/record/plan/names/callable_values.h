/* Chooses the values that are recorded at calls of Python functions. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_NAMES_CALLABLE_VALUES_H
#define UTRAIL_CMDS_RECORD_PLAN_NAMES_CALLABLE_VALUES_H

#include "cmds/record/plan/names/callables.h"
#include "utils/format/callables.h"

/*
 * Choose the values to record at calls of @c, by the user's rules. Sets @c->values and @c->told,
 * and writes the capture program to the empty @steps. Returns false when no value is recorded.
 */
bool callable_values_choose(const struct capture_settings *settings, struct callable *c,
			    struct strbuf *steps);

/*
 * callable_items_of() returns a text that specifies the first @nr arguments, such as
 * "arg1/s,arg2/s". The text is part of @items.
 */
#define CALLABLE_ITEM_BYTES sizeof("arg36/s,")

struct callable_items {
	char texts[CALLABLE_ARGS_MAX + 1][CALLABLE_ARGS_MAX * CALLABLE_ITEM_BYTES];
};

const char *callable_items_of(struct callable_items *items, uint32_t nr);

#endif
