/* Lists of specs, as in the arguments of options: `a;b;c`. */
#ifndef UTRAIL_UTILS_SPEC_LIST_H
#define UTRAIL_UTILS_SPEC_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/*
 * One spec of a list such as `a;b;c`. The bytes at @at are not NUL-terminated. The struct must be
 * { 0 } before the first spec_list_next().
 */
struct spec_piece {
	const char *at;
	size_t len; /* bytes */
};

/*
 * Find the next spec of @list. Returns false after the last one. Specs are separated by ';', but
 * not within a string "like; this". Empty specs are skipped, as in `a;;b` and `a;`.
 */
bool spec_list_next(const char *list, struct spec_piece *piece);

/*
 * Returns the length of the item at @text. The item ends before the next ',' outside of strings,
 * before the NUL, or after @max bytes.
 */
size_t spec_item_length(const char *text, size_t max);

/* True when @text begins with @word. Upper case and lower case are not distinguished. */
static inline bool spec_begins_with(const char *text, const char *word)
{
	return strncasecmp(text, word, strlen(word)) == 0;
}

#endif
