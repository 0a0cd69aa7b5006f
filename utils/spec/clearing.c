/* Specs that remove actions of earlier specs (see clearing.h). */
#include "utils/spec/clearing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void clearing_note(struct filters *filters, const struct filter_subject *subject,
		   const struct trigger *trigger)
{
	struct filter_walk walk;
	struct filter_entry *entry;

	filter_walk_begin(&walk, filters, subject);
	while ((entry = filter_walk_next(&walk)) != NULL) {
		uint32_t flags = entry->spec.trigger.flags & trigger->flags;

		/*
		 * Store only new bits. func_rules_init() sets the bits for all functions of a
		 * recording. Threads that later read this recording in parallel find no new bits,
		 * and store nothing. But two threads of `show` can run func_rules_init() with the
		 * same filters at the same time, so the stores are atomic.
		 */
		if (flags & ~__atomic_load_n(&entry->in_force, __ATOMIC_RELAXED))
			__atomic_fetch_or(&entry->in_force, flags, __ATOMIC_RELAXED);
	}
}

uint32_t clearing_left(const struct filters *filters, const struct filter_entry *entry)
{
	uint32_t flags = entry->spec.trigger.flags;

	if (!filters->clears || !entry->has_match)
		return flags;
	return flags & (~FILTERS_OPT_IN | __atomic_load_n(&entry->in_force, __ATOMIC_RELAXED));
}

static uint32_t actions_of(const struct spec *spec)
{
	return spec->trigger.flags & ~(uint32_t)TRIGGER_CLEAR;
}

/*
 * Returns the actions of spec @index, and the actions of earlier specs that spec @index clears or
 * replaces. Earlier specs that are gone do not count.
 */
static uint32_t touched_by(const struct filters *filters, const bool *gone, size_t index)
{
	const struct spec *spec = &filters->entries[index].spec;
	uint32_t others = spec->cleared | filters_replaced_by(spec->trigger.flags);
	uint32_t touched = actions_of(spec);

	for (size_t i = 0; i < index; i++) {
		if (!gone[i])
			touched |= others & actions_of(&filters->entries[i].spec);
	}
	return touched;
}

static bool has_same_pattern(const struct spec *a, const struct spec *b)
{
	return a->pattern.match == b->pattern.match && a->module_kind == b->module_kind &&
	       strcmp(a->pattern.text, b->pattern.text) == 0 &&
	       (a->module_kind != MODULE_NAMED || strcmp(a->module, b->module) == 0);
}

/*
 * True when spec @index can be left out, because a later spec with the same pattern clears every
 * action that touched_by() returns. These actions include the actions of earlier specs that spec
 * @index clears or replaces. Without spec @index, an action of an earlier spec would stay in force
 * if the later spec did not clear this action.
 */
static bool is_taken_away(const struct filters *filters, const bool *gone, size_t index)
{
	const struct spec *spec = &filters->entries[index].spec;
	uint32_t touched = touched_by(filters, gone, index);

	for (size_t i = index + 1; i < filters->nr; i++) {
		const struct spec *later = &filters->entries[i].spec;

		if ((later->trigger.flags & TRIGGER_CLEAR) && touched &&
		    !(touched & ~later->cleared) && has_same_pattern(spec, later))
			return true;
	}
	return false;
}

/*
 * True when spec @index has no actions and clears only actions that no earlier spec has. Earlier
 * specs that are gone do not count.
 */
static bool is_idle(const struct filters *filters, const bool *gone, size_t index)
{
	const struct spec *spec = &filters->entries[index].spec;

	if (spec->trigger.flags != TRIGGER_CLEAR)
		return false;
	for (size_t i = 0; i < index; i++) {
		if (!gone[i] && (actions_of(&filters->entries[i].spec) & spec->cleared))
			return false;
	}
	return true;
}

static int add_text(char **list, const char *text)
{
	char *longer = malloc((*list ? strlen(*list) + 1 : 0) + strlen(text) + 1);

	if (!longer)
		return -ENOMEM;
	*longer = '\0';
	if (*list)
		strcat(strcpy(longer, *list), ";");
	strcat(longer, text);
	free(*list);
	*list = longer;
	return 0;
}

bool *clearing_find_gone(const struct filters *filters)
{
	bool *gone = calloc(filters->nr + 1, sizeof(*gone));

	for (size_t i = 0; gone && i < filters->nr; i++)
		gone[i] = is_taken_away(filters, gone, i);
	for (size_t i = 0; gone && i < filters->nr; i++)
		gone[i] |= is_idle(filters, gone, i);
	return gone;
}

int clearing_texts(const struct filters *filters, char *specs[SPEC_OPTIONS])
{
	bool *gone cleanup_free = clearing_find_gone(filters);
	int ret = gone ? 0 : -ENOMEM;

	for (size_t i = 0; ret == 0 && i < filters->nr; i++) {
		const struct filter_entry *entry = &filters->entries[i];

		if (!gone[i])
			ret = add_text(&specs[entry->option], entry->spec.text);
	}
	return ret;
}
