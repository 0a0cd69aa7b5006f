/* "Did you mean": the known words that look most like the one that was typed (see nearest.h). */
#include "utils/base/nearest.h"

#include <string.h>

#include "utils/base/compiler.h"

#define WORD_MAX 63

/* How many letters must be changed, added, dropped or swapped to make @b from @a. */
static unsigned edit_distance(const char *a, const char *b)
{
	size_t la = MIN(strlen(a), (size_t)WORD_MAX);
	size_t lb = MIN(strlen(b), (size_t)WORD_MAX);
	unsigned rows[3][WORD_MAX + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= lb; j++)
		above[j] = j;
	for (size_t i = 1; i <= la; i++) {
		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned change = above[j - 1] + (a[i - 1] != b[j - 1]);

			row[j] = MIN(change, MIN(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = MIN(row[j], before[j - 2] + 1);
		}

		unsigned *spare = before;

		before = above;
		above = row;
		row = spare;
	}
	return above[lb];
}

void nearest_init(struct nearest *n, const char *typed)
{
	*n = (struct nearest){ .typed = typed };
}

void nearest_offer(struct nearest *n, const char *word)
{
	/* A word that was cut short, or that contains what was typed, is nearly right. */
	unsigned distance = edit_distance(n->typed, word);

	if (*n->typed && strstr(word, n->typed))
		distance = MIN(distance, 1U);

	for (size_t i = 0; i < n->nr; i++) {
		if (strcmp(n->best[i].word, word) == 0)
			return;
	}

	size_t at = n->nr;

	while (at > 0 && n->best[at - 1].distance > distance)
		at--;
	if (at == NEAREST_MAX)
		return;
	if (n->nr < NEAREST_MAX)
		n->nr++;
	memmove(&n->best[at + 1], &n->best[at], (n->nr - 1 - at) * sizeof(n->best[0]));
	n->best[at] = (struct nearest_word){ word, distance };
}

void nearest_text(const struct nearest *n, const char *prefix, struct strbuf *out)
{
	for (size_t i = 0; i < n->nr; i++) {
		/* What is farther off than the best guess only distracts, unless all are far off. */
		if (n->best[i].distance > n->best[0].distance + (n->best[0].distance > 1))
			break;
		strbuf_addf(out, "%s%s%s", i ? ", " : "", prefix, n->best[i].word);
	}
}

bool nearest_is_close(const struct nearest *n)
{
	return n->nr && n->best[0].distance <= 1 + strlen(n->typed) / 3;
}
