/* A list of specs in the format of options, `a;b;c`: each spec in turn. */
#ifndef UTRAIL_UTILS_SPEC_LIST_H
#define UTRAIL_UTILS_SPEC_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* A spec of a list: borrowed from its text, not terminated. All zero before the first. */
struct spec_piece {
	const char *at;
	size_t len; /* bytes */
};

/*
 * Find the next spec of @list; false after the last. A ';' in a string, "like; this", does not
 * separate. Empty specs, as in `a;;b` and `a;`, are skipped.
 */
bool spec_list_next(const char *list, struct spec_piece *piece);

#endif
