/* The effect of specs that remove actions of earlier specs (`f@clear`). */
#ifndef UTRAIL_SPEC_CLEARING_H
#define UTRAIL_SPEC_CLEARING_H

#include "utils/spec/filters.h"

/*
 * Note which actions are in force for the function @subject. @trigger combines all specs for this
 * function. If a spec matches the function, each action that both the spec and @trigger have is
 * added to filter_entry.in_force of the spec.
 */
void clearing_note(struct filters *filters, const struct filter_subject *subject,
		   const struct trigger *trigger);

/*
 * Returns the actions that the spec of @entry still has. If filters->clears is false, or if no
 * function has matched the spec, the result is all actions of the spec. Otherwise, an action in
 * FILTERS_OPT_IN is left out if later specs have cleared or replaced the action for all functions
 * that have matched the spec.
 */
uint32_t clearing_left(const struct filters *filters, const struct filter_entry *entry);

/*
 * Find the specs that have no effect. A spec has no effect in two cases:
 *
 * - A later spec with the same pattern clears all actions that the spec adds, clears or replaces.
 * - The spec only clears actions, and no earlier spec has these actions.
 *
 * Returns an array with true at the indexes of the specs without effect, or NULL when memory is
 * short. The caller frees the array.
 */
bool *clearing_find_gone(const struct filters *filters);

/*
 * Write the specs of @filters as text, except the specs that clearing_find_gone() finds. Returns 0
 * or -ENOMEM.
 *
 * @specs: all elements start as NULL. The element of an option that has specs becomes a text on the
 *         heap, which the caller frees, also after -ENOMEM
 */
int clearing_texts(const struct filters *filters, char *specs[SPEC_OPTIONS]);

#endif
