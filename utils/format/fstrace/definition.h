/*
 * Writes the words of events.def and the event names of events.txt (doc/formats/records.md,
 * "Payload files").
 */
#ifndef UTRAIL_FSTRACE_DEFINITION_H
#define UTRAIL_FSTRACE_DEFINITION_H

#include "utils/base/containers/strbuf.h"

/*
 * The maximum number of bytes that a recorder writes for the names and definitions of all declared
 * events together. Imports and readers accept twice this number.
 */
#define FST_DEFINITIONS_MAX (8UL << 20)

/*
 * Append a blank, and then @word in URL encoding. The encoded word contains no blank. An empty
 * @word becomes "%", and NULL becomes "%00".
 */
void fst_definition_word(struct strbuf *out, const char *word);

/*
 * Write the name of event @id for events.txt and --Event. The name has no blanks and at most some
 * 200 bytes, because uftrace does not accept blanks or longer names.
 */
void fst_definition_name(struct strbuf *out, const char *id);

#endif
