/* Values of calls of Python functions: which of them are recorded. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_NAMES_CALLABLE_VALUES_H
#define UTRAIL_CMDS_RECORD_PLAN_NAMES_CALLABLE_VALUES_H

#include "cmds/record/plan/names/callables.h"
#include "utils/format/callables.h"

/*
 * Choose what is recorded of calls of @c, as the user has asked: @c->values, @c->told. The program
 * for it goes to the empty @steps. False: nothing is.
 */
bool callable_values_choose(const struct capture_settings *settings, struct callable *c,
			    struct strbuf *steps);

/*
 * Specifications of all arguments of functions, by their number. Those of the first ones are in
 * front: "arg1/s,arg2/s". callable_items_of() returns those of @nr; each is there until the next
 * call with another struct.
 */
#define CALLABLE_ITEM_BYTES sizeof("arg36/s,")

struct callable_items {
	char texts[CALLABLE_ARGS_MAX + 1][CALLABLE_ARGS_MAX * CALLABLE_ITEM_BYTES];
};

const char *callable_items_of(struct callable_items *items, uint32_t nr);

#endif
