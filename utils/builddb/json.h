/* Strings of JSON that other programs take at their word. */
#ifndef UTRAIL_BUILDDB_JSON_H
#define UTRAIL_BUILDDB_JSON_H

#include <stdbool.h>

#include "utils/base/containers/strbuf.h"

/*
 * Append @text in quotes. False when it is not UTF-8: JSON has no way to write that, and there is
 * U+FFFD in its place.
 */
bool json_string(struct strbuf *out, const char *text);

#endif
