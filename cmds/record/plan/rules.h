/* Makes the rules of a plan from triggers: the parts for the probe, each rule once. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_RULES_H
#define UTRAIL_CMDS_RECORD_PLAN_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/plan.h"
#include "utils/spec/filters.h"
#include "utils/spec/trigger.h"

/*
 * Rules of a plan; functions with the same triggers share one. @rules and @conds are set by the
 * caller.
 *
 * @has_llvm_strings: captures_llvm_strings() of the functions' module
 * @has_texts: arguments are texts (CAPTURE_TEXT)
 * @nr_texts: the number of arguments that the function has
 * @slots: a hash table with open addressing, of index + 1
 */
struct rule_set {
	struct strbuf *rules; /* a list of struct plan_rule */
	struct strbuf *conds; /* a list of struct plan_cond, and the texts that they compare with */
	bool has_llvm_strings;
	bool has_texts;
	uint32_t nr_texts;
	uint32_t *slots;
	size_t nr_slots; /* a power of two, or 0 */
};

void rule_set_deinit(struct rule_set *set);

/*
 * Returns the index of the rule for @trigger, or PLAN_NO_RULE when the trigger is for readers only,
 * or memory is short.
 */
uint32_t rule_set_add(struct rule_set *set, const struct trigger *trigger);

/*
 * If @filters opt in a function first and take it out later, add a rule that no function has. With
 * this rule the plan opts in: nothing is recorded if no other function is opted in.
 */
void rule_set_note_opted_in(struct rule_set *set, struct filters *filters,
			    const struct filter_subject *subject);

#endif
