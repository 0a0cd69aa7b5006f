/* "Did you mean": the known words that are most similar to the typed one (see nearest.h). */
#include "utils/base/containers/nearest.h"

#include <string.h>

#include "utils/base/compiler.h"

#define WORD_MAX 63

void nearest_init(struct nearest *n, const char *typed)
{
	*n = (struct nearest){ .typed = typed };
	while (n->len < WORD_MAX && typed[n->len]) {
		n->places[(unsigned char)typed[n->len]] |= 1ULL << n->len;
		n->len++;
	}
}

/*
 * Returns the edit distance: the number of letters to change, add, drop, or swap with their
 * neighbour. There may be many words, so this function must be fast. The function computes a table
 * of the distances between each prefix of n->typed (a row) and each prefix of @word (a column). Two
 * bit vectors represent one column of the table. The bits of `more` mark the rows whose distance is
 * one more than the distance in the row above. The bits of `less` mark the rows whose distance is
 * one less than the distance in the row above.
 * Hyyrö, A bit-vector algorithm for computing Levenshtein and Damerau edit distances, 2003.
 */
static unsigned edit_distance(const struct nearest *n, const char *word)
{
	uint64_t last = n->len ? 1ULL << (n->len - 1) : 0;
	uint64_t more = UINT64_MAX; /* bits where the distance is one more than in the row above */
	uint64_t less = 0;
	/* rows whose distance equals the distance one row above and one column to the left */
	uint64_t same = 0;
	uint64_t before = 0;
	unsigned distance = n->len;

	if (!last)
		return strnlen(word, WORD_MAX);
	for (size_t i = 0; i < WORD_MAX && word[i]; i++) {
		uint64_t equal = n->places[(unsigned char)word[i]];
		uint64_t swapped = ((~same & equal) << 1) & before;

		same = (((equal & more) + more) ^ more) | equal | less | swapped;

		uint64_t right_more = less | ~(same | more);
		uint64_t right_less = same & more;

		distance += (right_more & last) != 0;
		distance -= (right_less & last) != 0;
		right_more = right_more << 1 | 1;
		right_less <<= 1;
		more = right_less | ~(same | right_more);
		less = right_more & same;
		before = equal;
	}
	return distance;
}

void nearest_offer(struct nearest *n, const char *word)
{
	unsigned distance = edit_distance(n, word);

	/* A word that contains the typed text is close: the user may have cut the word short. */
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
		/*
		 * Leave out words whose distance exceeds a limit. The limit is the distance of the
		 * best word. If the distance of the best word is above 1, the limit is one higher.
		 */
		if (n->best[i].distance > n->best[0].distance + (n->best[0].distance > 1))
			break;
		strbuf_addf(out, "%s%s%s", i ? ", " : "", prefix, n->best[i].word);
	}
}

bool nearest_is_close(const struct nearest *n)
{
	return n->nr && n->best[0].distance <= 1 + strlen(n->typed) / 3;
}
