/* Specs that remove actions of earlier ones (`f@clear`), and those that are still in force. */
#ifndef UTRAIL_SPEC_CLEARING_H
#define UTRAIL_SPEC_CLEARING_H

#include "utils/spec/filters.h"

/*
 * @trigger is the result of all specs of a function. Mark as in force the specs that have given a
 * part of it.
 */
void clearing_note(struct filters *filters, const struct filter_subject *subject,
		   const struct trigger *trigger);

/*
 * Returns the actions of @entry, without those of FILTERS_OPT_IN that later specs have cleared for
 * every function matched so far.
 */
uint32_t clearing_left(const struct filters *filters, const struct filter_entry *entry);

/*
 * Write the specs of @filters as text, by option; NULL: the option has no specs; on the heap. Specs
 * that a later spec with the same pattern clears are left out, and so are specs that have nothing
 * left to clear. 0 or -ENOMEM.
 */
int clearing_texts(const struct filters *filters, char *specs[SPEC_OPTIONS]);

#endif
