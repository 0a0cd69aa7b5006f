/* All filters and triggers of a command line (see filters.h). */
#include "utils/spec/filters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/spec/clearing.h"
#include "utils/spec/regex/list.h"
#include "utils/spec/regex/regex_plan.h"

/*
 * Give bits to the counters that the spec reads. A counter of an earlier spec has its bit already.
 */
static int add_counters(struct filters *filters, struct spec *spec, struct uft_err *err)
{
	if (!(spec->trigger.flags & TRIGGER_READ))
		return 0;
	for (size_t i = 0; i < spec->counters.nr; i++) {
		int index = counters_add(&filters->counters, &spec->counters.list[i]);

		if (index < 0)
			return err_set(err, -ERR_USAGE, "'%s': %s", spec->text, COUNTERS_TOO_MANY);
		spec->trigger.read |= (uint32_t)READ_COUNTER << index;
	}
	return 0;
}

static int add_one(struct filters *filters, enum spec_option option, enum pattern_match match,
		   const char *text, size_t len, struct uft_err *err)
{
	struct filter_entry *entries = vec_grow(filters->entries, filters->nr, sizeof(*entries));

	if (!entries)
		return err_set_errno(err, -ENOMEM, "cannot read the filters");
	filters->entries = entries;

	struct filter_entry *entry = &entries[filters->nr];

	*entry = (struct filter_entry){ .option = option };

	int ret = spec_parse(option, match, text, len, &entry->spec, err);

	if (ret < 0)
		return ret;
	filters->nr++;
	filters->clears |= (entry->spec.trigger.flags & TRIGGER_CLEAR) != 0;
	return add_counters(filters, &entry->spec, err);
}

int filters_add(struct filters *filters, enum spec_option option, enum pattern_match match,
		const char *text, struct uft_err *err)
{
	for (struct spec_piece one = { 0 }; spec_list_next(text, &one);) {
		int ret = add_one(filters, option, match, one.at, one.len, err);

		if (ret < 0)
			return ret;
	}
	return 0;
}

static bool is_exact(const struct spec *spec)
{
	return spec->pattern.match == MATCH_SIMPLE && !spec->pattern.is_scope &&
	       !(spec->trigger.flags & TRIGGER_LOCATIONS);
}

