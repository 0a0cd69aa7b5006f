/* The compiled form of a regular expression; private to regex.c and regex_parse.c. */
#ifndef UTRAIL_SPEC_REGEX_PROG_H
#define UTRAIL_SPEC_REGEX_PROG_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/base/err.h"

enum regex_op {
	REGEX_BYTE, /* takes the byte @value */
	REGEX_SET,  /* takes one byte, which must be in sets[@to] */
	REGEX_ANY,
	REGEX_LOOK,  /* goes on only if the condition @value (regex_look) is true; takes no byte */
	REGEX_JUMP,  /* goes on at another node: adds @to to the node's index */
	REGEX_SPLIT, /* goes on at two nodes: the next node, and the target (regex_node.to) */
	REGEX_MATCH,
};

/* The conditions of REGEX_LOOK on the bytes before and after the current place in the text. */
enum regex_look {
	REGEX_LOOK_START,
	REGEX_LOOK_END,
	REGEX_LOOK_EDGE,     /* \b: a word begins or ends here */
	REGEX_LOOK_NO_EDGE,  /* \B: no word begins or ends here */
	REGEX_LOOK_WORD,     /* \<: a word begins here */
	REGEX_LOOK_WORD_END, /* \>: a word ends here */
};

/*
 * @to: for jumps and splits, the distance from this node to the target; for sets, an index in
 *      regex_prog.sets. All nodes except jumps and splits go on only at the next node
 */
struct regex_node {
	uint8_t op;
	uint8_t value;
	int32_t to;
};

struct regex_set {
	uint64_t bits[4];
};

static inline bool regex_set_has(const struct regex_set *set, uint8_t byte)
{
	return set->bits[byte / 64] >> byte % 64 & 1;
}

/* Starts as { 0 }; both arrays are on the heap. */
struct regex_prog {
	struct regex_node *nodes;
	uint32_t nr;
	struct regex_set *sets;
	uint32_t nr_sets;
};

/* Compile an expression. Errors are those of regex_create(). @prog is empty after a failure. */
int regex_parse(const char *text, struct regex_prog *prog, struct uft_err *err);
void regex_prog_deinit(struct regex_prog *prog);

bool regex_is_word(uint8_t byte);

#endif
