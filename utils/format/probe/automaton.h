/*
 * Regular expressions for the probe, as automatons of at most 64 positions. The recorder's plan for
 * the probe (plan.h) contains these automatons.
 */
#ifndef UTRAIL_FORMAT_AUTOMATON_H
#define UTRAIL_FORMAT_AUTOMATON_H

#include <stdbool.h>
#include <stdint.h>

#define AUTOMATON_POSITIONS 64

enum automaton_flags {
	AUTOMATON_ALWAYS = 1U << 0, /* any text matches */
	AUTOMATON_EMPTY = 1U << 1,  /* a text without bytes matches */
};

/*
 * An automaton of Glushkov's construction. A position is a part of the expression that matches one
 * byte. Sets of positions are bit masks.
 *
 * @first: positions that may begin a match
 * @first_at_start: additional positions, which may begin a match only at the start of the text
 * @last: positions that may end a match
 * @last_at_end: additional positions, which may end a match only at the end of the text
 * @follow: for each position, the positions that may follow it
 * @takes: for each value of a byte, the positions that match it
 */
struct automaton {
	uint64_t first;
	uint64_t first_at_start;
	uint64_t last;
	uint64_t last_at_end;
	uint64_t flags; /* enum automaton_flags */
	uint64_t pad;
	uint64_t follow[AUTOMATON_POSITIONS];
	uint64_t takes[256];
};
_Static_assert(sizeof(struct automaton) % 16 == 0, "it lies among the plan's conditions");

/* True when the @len bytes of @text have a match. The function takes a few ns per byte. */
static inline bool automaton_matches(const struct automaton *a, const uint8_t *text, uint32_t len)
{
	uint64_t state = 0;

	if ((a->flags & AUTOMATON_ALWAYS) || (len == 0 && (a->flags & AUTOMATON_EMPTY)))
		return true;
	for (uint32_t i = 0; i < len; i++) {
		uint64_t next = a->first | (i == 0 ? a->first_at_start : 0);

		for (uint64_t left = state; left; left &= left - 1)
			next |= a->follow[__builtin_ctzll(left)];
		state = next & a->takes[text[i]];
		if (state & a->last)
			return true;
	}
	return (state & a->last_at_end) != 0;
}

#endif
