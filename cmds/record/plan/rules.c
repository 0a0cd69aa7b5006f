/* Makes the rules of a plan from triggers (see rules.h). */
#include "cmds/record/plan/rules.h"

#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/spec/regex/regex_plan.h"

_Static_assert((int)READ_STATM == PLAN_READ_STATM && (int)READ_PAGE_FAULT == PLAN_READ_PAGE_FAULT &&
		       (int)READ_PMU_CYCLE == PLAN_READ_PMU_CYCLE &&
		       (int)READ_PMU_CACHE == PLAN_READ_PMU_CACHE &&
		       (int)READ_PMU_BRANCH == PLAN_READ_PMU_BRANCH &&
		       (int)READ_COUNTER == PLAN_READ_COUNTER && COUNTERS_MAX == PLAN_COUNTERS_MAX,
	       "what is to be read is the same for the user and for the probe");
_Static_assert((int)COND_EQ == PLAN_EQ && (int)COND_NE == PLAN_NE && (int)COND_GT == PLAN_GT &&
		       (int)COND_GE == PLAN_GE && (int)COND_LT == PLAN_LT &&
		       (int)COND_LE == PLAN_LE && (int)COND_AND == PLAN_AND,
	       "and so are the operators");

void rule_set_deinit(struct rule_set *set)
{
	free(set->slots);
}

static size_t nr_rules(const struct rule_set *set)
{
	return set->rules->len / sizeof(struct plan_rule);
}

static const struct plan_rule *rule_at(const struct rule_set *set, size_t index)
{
	return (const struct plan_rule *)set->rules->data + index;
}

/* Returns the FNV-1a hash of the 64-bit words of a rule. struct plan_rule has no padding. */
static size_t hash_rule(const struct plan_rule *rule)
{
	const uint64_t *words = (const uint64_t *)rule;
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < sizeof(*rule) / sizeof(*words); i++)
		hash = (hash ^ words[i]) * 0x100000001b3ULL;
	return hash ^ hash >> 32;
}

static void put_slot(struct rule_set *set, size_t index)
{
	size_t at = hash_rule(rule_at(set, index));

	while (set->slots[at & (set->nr_slots - 1)])
		at++;
	set->slots[at & (set->nr_slots - 1)] = index + 1;
}

static bool grow_slots(struct rule_set *set)
{
	size_t nr = set->nr_slots ? set->nr_slots * 2 : 64;
	uint32_t *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	free(set->slots);
	set->slots = slots;
	set->nr_slots = nr;
	for (size_t i = 0; i < nr_rules(set); i++)
		put_slot(set, i);
	return true;
}

/* Find @rule, or add it. Returns its index, or PLAN_NO_RULE when memory is short. */
static uint32_t rule_index(struct rule_set *set, const struct plan_rule *rule)
{
	if (2 * (nr_rules(set) + 1) > set->nr_slots && !grow_slots(set))
		return PLAN_NO_RULE;
	for (size_t at = hash_rule(rule);; at++) {
		uint32_t index = set->slots[at & (set->nr_slots - 1)];

		if (!index)
			break;
		if (memcmp(rule_at(set, index - 1), rule, sizeof(*rule)) == 0)
			return index - 1;
	}
	strbuf_add(set->rules, rule, sizeof(*rule));
	if (strbuf_oom(set->rules))
		return PLAN_NO_RULE;
	put_slot(set, nr_rules(set) - 1);
	return nr_rules(set) - 1;
}

static const struct {
	uint32_t trigger;
	uint32_t rule;
} rule_flags[] = {
	{ TRIGGER_FILTER, PLAN_FILTER },
	{ TRIGGER_NOTRACE, PLAN_NOTRACE },
	{ TRIGGER_DEPTH, PLAN_DEPTH },
	{ TRIGGER_TIME, PLAN_TIME },
	{ TRIGGER_SIZE, PLAN_SIZE },
	{ TRIGGER_CALLER, PLAN_CALLER },
	{ TRIGGER_TRACE, PLAN_TRACE },
	{ TRIGGER_TRACE_ON, PLAN_TRACE_ON },
	{ TRIGGER_TRACE_OFF, PLAN_TRACE_OFF_AT },
	{ TRIGGER_FINISH, PLAN_FINISH },
	{ TRIGGER_CALLSITE, PLAN_CALLSITE },
	{ TRIGGER_RECOVER, PLAN_RECOVER },
	{ TRIGGER_READ, PLAN_READ },
	{ TRIGGER_LOCATION, PLAN_LOCATION },
	{ TRIGGER_LOCATION_OUT, PLAN_LOCATION_OUT },
};

/*
 * Append the text of the comparison @term to @data, because struct plan_cond has no room for a
 * text. out->value gets the offset of the text in @data.
 */