static int prepare_filters(struct filters *filters)
{
	if (!filters->nr)
		return 0;
	filters->next = calloc(filters->nr, sizeof(*filters->next));
	filters->patterns = calloc(filters->nr, sizeof(*filters->patterns));
	if (!filters->next || !filters->patterns)
		return -ENOMEM;

	/*
	 * Each entry is put at the front of its chain. Go from the last entry to the first, so that
	 * the indices of a chain ascend.
	 */
	for (size_t i = filters->nr; i-- > 0;) {
		const struct spec *spec = &filters->entries[i].spec;

		if (!is_exact(spec))
			continue;

		uintptr_t head = (uintptr_t)strmap_get(&filters->exact, spec->pattern.text);

		filters->next[i] = head;
		if (strmap_put(&filters->exact, spec->pattern.text, (void *)(i + 1)) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < filters->nr; i++) {
		if (!is_exact(&filters->entries[i].spec))
			filters->patterns[filters->nr_patterns++] = i;
	}
	return 0;
}

int filters_prepare(struct filters *filters, struct uft_err *err)
{
	if (prepare_filters(filters) < 0)
		return err_set_errno(err, -ENOMEM, "cannot read the filters");
	return 0;
}

void filters_deinit(struct filters *filters)
{
	for (size_t i = 0; i < filters->nr; i++)
		spec_deinit(&filters->entries[i].spec);
	free(filters->entries);
	free(filters->next);
	free(filters->patterns);
	strmap_deinit(&filters->exact);
	*filters = (struct filters){ 0 };
}

static bool is_in_module(const struct spec *spec, const struct filter_subject *subject)
{
	switch (spec->module_kind) {
	case MODULE_ANY:
		return !subject->is_kernel;
	case MODULE_NAMED:
		return subject->module &&
		       strncmp(subject->module, spec->module, strlen(spec->module)) == 0;
	case MODULE_PLT:
		return subject->is_plt && subject->is_program;
	case MODULE_KERNEL:
		return subject->is_kernel;
	}
	return false;
}

static bool matches_spec(const struct spec *spec, const struct filter_subject *subject)
{
	if (!is_in_module(spec, subject))
		return false;
	if (!(spec->trigger.flags & TRIGGER_LOCATIONS))
		return pattern_matches_any(&spec->pattern, subject->name, subject->name_len,
					   subject->others);
	return subject->source_file &&
	       pattern_matches(&spec->pattern, subject->source_file, strlen(subject->source_file));
}

/*
 * Returns the actions that clearing_left() finds in all specs, except specs about functions of the
 * kernel.
 */
static uint32_t actions_left(const struct filters *filters)
{
	uint32_t flags = 0;

	for (size_t i = 0; i < filters->nr; i++) {
		const struct filter_entry *entry = &filters->entries[i];

		if (entry->spec.module_kind != MODULE_KERNEL)
			flags |= clearing_left(filters, entry);
	}
	return flags;
}

uint32_t filters_opt_in(const struct filters *filters)
{
	return actions_left(filters) & FILTERS_OPT_IN;
}

bool filters_renew_depth(const struct filters *filters)
{
	return actions_left(filters) & (TRIGGER_FILTER | TRIGGER_DEPTH);
}

bool filters_have_conditions(const struct filters *filters)
{
	for (size_t i = 0; i < filters->nr; i++) {
		if (filters->entries[i].spec.trigger.flags & TRIGGER_IF)
			return true;
	}
	return false;
}

/* Add to @walk the chain of the entries that filters->exact has for @name. */
static void add_exact(struct filter_walk *walk, const char *name)
{
	uintptr_t head = (uintptr_t)strmap_get(&walk->filters->exact, name);

	if (head && walk->nr_exact < FILTER_NAMES_MAX)
		walk->exact[walk->nr_exact++] = head;
}

void filter_walk_begin(struct filter_walk *walk, struct filters *filters,
		       const struct filter_subject *subject)
{
	*walk = (struct filter_walk){ filters, subject };
	if (!filters->exact.nr)
		return;
	add_exact(walk, subject->name);
	for (const char *at = subject->others; at && *at; at += strlen(at) + 1)
		add_exact(walk, at);
}

/*
 * Returns the chain whose next entry has the smallest index, or -1 when no chain has an entry with
 * an index below @before.
 */
static int first_exact(const struct filter_walk *walk, size_t before)
{
	int first = -1;

	for (size_t i = 0; i < walk->nr_exact; i++) {
		if (walk->exact[i] && walk->exact[i] - 1 < before) {
			before = walk->exact[i] - 1;
			first = (int)i;
		}
	}
	return first;
}

/*
 * All chains, and the list of patterns, are in ascending order. So the search compares the next
 * index of each chain and the next index of the list, and takes the smallest index.
 */
struct filter_entry *filter_walk_next(struct filter_walk *walk)
{
	struct filters *filters = walk->filters;

	for (;;) {
		size_t pattern = walk->pattern < filters->nr_patterns
					 ? filters->patterns[walk->pattern]
					 : SIZE_MAX;
		int exact = first_exact(walk, pattern);
		size_t index = exact < 0 ? pattern : walk->exact[exact] - 1;

		if (index == SIZE_MAX)
			return NULL;
		if (exact < 0)
			walk->pattern++;
		else
			walk->exact[exact] = filters->next[index];

		struct filter_entry *entry = &filters->entries[index];

		if (matches_spec(&entry->spec, walk->subject)) {
			/*
			 * If has_match is set already, do not write has_match again.
			 * func_rules_init() sets has_match of each entry that matches a function of
			 * the recording. Later, several threads may read the recording in parallel.
			 * These threads find has_match set, and write nothing.
			 */
			if (!entry->has_match)
				entry->has_match = true;
			return entry;
		}
	}
}

uint32_t filters_replaced_by(uint32_t flags)
{
	uint32_t replaced = 0;

	if (flags & (TRIGGER_FILTER | TRIGGER_NOTRACE))
		replaced |= TRIGGER_FILTER | TRIGGER_NOTRACE;
	if (flags & (TRIGGER_TRACE_ON | TRIGGER_TRACE_OFF))
		replaced |= TRIGGER_TRACE_ON | TRIGGER_TRACE_OFF;
	if (flags & TRIGGER_LOCATIONS)
		replaced |= TRIGGER_LOCATIONS;
	return replaced;
}

static void merge_trigger(struct trigger *all, const struct spec *spec)
{
	const struct trigger *one = &spec->trigger;

	if (one->flags & TRIGGER_CLEAR)
		all->flags &= ~spec->cleared;
	if (!(all->flags & TRIGGER_READ))
		all->read = 0;
	all->flags &= ~filters_replaced_by(one->flags);
	all->flags |= one->flags & ~(uint32_t)TRIGGER_CLEAR;
	all->read |= one->read;
	if (one->flags & TRIGGER_DEPTH)
		all->depth = one->depth;
	if (one->flags & TRIGGER_TIME)
		all->time_ns = one->time_ns;
	if (one->flags & TRIGGER_SIZE)
		all->size = one->size;
	if (one->flags & TRIGGER_COLOR)
		all->color = one->color;
	if (one->flags & TRIGGER_IF)
		all->cond = &spec->cond;
}

bool filters_match(struct filters *filters, const struct filter_subject *subject,
		   struct trigger *trigger)
{
	struct filter_walk walk;

	*trigger = (struct trigger){ 0 };
	filter_walk_begin(&walk, filters, subject);
	for (const struct filter_entry *entry; (entry = filter_walk_next(&walk)) != NULL;)
		merge_trigger(trigger, &entry->spec);
	if (filters->clears)
		clearing_note(filters, subject, trigger);
	return trigger->flags != 0;
}

/*
 * The options from the weakest to the strongest. If two specifications exclude each other, the
 * stronger option wins. The order of different options on the command line has no effect
 * (doc/facts/language.md, "Specifications").
 */
static const enum spec_option order[] = {
	SPEC_FILTER, SPEC_TRIGGER, SPEC_ARGUMENT, SPEC_RETVAL,
	SPEC_CALLER, SPEC_HIDE,	   SPEC_LOCATION,
};

static int add_kept(struct filters *filters, const struct filters *before, const bool *gone,
		    enum spec_option option, struct uft_err *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < before->nr; i++) {
		const struct filter_entry *entry = &before->entries[i];

		if (entry->option == option && !gone[i])
			ret = filters_add(filters, option, entry->spec.pattern.match,
					  entry->spec.text, err);
	}
	return ret;
}

