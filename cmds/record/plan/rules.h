/* Triggers as the rules of a plan: the parts for the probe, each kept once. */
#ifndef UTRAIL_CMDS_RECORD_PLAN_RULES_H
#define UTRAIL_CMDS_RECORD_PLAN_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/probe/plan.h"
#include "utils/spec/trigger.h"

/*
 * Functions with the same triggers share a rule. Starts with @rules and @conds, to which new ones
 * are appended, and ends with rule_set_deinit().
 *
 * @has_llvm_strings: captures_llvm_strings() of the module that the functions are of
 * @has_texts, @nr_texts: arguments are texts (CAPTURE_TEXT), as many as the function has
 * @slots: open addressing, hold index + 1
 */
struct rule_set {
	struct strbuf *rules; /* struct plan_rule */
	struct strbuf *conds; /* struct plan_cond, and what they compare with */
	bool has_llvm_strings;
	bool has_texts;
	uint32_t nr_texts;
	uint32_t *slots;
	size_t nr_slots; /* a power of two, or 0 */
};

void rule_set_deinit(struct rule_set *set);

/*
 * Returns the index of the rule for @trigger. PLAN_NO_RULE when the trigger is for readers only, or
 * memory is short.
 */
uint32_t rule_set_add(struct rule_set *set, const struct trigger *trigger);

#endif
