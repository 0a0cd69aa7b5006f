/* Specs that remove actions of earlier ones (`f@clear`), and those that are still in force. */
#ifndef UTRAIL_SPEC_CLEARING_H
#define UTRAIL_SPEC_CLEARING_H

#include "utils/spec/filters.h"

/*
 * A function has @trigger from all its specs together: mark those that it comes from as in force.
 */
void clearing_note(struct filters *filters, const struct filter_subject *subject,
		   const struct trigger *trigger);

/*
 * The actions of @entry, without those of FILTERS_OPT_IN that every function matched so far has
 * lost again.
 */
uint32_t clearing_left(const struct filters *filters, const struct filter_entry *entry);

/*
 * The specs of @filters as text, by option. Specs that a later one with the same pattern clears are
 * left out, and so is that one, once it has no effect. NULL: none; of the heap. 0 or -ENOMEM.
 */
int clearing_texts(const struct filters *filters, char *specs[SPEC_OPTIONS]);

#endif
