/* "Did you mean": the known words that are most similar to a typed word. */
#ifndef UTRAIL_BASE_NEAREST_H
#define UTRAIL_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"

#define NEAREST_MAX 3

/*
 * The caller offers the known words one by one. The struct points to @typed and to the offered
 * words. So the caller must keep @typed and these words as long as the struct is in use.
 *
 * @len: the number of characters of @typed that are compared
 * @places: for each character a bit mask of its positions in @typed
 */
struct nearest {
	const char *typed;
	size_t len;
	uint64_t places[256];
	size_t nr;
	struct nearest_word {
		const char *word;
		unsigned distance;
	} best[NEAREST_MAX];
};

void nearest_init(struct nearest *n, const char *typed);
void nearest_offer(struct nearest *n, const char *word);

/*
 * Append "a, b, c", the nearest word first, each with @prefix before it. Appends nothing when no
 * word was offered.
 */
void nearest_text(const struct nearest *n, const char *prefix, struct strbuf *out);

/* True when the nearest word is similar enough to be of help. */
bool nearest_is_close(const struct nearest *n);

#endif
