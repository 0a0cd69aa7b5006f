/* Words of events.def and names of events.txt (doc/formats/records.md, "Payload files"). */
#ifndef UTRAIL_FSTRACE_DEFINITION_H
#define UTRAIL_FSTRACE_DEFINITION_H

#include "utils/base/containers/strbuf.h"

/*
 * The largest number of bytes of all names and definitions that a recorder writes. Imports and
 * readers accept twice as many.
 */
#define FST_DEFINITIONS_MAX (8UL << 20)

/*
 * Write a blank, and then @word URL-encoded, so that it contains no blank. "" becomes "%", and NULL
 * becomes "%00".
 */
void fst_definition_word(struct strbuf *out, const char *word);

/*
 * Write the name of event @id for events.txt and --Event. The name has no blanks and at most some
 * 200 bytes, because uftrace does not accept blanks or longer names.
 */
void fst_definition_name(struct strbuf *out, const char *id);

#endif
