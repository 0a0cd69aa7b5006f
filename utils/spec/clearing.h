/* Specs that remove actions of earlier specs (`f@clear`), and the actions that stay. */
#ifndef UTRAIL_SPEC_CLEARING_H
#define UTRAIL_SPEC_CLEARING_H

#include "utils/spec/filters.h"

/*
 * Mark the specs that are in force for the function @subject: those whose actions are in @trigger,
 * which combines all specs for the function.
 */
void clearing_note(struct filters *filters, const struct filter_subject *subject,
		   const struct trigger *trigger);

/*
 * Returns the actions of @entry, except cleared actions of FILTERS_OPT_IN. Such an action is
 * cleared if functions have matched @entry, and later specs have cleared the action for all these
 * functions.
 */
uint32_t clearing_left(const struct filters *filters, const struct filter_entry *entry);

/*
 * Find the specs that have no effect: specs that a later spec with the same pattern clears, and
 * specs that have nothing left to clear. Returns an array with true at the indexes of these specs,
 * or NULL when memory is short. The caller frees the array.
 */
bool *clearing_find_gone(const struct filters *filters);

/*
 * Write the specs of @filters as text, without those of clearing_find_gone(). Returns 0 or -ENOMEM.
 *
 * @specs: gets one text for each option, on the heap, or NULL for an option without specs
 */
int clearing_texts(const struct filters *filters, char *specs[SPEC_OPTIONS]);

#endif