int filters_make(struct filters *filters, char *const specs[SPEC_OPTIONS], enum pattern_match match,
		 enum spec_option *option, struct uft_err *err)
{
	static const struct filters none;

	return filters_make_after(filters, &none, NULL, specs, match, option, err);
}

int filters_make_after(struct filters *filters, const struct filters *before, const bool *gone,
		       char *const specs[SPEC_OPTIONS], enum pattern_match match,
		       enum spec_option *option, struct uft_err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		const char *text = specs[order[i]];
		int ret = add_kept(filters, before, gone, order[i], err);

		if (ret == 0 && text)
			ret = filters_add(filters, order[i], match, text, err);
		*option = order[i];
		if (ret < 0)
			return ret;
	}
	*option = SPEC_OPTIONS;
	return filters_prepare(filters, err);
}

void specs_add_notrace(struct strbuf *list, const char *text)
{
	for (struct spec_piece one = { 0 }; spec_list_next(text, &one);) {
		strbuf_addf(list, "%s!", list->len ? ";" : "");
		strbuf_add(list, one.at, one.len);
	}
}

static int check_term(const struct cond_term *term, struct uft_err *err)
{
	struct automaton automaton;

	if (term->subject == COND_RETVAL)
		return err_set(err, -ERR_USAGE,
			       "return values cannot be known when the function begins");
	if (term->type == COND_STRING && term->op == COND_MATCH)
		return regex_plan(term->text.text, &automaton, err);
	return 0;
}

int spec_check_recording(const struct spec *spec, struct uft_err *err)
{
	int ret = 0;

	if (!(spec->trigger.flags & TRIGGER_IF))
		return 0;
	for (size_t i = 0; ret == 0 && i < spec->cond.nr; i++)
		ret = check_term(&spec->cond.terms[i], err);
	return ret;
}