static void put_text(const struct cond_term *term, struct plan_cond *out, struct strbuf *data)
{
	static const char zeros[sizeof(struct plan_cond)];
	const char *text = term->text.text;
	struct automaton automaton;

	out->value = data->len;
	if (term->op == COND_MATCH) {
		/* regex_plan() succeeds: the parser of options has already checked @text. */
		out->kind = PLAN_COND_AUTOMATON;
		regex_plan(text, &automaton, NULL);
		strbuf_add(data, &automaton, sizeof(automaton));
		return;
	}
	out->kind = term->op == COND_PREFIX ? PLAN_COND_PREFIX : PLAN_COND_TEXT;
	/*
	 * Cut the text to UINT8_MAX bytes. All strings that the probe compares are shorter than
	 * UINT8_MAX bytes, so the cut does not change the result of a comparison.
	 */
	out->len = MIN(strlen(text), (size_t)UINT8_MAX);
	strbuf_add(data, text, out->len);
	strbuf_add(data, zeros, -data->len % sizeof(zeros));
}

/*
 * Adapt @out to Python: the probe captures all arguments of a Python function as texts. Index 0
 * stands for a missing argument. An fpargN is always missing in Python.
 */
static void compare_text(const struct rule_set *set, const struct cond_term *term,
			 struct plan_cond *out)
{
	bool is_there = term->subject != COND_FPARG && term->index <= set->nr_texts;

	out->index = is_there ? term->index : 0;
	out->string = CAPTURE_TEXT;
	if (term->type != COND_STRING)
		out->kind = term->type == COND_FLOAT ? PLAN_COND_REAL : PLAN_COND_NUMBER;
}

static struct plan_cond make_cond(const struct rule_set *set, const struct cond_term *term,
				  struct strbuf *data)
{
	struct plan_cond out = {
		.kind = PLAN_COND_INT,
		.index = term->index,
		.bytes = term->bytes,
		.is_signed = term->is_signed,
		.compare = term->op,
		.starts_alternative = term->starts_alternative,
		.value = term->number,
	};

	if (term->type == COND_FLOAT) {
		out.kind = PLAN_COND_FLOAT;
		memcpy(&out.value, &term->real, sizeof(out.value));
	} else if (term->type == COND_STRING) {
		out.string = !term->is_object	     ? CAPTURE_STRING
			     : set->has_llvm_strings ? CAPTURE_STD_STRING_LLVM
						     : CAPTURE_STD_STRING;
		put_text(term, &out, data);
	}
	if (set->has_texts)
		compare_text(set, term, &out);
	return out;
}

/*
 * Appends the conditions of @cond to set->conds, unless set->conds already ends with equal
 * conditions. In this way, functions with the same spec share conditions.
 */
static void add_conds(struct rule_set *set, const struct cond *cond, struct plan_rule *rule)
{
	struct strbuf terms cleanup_strbuf = { 0 };
	struct strbuf data cleanup_strbuf = { 0 };
	struct strbuf *all = set->conds;

	for (size_t i = 0; i < cond->nr; i++) {
		struct plan_cond out = make_cond(set, &cond->terms[i], &data);

		strbuf_add(&terms, &out, sizeof(out));
	}
	strbuf_add(&terms, data.data, data.len);
	if (all->len < terms.len ||
	    memcmp(all->data + all->len - terms.len, terms.data, terms.len) != 0)
		strbuf_add(all, terms.data, terms.len);
	rule->flags |= PLAN_COND;
	rule->nr_conds = cond->nr;
	rule->cond = (all->len - terms.len) / sizeof(struct plan_cond);
}

uint32_t rule_set_add(struct rule_set *set, const struct trigger *trigger)
{
	struct plan_rule rule = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rule_flags); i++) {
		if (trigger->flags & rule_flags[i].trigger)
			rule.flags |= rule_flags[i].rule;
	}
	if (rule.flags & PLAN_DEPTH)
		rule.depth = trigger->depth;
	if (rule.flags & PLAN_TIME)
		rule.time_ns = trigger->time_ns;
	if (rule.flags & PLAN_SIZE)
		rule.size = MIN(trigger->size, (uint64_t)UINT32_MAX);
	if (rule.flags & PLAN_READ)
		rule.read = trigger->read;
	if ((trigger->flags & TRIGGER_IF) && (rule.flags & (PLAN_FILTER | PLAN_NOTRACE)))
		add_conds(set, trigger->cond, &rule);
	return rule.flags ? rule_index(set, &rule) : PLAN_NO_RULE;
}

void rule_set_note_opted_in(struct rule_set *set, struct filters *filters,
			    const struct filter_subject *subject)
{
	const struct trigger opts_in = { .flags = TRIGGER_FILTER };
	struct filter_walk walk;
	const struct filter_entry *entry;

	filter_walk_begin(&walk, filters, subject);
	while ((entry = filter_walk_next(&walk))) {
		if (entry->spec.trigger.flags & TRIGGER_FILTER) {
			rule_set_add(set, &opts_in);
			return;
		}
	}
}
