/*
 * Makes the rules of a plan from triggers. A rule consists of those parts of a trigger that the
 * probe needs. Equal rules are made only once.
 */
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
 * The rules of a plan. Functions with equal triggers share a rule. The caller sets @rules and
 * @conds.
 *
 * @has_llvm_strings: the functions' module uses the std::string of LLVM's library
 *                    (captures_llvm_strings())
 * @has_texts: the set is for one function without an address, such as a function of Python. The
 *             probe captures all arguments of this function as texts (CAPTURE_TEXT)
 * @nr_texts: if @has_texts is set: the number of arguments that conditions can read
 * @slots: a hash table with open addressing. An entry is an index in @rules plus 1
 */
struct rule_set {
	struct strbuf *rules; /* a list of struct plan_rule */
	/* lists of struct plan_cond. After each list come the texts and automata for comparisons */
	struct strbuf *conds;
	bool has_llvm_strings;
	bool has_texts;
	uint32_t nr_texts;
	uint32_t *slots;
	size_t nr_slots; /* a power of two, or 0 */
};

void rule_set_deinit(struct rule_set *set);

/*
 * Returns the index of the rule for @trigger. Returns PLAN_NO_RULE when the trigger is only for
 * readers, or when memory is short.
 */
uint32_t rule_set_add(struct rule_set *set, const struct trigger *trigger);

/*
 * Call this function when the specs in @filters, taken together, opt out the function @subject. If
 * one of these specs, taken alone, would opt in @subject, a rule with PLAN_FILTER is added. No
 * function uses this rule. The rule only shows that a filter opts in a function.
 */
void rule_set_note_opted_in(struct rule_set *set, struct filters *filters,
			    const struct filter_subject *subject);

#endif
